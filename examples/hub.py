"""A data set to the Hub and back.

With ``HF_ENDPOINT`` and ``HF_TOKEN`` set, this talks to that Hub. Without, it starts the one of the tests, on this
machine and in memory.
"""

import os
import sys
from contextlib import ExitStack
from pathlib import Path

with ExitStack() as stack:
    if "HF_ENDPOINT" not in os.environ:
        sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
        import hub_server

        server = stack.enter_context(hub_server.Hub())
        os.environ |= {"HF_ENDPOINT": server.url, "HF_TOKEN": hub_server.TOKEN, "HF_HOME": "hub-cache"}

    import seldio
    from seldio.hub import pull, push

    labels = Path("starss23/metadata_dev/dev-train-sony")
    labels.mkdir(parents=True, exist_ok=True)
    (labels / "fold3_room21_mix001.csv").write_text("0,1,0,-50,30,120\n1,1,0,-49,30,120\n")

    card = {"license": "mit", "title": "Two frames of a man speaking"}
    plan = push("starss23", "anna/two-frames", dry_run=True, **card).plan
    print("would send", *(step.entry.name for step in plan.steps))

    done = push("starss23", "anna/two-frames", **card)
    print("sent in", len(done.commits), "commit; again:", len(push("starss23", "anna/two-frames").commits))

    print(seldio.validate("hf://datasets/anna/two-frames").summary())
    got = pull("anna/two-frames", "copy")
    same = (labels / "fold3_room21_mix001.csv").read_bytes() == next(Path("copy").rglob("*.csv")).read_bytes()
    print(len(got.fetched), "files came back; the same bytes:", same)
