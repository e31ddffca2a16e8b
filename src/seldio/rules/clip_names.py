"""SUB1: the names of label files taken together: ways in which they differ from those of their clips, and other splits.

Each way is a row of ``RENAMINGS``: a key that is the same for a file and its clip once the fault is undone. A row is
tried on all names without a clip and all clips without a file, and is said if it maps most of them one to one.
Between the clips of different splits and sets of 2019 to 2024, whose names are all proper, none ever does.
"""

from __future__ import annotations

import dataclasses
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Collection as Names
from typing import NamedTuple

from seldio.files.names import in_lower_case, is_csv
from seldio.findings import SINGLY, Finding
from seldio.formats import stem_of
from seldio.formats.datasets import TOPS
from seldio.rules.collection import Collection, Found, grouped
from seldio.rules.registry import ERROR, WARNING
from seldio.text import listed, plural, printable

#: How datasets name their clips.
CLIP_NAME = re.compile(
    r"mix\d{3}|fold\d+_room\d+_mix\d{3}(_ov\d|_deg-?\d+_start\d+)?|split\d_ir\d_ov\d_\d+", re.IGNORECASE
)
#: Suffixes that may follow the name of a recording.
RECORDING = re.compile(r"(?:\.(?:wav|flac|ogg|mp3|mp4|aac|csv))+$", re.IGNORECASE)
_WORD, _NUMBER = re.compile(r"[^\W\d_]+|\d+"), re.compile(r"\d{1,9}(?!.*\d)", re.ASCII | re.DOTALL)
#: So many clips show what all have in common, so many names are looked at to see what that may be, and the share of
#: all files that have it.
_FEWEST, _SAMPLE, _MOST = 3, 20, 0.8
Pairs = dict[str, str]


class Renaming(NamedTuple):
    """A row of the table."""

    code: str  # of the rule that says it
    text: str  # what the files are or have, after their number
    pairs: Callable[[Names[str], Names[str]], Pairs]  # names of files with those of the clips that must be meant
    alone: bool = False  # whether a single name is enough


def _matched(mine: Names[str], theirs: Names[str], key: Callable[[str], object]) -> Pairs:
    """The names of files and clips that have a key to themselves on both sides."""
    here, there = grouped(mine, key), grouped(theirs, key)
    return {names[0]: there[one][0] for one, names in here.items() if len(names) == 1 == len(there.get(one, ()))}


def _words(name: str) -> list[str]:
    """The words and numbers of a name, in lower case and without zeros in front; not those of a suffix."""
    words = _WORD.findall(RECORDING.sub("", posixpath.basename(name)).casefold())
    return [word.lstrip("0") or "0" if word.isdigit() else word for word in words]


def _spelled(mine: Names[str], theirs: Names[str]) -> Pairs:
    return _matched(mine, theirs, lambda name: " ".join(_words(name)) or None)


def _fields(name: str) -> list[tuple[str, str]]:
    """The words of a name, each with the number that follows it."""
    fields: list[tuple[str, str]] = []
    for word in _words(name):
        if word.isdigit() and fields and not fields[-1][1]:
            fields[-1] = fields[-1][0], word
        else:
            fields.append(("", word) if word.isdigit() else (word, ""))
    return fields


def _reordered(mine: Names[str], theirs: Names[str]) -> Pairs:
    """By the fields that both sides have, in any order."""
    common = set.intersection(*({word for name in side for word, _ in _fields(name)} for side in (mine, theirs)))
    return _matched(mine, theirs, lambda name: tuple(sorted(one for one in _fields(name) if one[0] in common)) or None)


def _around(mine: Names[str], theirs: Names[str]) -> Pairs:
    """By a text before and after all names of one side."""
    for short, long in ((theirs, mine), (mine, theirs)):
        around = Counter[tuple[str, str]]()
        for name in sorted(long)[:_SAMPLE]:
            if inside := [other for other in short if other in name]:
                before, _, after = name.partition(max(inside, key=len))
                around[before, after] += 1
        before, after = max(around, key=lambda parts: around[parts], default=("", ""))
        whole = {f"{before}{name}{after}": name for name in short}
        if (before + after) and (found := {name: whole[name] for name in long if name in whole}):
            return found if long is mine else {name: clip for clip, name in found.items()}
    return {}


