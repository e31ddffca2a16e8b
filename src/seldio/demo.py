"""The whole path on data made on the spot: check, explain, repair, convert."""

from __future__ import annotations

from pathlib import Path

from seldio import synth
from seldio.files import write_bytes
from seldio.formats import get
from seldio.schema.events import origin_of


def make(folder: Path, seed: int = 7) -> None:
    """Write a small STARSS23-shaped set of labels, and a submission with the usual mistakes.

    Args:
        folder: gets ``starss23/metadata_dev/…`` and ``submission/mix001.csv`` to ``mix004.csv``.
        seed: the same seed gives the same bytes.
    """
    for number, (clip, split) in enumerate(synth.CLIPS, 1):
        table = synth.labels(clip, synth.scene(seed + number))
        file = origin_of(table).files[0]
        labels = get("starss23").write(table, file)
        _write(folder / "starss23" / "metadata_dev" / split / file.name, labels)
        submitted = get("dcase2023-submission").write(table, file).decode()
        _write(folder / "submission" / f"mix{number:03d}.csv", _spoiled(submitted, number).encode())


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, data)


def _spoiled(text: str, number: int) -> str:
    """What happens to submissions: a header and BOM, azimuths from 0 to 360, decimal frames, a torn row."""
    lines = text.splitlines()
    cells = [line.split(",") for line in lines]
    if number == 1:
        return "\ufeffframe,class,azimuth,elevation\r\n" + "\r\n".join(lines) + "\r\n"
    if number == 2:
        return "".join(f"{f},{c},{int(az) % 360},{el}\n" for f, c, az, el in cells)
    if number == 3:
        moved = [*cells[5:], *cells[:5]]
        return "".join(f"{f}.0,{c}, {az}, {el}\n" for f, c, az, el in moved)
    return "\n".join([*lines[:20], lines[20].replace(",", ",1", 1), *lines[21:], "599,7,-1"])
