"""A data set as Parquet for the Hub, read by pyarrow alone, and back to the files that it was made from.

Run it anywhere: it makes its own small data set in a temporary folder.
"""

import io
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import soundfile

import seldio
from seldio.data import export
from seldio.synth.tree import write_tree

with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)
    write_tree(root / "starss23", seed=7, seconds=2.0)

    manifest = export(root / "starss23", root / "hub", "parquet")
    for file in manifest.files:
        print(f"{file.bytes:>9,} bytes  {file.rows:>3} rows  {file.name}")

    # a row is a clip: the bytes of the WAV file with its four channels, and the labels as numbers
    for row in pq.read_table(root / "hub/data/train-00000-of-00001.parquet").to_pylist():
        audio, rate = soundfile.read(io.BytesIO(row["audio"]["bytes"]))
        print(f"{row['clip']}: room {row['room']}, {audio.shape[1]} channels at {rate} Hz, {len(row['events'])} labels")

    # or as a folder that `datasets` opens as AudioFolder, or as tar shards: export(..., "audiofolder" or "webdataset")
    back = [Path(name) for name in seldio.convert(root / "hub", root / "back", "files").written]
    same = all((root / "starss23" / file.relative_to(root / "back")).read_bytes() == file.read_bytes() for file in back)
    print(f"{len(back)} files came back, {'all' if same else 'not all'} byte for byte")
