"""Synthetic scenes in Python: a source that walks by, heard from where its labels say it is.

Run it anywhere: it makes its own small data set in a temporary folder.
"""

import tempfile
from pathlib import Path

import numpy as np

from seldio import geometry
from seldio.media.recording import Recording
from seldio.synth import Track
from seldio.synth.from_labels import write_scenes
from seldio.synth.recording import RecordingOptions, Room
from seldio.synth.tree import write_clip

# somebody pushes a vacuum cleaner from the right to the left, a metre in front of the microphone
left = np.linspace(-1.5, 1.5, 40)
walk = Track(class_id=5, source=1, first=5, positions=np.stack((np.full(40, 1.0), left, np.zeros(40)), axis=1))

with tempfile.TemporaryDirectory() as folder:
    root = Path(folder, "starss23")
    options = RecordingOptions(Room(reverberation=0.2), snr=20.0)
    table = write_clip(root, "fold1_room1_mix001", "dev-train-synth", [walk], 5.0, seed=7, options=options)
    for path in sorted(root.rglob("*.*")):
        print(f"{path.stat().st_size:>9,} bytes  {path.relative_to(root)}")

    # the same labels, as if nobody had recorded them: a new recording that follows them
    (scene,) = write_scenes(root / "metadata_dev", Path(folder, "again"), seed=8, options=options, formats=["mic"])
    print(f"rendered from its labels: {scene.clip}, {scene.seconds:g} s, {scene.events} event")

    # where the sound of each label frame comes from: the intensity vector, W times X, Y and Z
    with Recording(root / "foa_dev/dev-train-synth/fold1_room1_mix001.wav") as recording:
        foa = recording.read()
    hop = 2400
    for frame, azimuth in zip(table["frame"].to_pylist()[::6], table["azimuth"].to_pylist()[::6], strict=True):
        w, y, z, x = foa[:, frame * hop : (frame + 1) * hop]
        heard, _ = geometry.to_polar(np.mean(w * x), np.mean(w * y), np.mean(w * z))
        print(f"label frame {frame:>2}: azimuth {azimuth:+4.0f} in the labels, {float(heard):+6.1f} by ear")
