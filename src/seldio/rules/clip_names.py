"""SUB1: the names of label files taken together: text that all have in common, and clips of another split."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection as Names
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from seldio.findings import Finding
from seldio.formats.datasets import TOPS
from seldio.rules.collection import Collection, Found
from seldio.rules.registry import ERROR, WARNING, rule
from seldio.text import listed, plural, printable

#: How datasets name their clips.
CLIP_NAME = re.compile(
    r"mix\d{3}|fold\d+_room\d+_mix\d{3}(_ov\d|_deg-?\d+_start\d+)?|split\d_ir\d_ov\d_\d+", re.IGNORECASE
)
#: Suffixes that may follow the name of a recording.
RECORDING = re.compile(r"(?:\.(?:wav|flac|ogg|mp3|mp4|aac|csv))+$", re.IGNORECASE)
#: So many clips show what all have in common, and so many names are looked at to see what that may be.
_FEWEST, _SAMPLE = 3, 20
#: The share of all files that have it.
_MOST = 0.8


class Affix(NamedTuple):
    """What stands around the names of clips in those of files, or with *theirs* around those of the reference."""

    before: str
    after: str
    theirs: bool
    meant: Mapping[str, str]  # clips as the files name them, with the clips that are meant

    def __str__(self) -> str:
        parts = [f"{printable(part)!r} {where} it" for part, where in ((self.before, "before"), (self.after, "after"))
                 if part]  # fmt: skip
        return " and ".join(parts)


def misspelt(collection: Collection) -> dict[str, str]:
    """Clips that the reference does not have, with the clip of the reference that must be meant."""
    expected = collection.expected
    mine, theirs = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for clip in set(collection.clips) - set(expected):
        mine[_spelling(clip)].append(clip)
    for clip in set(expected) - set(collection.clips):
        theirs[_spelling(clip)].append(clip)
    return {
        clips[0]: theirs[name][0] for name, clips in mine.items() if len(clips) == 1 and len(theirs.get(name, ())) == 1
    }


def _spelling(clip: str) -> str:
    """A clip's name without differences in spelling."""
    name = RECORDING.sub("", _base(clip)).casefold()
    return re.sub(r"[0-9]{1,9}", lambda digits: str(int(digits[0])), name)


def _base(clip: str) -> str:
    return clip.rpartition("/")[2]


def affix(collection: Collection) -> Affix | None:
    """What the names of most files have beyond the clips of the reference, or beyond what datasets call theirs."""
    clips = collection.clips
    if collection.reference is None:
        if any(place.lower() in TOPS for path in (collection.path, *clips.values()) for place in path.split("/")):
            return None  # a tree, whose names are compared with those of its dataset
        matches = {clip: match for clip in clips if (match := CLIP_NAME.search(_base(clip))) is not None}
        around = Counter((match.string[: match.start()], match.string[match.end() :]) for match in matches.values())
        (common, count), *_ = around.most_common(1) or [(("", ""), 0)]
        if common == ("", "") or not _is_common(count, len(clips)) or RECORDING.fullmatch("".join(common)):
            return None
        return Affix(*common, False, {clip: match[0] for clip, match in matches.items()})
    mine = {_base(clip): clip for clip in clips if clip not in collection.expected}
    theirs = {_base(clip): clip for clip in collection.expected if clip not in clips}
    for short, long, turned in ((theirs, mine, False), (mine, theirs, True)):
        before, after = _common(short, long)
        pairs = {name: f"{before}{name}{after}" for name in short}
        fits = {short[name]: long[whole] for name, whole in pairs.items() if whole in long}
        if before + after and not RECORDING.fullmatch(before + after) and _is_common(len(fits), len(mine)):
            return Affix(before, after, turned, fits if turned else {whole: name for name, whole in fits.items()})
    return None


def _is_common(count: int, total: int) -> bool:
    return count >= _FEWEST and count >= _MOST * total


