"""Labels held against the sound of their recording, or the words that this was not done."""

from __future__ import annotations

import dataclasses
from typing import Any

from seldio.files import Entry
from seldio.findings import Finding
from seldio.formats import Reading
from seldio.media.arrays import Format
from seldio.pictures.page.events import findings_of
from seldio.pictures.page.files import Files
from seldio.text import printable


@dataclasses.dataclass(frozen=True)
class Held:
    """What the sound says about the labels.

    Args:
        told: what was done, in a sentence.
        findings: of the deep validation, as :func:`seldio.pictures.page.events.findings_of` gives them.
    """

    told: str
    findings: list[dict[str, Any]] = dataclasses.field(default_factory=list)


def held(reading: Reading, files: Files, deep: bool) -> Held:
    """The labels of a clip held against its recording, if *deep*; else the command that does it."""
    if files.audio is None:
        return Held("No recording was found that the labels could be held against.")
    if not deep:
        return Held("The labels were not held against the sound: seldio view --deep does that for a clip, "
                    "seldio validate --deep for a data set.")  # fmt: skip
    from seldio.rules.deep import check_clip

    found: list[Finding] = []
    array: Format | None = files.array if files.array in ("foa", "mic") else None
    recordings: list[tuple[Entry, Format | None]] = [(files.audio, array)]
    recordings += [(files.sibling, "mic")] if files.sibling is not None else []
    names = " and ".join(dict.fromkeys(printable(entry.name.rpartition("/")[2]) for entry, _ in recordings))
    if not check_clip(reading, recordings, found.append):
        return Held(
            f"The labels could not be held against {names}: that takes directions, and FOA or MIC to listen to."
        )
    both = " (FOA and MIC)" if files.sibling is not None else ""
    told = f"The labels were held against the sound of {names}{both}"
    if found:
        return Held(f"{told}.", findings_of(found, reading))
    return Held(f"{told}: nothing speaks against them, which is no proof that they are right.")