def _counted(by: int) -> Callable[[Names[str], Names[str]], Pairs]:
    def pairs(mine: Names[str], theirs: Names[str]) -> Pairs:
        def moved(name: str) -> str:
            return _NUMBER.sub(lambda digits: f"{max(0, int(digits[0]) + by):0{len(digits[0])}}", name)

        return {name: clip for name in mine if (clip := moved(name)) in theirs and clip != name}

    return pairs


#: The first one that maps most names is said. Those that count otherwise have to explain all names, as they take files
#: that are called like a clip for another one.
RENAMINGS = (
    Renaming("SUB110", "spelled differently from their recordings", _spelled, alone=True),
    Renaming("SUB118", "more or less than the name of their clip", _around),
    Renaming("SUB118", "other parts than the name of their clip, or another order", _reordered),
)
COUNTED = (
    Renaming("SUB110", "numbered one lower than their recordings", _counted(1)),
    Renaming("SUB110", "numbered one higher than their recordings", _counted(-1)),
)


class Renamed(NamedTuple):
    """A way in which files are named, with the clips that they must be meant for."""

    way: Renaming
    clips: Mapping[str, str]


def called(collection: Collection) -> dict[str, str]:
    """The clip of each file by the name that programs look for; they do not find ``mix001.CSV``."""
    return {
        posixpath.basename(path) if is_csv(path) and not in_lower_case(path) else posixpath.basename(clip): clip
        for clip, path in collection.clips.items()
    }


def renamed(collection: Collection) -> Renamed | None:
    """The renaming that gives most files without a clip one, as the reference or else as datasets call theirs."""
    names = called(collection)
    if collection.reference is None:
        if any(place.lower() in TOPS for path in (collection.path, *names.values()) for place in path.split("/")):
            return None  # a tree, whose names are compared with those of its dataset
        theirs = {match[0] for name in names if (match := CLIP_NAME.search(name)) is not None}
        found = _around([name for name in names if not RECORDING.search(name)], theirs)
        return (
            Renamed(RENAMINGS[1], {names[name]: clip for name, clip in found.items()})
            if _are_most(found, names)
            else None
        )
    expected = {posixpath.basename(clip): clip for clip in collection.expected}
    mine, theirs = names.keys() - expected.keys(), expected.keys() - names.keys()
    if not mine or not theirs:
        return None
    if len(names) == len(expected):
        for way in COUNTED:
            found = way.pairs(names, expected)
            if len(found) == len(set(found.values())) == len(names) >= _FEWEST:
                return Renamed(way, {names[name]: expected[clip] for name, clip in found.items()})
    splits = {split_of(clip) for clip in theirs}
    others = {name for name in mine if CLIP_NAME.fullmatch(name) and split_of(name) not in splits}
    tried = [(way, way.pairs(mine - others, theirs)) for way in RENAMINGS]
    fits = [one for one in tried if _are_most(one[1], mine)] or [one for one in tried if one[0].alone and one[1]]
    for way, found in fits[:1]:
        return Renamed(way, {names[name]: expected[clip] for name, clip in found.items()})
    return None


def _are_most(found: Names[str], every: Names[str]) -> bool:
    return len(found) >= max(_FEWEST, _MOST * len(every))


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
    name = posixpath.basename(clip)
    if match := _DEVELOPMENT.search(name):
        return f"fold {int(match[1])} of the development set"
    return "the evaluation set" if _EVALUATION.search(name) else None


def other_split(collection: Collection) -> OtherSplit | None:
    """The files of another split than the clips of the reference, where they are not just a few."""
    clips, expected = collection.clips, collection.expected
    wanted = {split_of(clip) for clip in expected}
    if not expected or None in wanted or renamed(collection) is not None:
        return None
    mine = {clip: split for clip in clips if (split := split_of(clip)) is not None and split not in wanted}
    if len(mine) >= _FEWEST:
        return OtherSplit(mine, listed(sorted(set(mine.values()))), listed(sorted(filter(None, wanted))))
    here, there = ({match[2] for clip in some if (match := _DEVELOPMENT.search(clip))} for some in (clips, expected))
    if len(clips) >= _FEWEST and here and there and not here & there:
        return OtherSplit(clips, *(f"rooms {listed(sorted(rooms, key=int))}" for rooms in (here, there)))
    return None


