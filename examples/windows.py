"""Data sets in Python: open one, choose a part, go through windows with targets, stop and go on.

Run it anywhere: it makes its own small data set in a temporary folder.
"""

import json
import tempfile
from pathlib import Path

import seldio
from seldio.synth.tree import write_tree

with tempfile.TemporaryDirectory() as folder:
    root = Path(folder) / "starss23"
    write_tree(root, seed=7, seconds=8.0, media=("audio",))

    for group in seldio.catalogue(root).groups:
        print(f"{len(group.files)} files: {group.kind}, {group.format or 'no format'} ({group.certainty})")

    dataset = seldio.open(root)
    print(dataset)
    train = dataset.select(split="dev-train")
    for row in train.events.table()["class_id"].value_counts().to_pylist():
        print(f"  class {row['values']}: {row['counts'] / 10:g} s")

    windows = train.windows(seconds=2, hop=1, target="multi-accdoa", distance=True, audio="foa")
    first = windows[0]
    print(windows)
    print(f"sound {first['audio'].shape}, target {first['target'].shape}: frames, tracks, activity and place, classes")

    stream = windows.stream(seed=1).batch(4)
    batches = iter(stream)
    print("taken:", next(batches)["clip"])
    state = json.dumps(stream.state_dict())
    print("state:", state)

    later = windows.stream(seed=1).batch(4)
    later.load_state_dict(json.loads(state))
    rest = list(later)
    print(f"{sum(len(batch['clip']) for batch in rest)} of {len(windows)} windows were left")
