"""Labels in Python: read a data set, look at its events, check a submission, convert.

Run it anywhere: it makes its own small data set in a temporary folder.
"""

import tempfile
from pathlib import Path

import seldio
from seldio.synth.tree import write_demo
from seldio.vocabularies import vocabulary

with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)
    write_demo(root)

    table = seldio.read(root / "starss23")
    print(f"{table.num_rows:,} event frames with {', '.join(table.column_names)}")

    events = seldio.spans(table)
    names = vocabulary("starss")
    first = events.table.slice(0, 1).to_pylist()[0]
    path = table.take(events.trajectory(0))["azimuth"].to_pylist()
    print(f"{names.label(first['class_id'])} from {first['onset']} s to {first['offset']} s,")
    print(f"azimuth {path[0]:.0f}° at first and {path[-1]:.0f}° at last (+90 is left)")

    report = seldio.validate(root / "submission")
    print(f"the submission has {report.summary()['errors']} errors, such as {report.findings[0].message}")

    try:
        seldio.convert(root / "starss23/metadata_dev", root / "out", "dcase2023-submission")
    except seldio.LossError as error:
        print(f"lost would be: {', '.join(error.losses)}")
    done = seldio.convert(
        root / "starss23/metadata_dev",
        root / "out",
        "dcase2023-submission",
        allow_loss=["source", "distance"],
    )
    print(f"{len(done.written)} files written for {done.clips} clips")

    # a label track of Audacity, with where the sounds are in the text of its labels
    track = root / "kitchen.txt"
    track.write_text("0.5\t1.7\tKnock az=40 el=0 dist=1.5\n2.0\t3.9\tFootsteps az=-80 el=-25 dist=0.8\n")
    seldio.convert(track, root / "kitchen.csv", "starss23", fill={"source": "count"})
    print((root / "kitchen.csv").read_text().splitlines()[0], "is its first event frame")
