"""How we score energy maps: a coarse overlap is enough."""

from __future__ import annotations

from seldio.scores.imaging.profiles import ImagingProfile

IMAGING_PROFILES = (
    ImagingProfile(
        name="imaging-lab2027",
        title="energy maps with one threshold of 0.1",
        program="none: it is our own",
        changed="one threshold",
        thresholds=(0.1,),
    ),
)
