"""The whole path on data made on the spot: check, explain, repair, convert."""

from __future__ import annotations

from pathlib import Path

from seldio.files import write_bytes
from seldio.formats import get
from seldio.schema.events import origin_of
from seldio.synth.tree import write_tree

#: The clips that faults are planted into: enough events of them sound alone.
PLANTED = ("dev-test-tau/fold4_room2_mix001", "dev-test-sony/fold4_room23_mix001")


def make(folder: Path, seed: int = 7, *, media: bool = False) -> None:
    """Write a small STARSS23-shaped data set, and a submission with the usual mistakes.

    Args:
        folder: gets ``starss23/metadata_dev/…`` and ``submission/mix001.csv`` to ``mix004.csv``.
        seed: the same seed gives the same bytes.
        media: also record and film the scenes, into ``starss23/foa_dev``, ``mic_dev`` and ``video_dev``, and plant
            a fault of each kind between labels and sound into copies, below ``planted``.
    """
    tables = write_tree(folder / "starss23", seed, media=("audio", "video") if media else ())
    for number, table in enumerate(tables, 1):
        submitted = get("dcase2023-submission").write(table, origin_of(table).files[0]).decode()
        _write(folder / "submission" / f"mix{number:03d}.csv", _spoiled(submitted, number).encode())
    if media:
        from seldio.planted import plant

        plant(folder / "starss23", folder / "planted", *PLANTED)


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
