"""Pictures in Python: the events of a clip, a system's answer beside them, a set in numbers, a film with labels.

Run it anywhere: it makes its own small data set in a temporary folder. It needs matplotlib (``seldio[plot]``).
"""

import importlib.util
import tempfile
from pathlib import Path

from seldio.synth.tree import write_demo
from seldio.viewer.plot import plot
from seldio.viewer.tracks import read_labels, tracks

with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)
    write_demo(root)
    labels = read_labels(root / "starss23" / "metadata_dev")
    clip = labels.clips[0]
    events = tracks(labels, clip)
    print(f"{clip} holds {len(events)} events, the first one from {events[0].onset:g} to {events[0].offset:g} s")

    if importlib.util.find_spec("matplotlib") is None:
        print("matplotlib is not installed: pip install 'seldio[plot]'")
    else:
        from seldio.viewer import plots
        from seldio.viewer.canvas import save
        from seldio.viewer.film import film

        # a picture of your own, from the events themselves …
        save(plots.directions(events, events[:3], clip), root / "directions.svg")
        # … or from a path, as `seldio plot` does
        for kind in ("timeline", "map"):
            made = plot(root / "starss23" / "metadata_dev", root / f"{kind}.png", kind=kind, clip=clip)
            print(f"{made.kind}: {Path(made.path).stat().st_size:,} bytes")
        plot(root / "starss23" / "metadata_dev", root / "statistics.pdf")
        short = [event for event in events if event.offset <= 15]
        done = film(root / "clip.mp4", short or events[:1], width=320)
        print(f"a film of {done.pictures} pictures, {done.rate} a second")