# --- what is said ----------------------------------------------------------------------------------------


class Explained(NamedTuple):
    """What one finding says of many clips: of files without a clip, and of clips without a file."""

    surplus: Names[str] = ()
    missing: Names[str] = ()


def explained(collection: Collection) -> Explained:
    """The clips on either side that another rule accounts for."""
    if (found := renamed(collection)) is not None and collection.reference is not None:
        return Explained(found.clips, set(found.clips.values()))
    if (other := other_split(collection)) is not None:
        both = any(clip in collection.expected for clip in collection.clips)
        return Explained(other.clips, () if both else collection.expected)
    twice = systems(collection)
    return Explained(twice, {posixpath.basename(clip) for clip in twice})


def systems(collection: Collection) -> list[str]:
    """The clips of which several folders have a file each, if that is so of most."""
    names = Counter(map(posixpath.basename, collection.clips))
    twice = [clip for clip in collection.clips if names[posixpath.basename(clip)] > 1 and "/" in clip]
    known = all(posixpath.basename(clip) in collection.expected for clip in twice)
    return twice if known and _are_most(twice, collection.clips) else []


def misspelt_clip(collection: Collection, found: Found) -> Iterator[Finding]:
    if (said := renamed(collection)) is None or said.way.code != "SUB110":
        return
    shown = {clip: name for name, clip in called(collection).items()}
    if len(said.clips) > SINGLY:
        yield _said(collection, found, said, shown)
        return
    for clip, meant in sorted(said.clips.items()):
        message = f"{printable(shown[clip])} is {said.way.text.replace('their recordings', 'its recording')}, "
        message += printable(meant)
        yield found(collection.clips[clip], message, f"rename it: {meant}.csv")


def name_around_clip(collection: Collection, found: Found) -> Iterator[Finding]:
    if (said := renamed(collection)) is not None and said.way.code == "SUB118":
        one = _said(collection, found, said, {clip: posixpath.basename(clip) for clip in said.clips})
        submitted = collection.submitted or collection.reference is not None
        yield one if submitted else dataclasses.replace(one, severity=WARNING)


def _said(collection: Collection, found: Found, said: Renamed, shown: Mapping[str, str]) -> Finding:
    clip, meant = min(said.clips.items())
    name = shown[clip]
    verb = "are" if said.way.code == "SUB110" else "have"
    message = f"{plural(len(said.clips), 'file')} {verb} {said.way.text}: {printable(name)} for {printable(meant)}"
    file = posixpath.basename(collection.clips[clip])
    return found(collection.path, message, f"rename them: {printable(file)} to {printable(meant)}.csv, and so on")


def files_of_other_split(collection: Collection, found: Found) -> Iterator[Finding]:
    if collection.reference is not None and (other := other_split(collection)) is not None:
        names = sorted(map(posixpath.basename, other.clips))
        message = f"{plural(len(names), 'file')} of {other.mine} ({listed(names, 2)})"
        message += f", but {printable(collection.reference.path)} has clips of {other.theirs}"
        yield found(collection.path, f"{message} ({listed(sorted(collection.expected), 2)})",
                    "give the outputs for the clips of the reference, or name another reference")  # fmt: skip


def missing_clip(collection: Collection, found: Found) -> Iterator[Finding]:
    if collection.reference is None:
        return
    source, (mine, missing) = printable(collection.reference.path), _alone(collection)
    if len(mine) > SINGLY and not collection.clips.keys() & collection.expected.keys():  # said of the files
        return
    if unread := _unread(collection, missing):
        count = "1 file is" if len(unread) == 1 else f"{len(unread):,} files are"
        paths = set(unread.values())
        first = next((one for one in collection.wrong if one.path in paths and one.severity is ERROR), None)
        message = f"{count} there, but {'is' if len(unread) == 1 else 'are'} not read as labels: "
        message += printable(min(paths)) if first is None else first.message
        yield found(collection.path, message, "correct that first: each clip needs a file that can be read")
        missing = [clip for clip in missing if clip not in unread]
    names, needed = [printable(clip) for clip in missing], f"{source} requires a file for each of its clips"
    if len(missing) == 1:
        needed = f"{source} requires {names[0]}.csv"
    needed += "; leave it empty if nothing was detected"
    if len(missing) > SINGLY:
        every = plural(len(collection.expected), "clip")
        message = f"no result file for {len(missing):,} of {every}: {listed(names, 3)}"
        yield found(collection.path, message, needed)
        return
    for number, name in enumerate(names):  # the hint once for all
        yield found(collection.path, f"no result file for {name}", None if number else needed)