def _common(short: Names[str], long: Names[str]) -> tuple[str, str]:
    """What most often stands around *short* names in a sample of *long* ones."""
    around = Counter[tuple[str, str]]()
    for name in sorted(long)[:_SAMPLE]:
        inside = [other for other in short if other in name]
        if inside:
            before, _, after = name.partition(max(inside, key=len))
            around[before, after] += 1
    return max(around, key=lambda parts: around[parts], default=("", ""))


# --- splits ----------------------------------------------------------------------------------------------


class OtherSplit(NamedTuple):
    """Files of clips of a split, or of rooms, of which the reference has none."""

    clips: Names[str]  # of these files
    mine: str  # what they are of
    theirs: str  # what the reference has


_DEVELOPMENT = re.compile(r"fold(\d{1,3})_room(\d{1,4})_mix\d", re.IGNORECASE)
_EVALUATION = re.compile(r"(?<![a-z])mix\d{3}", re.IGNORECASE)


def split_of(clip: str) -> str | None:
    """The split that a clip is of, by its name; None if that tells nothing."""
    name = _base(clip)
    if match := _DEVELOPMENT.search(name):
        return f"fold {int(match[1])} of the development set"
    return "the evaluation set" if _EVALUATION.search(name) else None


def other_split(collection: Collection) -> OtherSplit | None:
    """The files of another split than the clips of the reference, where they are not just a few."""
    clips, expected = collection.clips, collection.expected
    wanted = {split_of(clip) for clip in expected}
    if not expected or None in wanted:
        return None
    mine = {clip: split for clip in clips if (split := split_of(clip)) is not None and split not in wanted}
    if len(mine) >= _FEWEST:
        return OtherSplit(mine, listed(sorted(set(mine.values()))), listed(sorted(filter(None, wanted))))
    here, there = _rooms(clips), _rooms(expected)
    if len(clips) >= _FEWEST and here and there and not here & there:
        return OtherSplit(clips, _numbered(here), _numbered(there))
    return None


def _rooms(clips: Iterable[str]) -> set[int]:
    return {int(match[2]) for clip in clips if (match := _DEVELOPMENT.search(_base(clip)))}


def _numbered(rooms: Names[int]) -> str:
    return f"room{'s' * (len(rooms) > 1)} {listed([str(room) for room in sorted(rooms)])}"


class Explained(NamedTuple):
    """What one finding says of many clips: of files without a clip, and of clips without a file."""

    surplus: Names[str] = ()
    missing: Names[str] = ()


def explained(collection: Collection) -> Explained:
    """The clips on either side that :func:`misspelt_clip` and the rules here account for."""
    if (other := other_split(collection)) is not None:
        both = any(clip in collection.expected for clip in collection.clips)
        return Explained(other.clips, () if both else collection.expected)
    names = misspelt(collection)
    if (common := affix(collection)) is not None:
        names |= common.meant
    return Explained(names, set(names.values()))


@rule("SUB117", ERROR)
def files_of_other_split(collection: Collection, found: Found) -> Iterator[Finding]:
    """Files of another split than the reference asks for."""
    if (other := other_split(collection)) is not None and collection.reference is not None:
        message = f"{plural(len(other.clips), 'file')} of {other.mine} ({listed(sorted(map(_base, other.clips)), 2)})"
        message += f", but {printable(collection.reference.path)} has clips of {other.theirs}"
        yield found(collection.path, f"{message} ({listed(sorted(collection.expected), 2)})",
                    "give the outputs for the clips of the reference, or name another reference")  # fmt: skip


@rule("SUB118", ERROR)
def name_around_clip(collection: Collection, found: Found) -> Iterator[Finding]:
    """Files whose names have something before or after the name of their clip."""
    if other_split(collection) is not None or (common := affix(collection)) is None:
        return
    mine, meant = min(common.meant.items())
    count = plural(len(common.meant), "file")
    if common.theirs:
        message = f"{count} lack what the clips of the reference have around the name: {common}"
    else:
        message = f"{count} have more than the name of the clip, {common}"
    one = f"{printable(_base(mine))} for {printable(meant)}"
    yield found(
        collection.path, f"{message}: {one}", f"rename them: {printable(_base(meant))}.csv",
        severity=ERROR if collection.submitted or collection.reference is not None else WARNING,
    )  # fmt: skip
