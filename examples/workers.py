"""Long work in two processes, and a second time from what was finished: the same findings.

Run it anywhere: it makes its own labels in a temporary folder.
"""

import tempfile
from pathlib import Path

import seldio
from seldio.synth.tree import write_tree


def main() -> None:
    """Check a data set in one process and in two."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_tree(root / "starss23", seed=7, seconds=20.0, media=["audio"])

        alone = seldio.validate(root / "starss23", deep=True)
        with seldio.running(workers=2, resume=root / "finished"):
            together = seldio.validate(root / "starss23", deep=True)
        print(f"{len(alone.findings)} findings in one process, {len(together.findings)} in two, the same: "
              f"{list(alone.findings) == list(together.findings)}")  # fmt: skip

        # a second time nothing is listened to: what has been finished is in the folder
        with seldio.running(resume=root / "finished"):
            again = seldio.validate(root / "starss23", deep=True)
        print(f"{len(list((root / 'finished').glob('*.part')))} finished parts were kept, and say the same: "
              f"{list(again.findings) == list(alone.findings)}")  # fmt: skip


# other processes read this file again, so what it does stands behind this line
if __name__ == "__main__":
    main()