def surplus_clip(collection: Collection, found: Found) -> Iterator[Finding]:
    if collection.reference is None:
        return
    where, hint = printable(collection.reference.path), "name result files like the recordings, with .csv"
    surplus, missing = _alone(collection)
    if len(surplus) > SINGLY:
        message = f"{len(surplus):,} of {plural(len(collection.clips), 'file')} are not of a clip of {where}: "
        message += listed([printable(clip) for clip in surplus], 3)
        if len(missing) == len(collection.expected):
            message += f"; its clips are {listed([printable(clip) for clip in missing], 2)}"
        yield found(collection.path, message, hint)
        return
    for clip in surplus:
        yield found(collection.clips[clip], f"{printable(clip)} is not a clip of {where}", hint)


def _alone(collection: Collection) -> tuple[list[str], list[str]]:
    """The clips of files that the reference does not have, and those that have no file, where nothing explains it."""
    about = explained(collection)
    mine = collection.clips.keys() - collection.expected.keys() - {*about.surplus}
    return sorted(mine), sorted(collection.expected.keys() - collection.clips.keys() - {*about.missing})


_MEDIA = re.compile(r"(?i)\.(wav|flac|ogg|mp3|mp4|aac)$")


def _unread(collection: Collection, missing: Iterable[str]) -> dict[str, str]:
    """Clips whose files are there, and were not read: their paths."""
    read = {part.file.path for _, part in collection.parts}
    left = {stem_of(posixpath.basename(entry.name)): entry.path for entry in collection.entries
            if entry.path not in read and not _MEDIA.search(entry.name)}  # fmt: skip
    return {clip: left[stem] for clip in missing if (stem := posixpath.basename(clip)) in left}


def result_name(collection: Collection, found: Found) -> Iterator[Finding]:
    shown = {clip: name for name, clip in called(collection).items()} if collection.reference is None else {}
    for clips in grouped(sorted(shown), lambda clip: posixpath.dirname(collection.clips[clip])).values():
        near = [(clip, meant) for clip in clips if (meant := _as_recording(shown[clip], collection)) != shown[clip]]
        if near:
            verb, (spelt, meant) = "is" if len(near) == 1 else "are", near[0]
            message = f"{plural(len(near), 'file')} {verb} almost named like a recording: "
            message += f"{printable(shown[spelt])} for {printable(meant)}"
            suffix = shown[spelt].removeprefix(meant)
            if all(shown[clip] == f"{meant}{suffix}" for clip, meant in near) and suffix.lower() == ".csv":
                message = f"{plural(len(near), 'name')} {'ends' if len(near) == 1 else 'end'} in {suffix}: "
                message += "programs that look for .csv do not find them"
            yield found(collection.clips[spelt], message, f"name each result file like its recording: {meant}.csv")
            continue
        odd = [clip for clip in clips if not CLIP_NAME.fullmatch(shown[clip])]
        for clip in odd if 2 * len(odd) < len(clips) else ():
            others = plural(len(clips) - len(odd), "other clip")
            message = f"{printable(shown[clip])} is not named like the {others} in its folder"
            yield found(collection.clips[clip], message, "name each result file like its recording: mix001.csv")


#: The clips of STARSS without the zeros of their numbers.
_PADLESS = re.compile(r"^(?P<start>(?:fold[0-9]+_room[0-9]+_)?mix)(?P<number>[0-9]{1,2})$")


def _as_recording(name: str, collection: Collection) -> str:
    """A name as that of a recording: without its suffix and, for a submission, in the datasets' spelling."""
    name = RECORDING.sub("", name)
    padded = _PADLESS.sub(lambda match: f"{match['start']}{match['number']:0>3}", name.lower())
    return padded if collection.submitted and CLIP_NAME.fullmatch(padded) else name


NAME_RULES = (misspelt_clip, name_around_clip, files_of_other_split, missing_clip, surplus_clip, result_name)
