"""SUB1: the names of label files taken together: those of other clips, of other splits, and of no clip."""

from __future__ import annotations

import dataclasses
import posixpath
import re
from collections import Counter
from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from seldio.files.names import in_lower_case, is_csv
from seldio.findings import SINGLY, Finding
from seldio.formats import stem_of
from seldio.formats.datasets import TOPS
from seldio.rules.collection import Collection, MakeFinding, grouped
from seldio.rules.registry import ERROR, WARNING
from seldio.text import listed, plural, printable

#: How datasets name their clips.
CLIP_NAME = re.compile(
    r"mix\d{3}|fold\d+_room\d+_mix\d{3}(_ov\d|_deg-?\d+_start\d+)?|split\d_ir\d_ov\d_\d+", re.IGNORECASE
)
#: Suffixes that may follow the name of a recording.
RECORDING = re.compile(r"(?:\.(?:wav|flac|ogg|mp3|mp4|aac|csv))+$", re.IGNORECASE)
_MEDIA = re.compile(r"(?i)\.(wav|flac|ogg|mp3|mp4|aac)$")
_FIELD, _NUMBER = re.compile(r"([^\W\d_]*)[\W_]*(\d*)"), re.compile(r"\d{1,9}(?!.*\d)", re.ASCII | re.DOTALL)
_DEVELOPMENT = re.compile(r"fold(\d{1,3})_room(\d{1,4})_mix\d", re.IGNORECASE)
_EVALUATION = re.compile(r"(?<![a-z])mix\d{3}", re.IGNORECASE)
#: So many names show what all have in common, and the share of all that have it.
_FEWEST, _MOST = 3, 0.8
#: How like the name of a clip a misspelt one with the same numbers is, in percent: "mxi002" is 83 like "mix002".
_ALIKE = 80


class Renamed(NamedTuple):
    """Files that are not called like their clips, and the clips that they must be meant for."""

    code: str  # of the rule that reports it
    text: str  # what the files are or have, after their number
    clips: Mapping[str, str]


def _fields(name: str) -> tuple[tuple[str, str], ...]:
    """Return the words of a name, each with the number after it, in lower case, without zeros in front and suffix."""
    parts = _FIELD.findall(RECORDING.sub("", posixpath.basename(name)).casefold())
    return tuple((word, number.lstrip("0") or number[:1]) for word, number in parts if word or number)


def _meant(names: Names[str], clips: Names[str]) -> dict[str, str]:
    """Return the clip that each name must be meant for.

    Both have the same fields among those whose words occur in names and in clips, or else the same numbers and nearly
    the same text; and no other name or clip has.
    """
    from rapidfuzz import fuzz, process

    common = set.intersection(*({word for name in side for word, _ in _fields(name)} for side in (names, clips)))

    def key(name: str) -> tuple[tuple[str, str], ...] | None:
        return tuple(sorted(field for field in _fields(name) if field[0] in common)) or None

    mine, theirs = grouped(names, key), grouped(clips, key)
    meant = {
        same[0]: theirs[fields][0] for fields, same in mine.items() if len(same) == 1 == len(theirs.get(fields, ()))
    }
    numbered = grouped(sorted(set(clips) - set(meant.values())), _numbers)
    misspelt: dict[str, str] = {}
    for name in sorted(set(names) - meant.keys()):
        alike = process.extract(name.casefold(), numbered.get(_numbers(name), ()), scorer=fuzz.ratio, limit=2)
        if alike and alike[0][1] >= _ALIKE and (len(alike) == 1 or alike[0][1] > alike[1][1]):
            misspelt[name] = alike[0][0]
    return meant | misspelt if len(set(misspelt.values())) == len(misspelt) else meant


def _numbers(name: str) -> tuple[str, ...]:
    return tuple(number for _, number in _fields(name) if number)


def called(collection: Collection) -> dict[str, str]:
    """Return the clip of each file by the name that programs look for; they do not find ``mix001.CSV``."""
    return {
        posixpath.basename(path) if is_csv(path) and not in_lower_case(path) else posixpath.basename(clip): clip
        for clip, path in collection.clips.items()
    }


def renamed(collection: Collection) -> Renamed | None:
    """Return the clips that files without a clip must be meant for, as the reference or else as datasets call them."""
    names = called(collection)
    if collection.reference is not None:
        return _renamed(tuple(names.items()), tuple(collection.expected))
    if any(place.lower() in TOPS for path in (collection.path, *names.values()) for place in path.split("/")):
        return None  # a tree, whose names are compared with those of its dataset
    # names that have the same text before and after the name of a clip
    inside = {name: match for name in names if not RECORDING.search(name) and (match := CLIP_NAME.search(name))}
    around = {name: (name[: match.start()], name[match.end() :]) for name, match in inside.items()}
    usual = max(Counter(around.values()).items(), key=lambda pair: pair[1], default=(("", ""), 0))[0]
    clips = {names[name]: inside[name][0] for name in names if around.get(name) == usual != ("", "")}
    return Renamed("SUB118", "more or less than the name of their clip", clips) if _are_most(clips, names) else None


@lru_cache(maxsize=1)  # five rules ask the same, and comparing many names takes half the time of a validation
def _renamed(files: tuple[tuple[str, str], ...], clips_of_reference: tuple[str, ...]) -> Renamed | None:
    names, expected = dict(files), {posixpath.basename(clip): clip for clip in clips_of_reference}
    mine, theirs = names.keys() - expected.keys(), expected.keys() - names.keys()
    if not mine or not theirs:
        return None
    for by, side in ((1, "lower"), (-1, "higher")) if len(names) == len(expected) >= _FEWEST else ():
        moved = {name: _counted(name, by) for name in names}
        if set(moved.values()) == expected.keys():
            clips = {names[name]: expected[clip] for name, clip in moved.items()}
            return Renamed("SUB110", f"numbered one {side} than their recordings", clips)
    splits = {split_of(clip) for clip in theirs}
    others = {name for name in mine if CLIP_NAME.fullmatch(name) and split_of(name) not in splits}
    meant = _meant(mine - others, theirs) if mine - others else {}
    spelled = {
        name: clip
        for name, clip in meant.items()
        if _numbers(name) == _numbers(clip) and len(_fields(name)) == len(_fields(clip))
    }
    inside = {name: clip for name, clip in meant.items() if clip.casefold() in name.casefold()}
    sure = meant if _are_most(meant, mine) else spelled | inside
    code, text = "SUB110", "spelled differently from their recordings"
    if len(sure) > len(spelled):
        code, text = "SUB118", "more or less than the name of their clip, or its parts in another order"
    return Renamed(code, text, {names[name]: expected[clip] for name, clip in sure.items()}) if sure else None


def _counted(name: str, by: int) -> str:
    """Return a name with its last number greater *by* one or so."""
    return _NUMBER.sub(lambda digits: f"{max(0, int(digits[0]) + by):0{len(digits[0])}}", name)


def _are_most(part: Names[str], every: Names[str]) -> bool:
    return len(part) >= max(_FEWEST, _MOST * len(every))


# --- splits ----------------------------------------------------------------------------------------------


def split_of(clip: str) -> str | None:
    """Return the split that a clip is of, by its name; None if that tells nothing."""
    name = posixpath.basename(clip)
    if match := _DEVELOPMENT.search(name):
        return f"fold {int(match[1])} of the development set"
    return "the evaluation set" if _EVALUATION.search(name) else None


def other_split(collection: Collection) -> tuple[Names[str], str, str] | None:
    """Return the clips of another split or other rooms than those of the reference, and what each side is of.

    None where there are just a few.
    """
    clips, expected = collection.clips, collection.expected
    wanted = {split_of(clip) for clip in expected}
    if not expected or None in wanted or renamed(collection) is not None:
        return None
    mine = {clip: split for clip in clips if (split := split_of(clip)) is not None and split not in wanted}
    if len(mine) >= _FEWEST:
        return mine, listed(sorted(set(mine.values()))), listed(sorted(filter(None, wanted)))
    rooms, wanted_rooms = (
        {match[2] for clip in names if (match := _DEVELOPMENT.search(clip))} for names in (clips, expected)
    )
    if len(clips) >= _FEWEST and rooms and wanted_rooms and not rooms & wanted_rooms:
        mine_of, theirs_of = (f"rooms {listed(sorted(side, key=int))}" for side in (rooms, wanted_rooms))
        return clips, mine_of, theirs_of
    return None


def clips_of_several_folders(collection: Collection) -> list[str]:
    """Return the clips with a file in several folders, if most clips are so."""
    names = Counter(map(posixpath.basename, collection.clips))
    twice = [clip for clip in collection.clips if names[posixpath.basename(clip)] > 1 and "/" in clip]
    wanted = all(posixpath.basename(clip) in collection.expected for clip in twice)
    return twice if wanted and _are_most(twice, collection.clips) else []


# --- rules -----------------------------------------------------------------------------------------------


def misspelt_clip(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    if (change := renamed(collection)) is None or change.code != "SUB110":
        return
    shown = {clip: name for name, clip in called(collection).items()}
    if len(change.clips) > SINGLY:
        yield _renaming(collection, finding, change, shown)
        return
    for clip, meant in sorted(change.clips.items()):
        text = change.text.replace("their recordings", "its recording")
        message = f"{printable(shown[clip])} is {text}, {printable(meant)}"
        yield finding(collection.clips[clip], message, f"rename it: {meant}.csv")


def name_around_clip(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    if (change := renamed(collection)) is not None and change.code == "SUB118":
        shown = {clip: posixpath.basename(clip) for clip in change.clips}
        renaming = _renaming(collection, finding, change, shown)
        sure = collection.submitted or collection.reference is not None
        yield renaming if sure else dataclasses.replace(renaming, severity=WARNING)


def _renaming(collection: Collection, finding: MakeFinding, change: Renamed, shown: Mapping[str, str]) -> Finding:
    """Return one finding for all files that are not called like their clips."""
    clip, meant = min(change.clips.items())
    verbs, alone = {"SUB110": ("is", "are"), "SUB118": ("has", "have")}[change.code], len(change.clips) == 1
    text = change.text.replace("their clip", "its clip") if alone else change.text
    count = f"{plural(len(change.clips), 'file')} {verbs[not alone]} {text}"
    file = printable(posixpath.basename(collection.clips[clip]))
    hint = f"rename them: {file} to {printable(meant)}.csv, and so on"
    if alone:
        hint = f"rename it: {printable(meant)}.csv"
    return finding(collection.path, f"{count}: {printable(shown[clip])} for {printable(meant)}", hint)


def files_of_other_split(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    if (other := other_split(collection)) is not None:
        clips, mine, theirs = other
        names = sorted(map(posixpath.basename, clips))
        message = f"{plural(len(names), 'file')} of {mine} ({listed(names, 2)}), but "
        message += f"{collection.where} has clips of {theirs}"
        yield finding(collection.path, f"{message} ({listed(sorted(collection.expected), 2)})")


def missing_clip(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    mine, missing = _alone(collection)
    if len(mine) > SINGLY and not collection.clips.keys() & collection.expected.keys():  # said of the files
        return
    # clips whose files are there, and were not read: their paths
    read = {part.file.path for _, part in collection.parts}
    left = [entry for entry in collection.entries if entry.path not in read and not _MEDIA.search(entry.name)]
    files = [(posixpath.basename(entry.name), entry.path) for entry in left]
    stems = {stem_of(stem_of(name)): path for name, path in files} | {stem_of(name): path for name, path in files}
    unread = {clip: stems[stem] for clip in missing if (stem := posixpath.basename(clip)) in stems}
    reported = {fault.path for fault in collection.wrong if fault.severity is ERROR}
    reported |= {entry.path for group in collection.unread_labels for entry in group.files}  # by LAY119
    if unread and reported.isdisjoint(unread.values()):
        count = plural(len(unread), "file is there, but is", "files are there, but are")
        message = f"{count} not read as labels: {printable(min(unread.values()))}"
        yield finding(collection.path, message, "correct that first: each clip needs a file that can be read")
    names = [printable(clip) for clip in missing if clip not in unread]
    needed = f"{names[0]}.csv" if len(missing) == 1 and names else "a file for each of its clips"
    hint = f"{collection.where} requires {needed}; leave it empty if nothing was detected"
    if len(names) > SINGLY:
        count = f"{len(names):,} of {plural(len(collection.expected), 'clip')}"
        yield finding(collection.path, f"no result file for {count}: {listed(names, 3)}", hint)
        return
    for number, name in enumerate(names):  # the hint once for all
        yield finding(collection.path, f"no result file for {name}", None if number else hint)


def surplus_clip(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    surplus, missing = _alone(collection)
    if len(surplus) > SINGLY:
        message = (
            f"{len(surplus):,} of {plural(len(collection.clips), 'file')} are not of a clip of {collection.where}: "
        )
        message += listed([printable(clip) for clip in surplus], 3)
        if len(missing) == len(collection.expected):
            message += f"; its clips are {listed([printable(clip) for clip in missing], 2)}"
        yield finding(collection.path, message)
        return
    for clip in surplus:
        yield finding(collection.clips[clip], f"{printable(clip)} is not a clip of {collection.where}")


def _alone(collection: Collection) -> tuple[list[str], list[str]]:
    """Return the clips of files that the reference lacks, and those without a file, where no other rule reports it."""
    mine, expected = collection.clips.keys(), collection.expected.keys()
    surplus, missing = mine - expected, expected - mine
    if (change := renamed(collection)) is not None:
        return sorted(surplus - change.clips.keys()), sorted(missing - set(change.clips.values()))
    if (other := other_split(collection)) is not None:
        return sorted(surplus - {*other[0]}), sorted(missing) if mine & expected else []
    twice = clips_of_several_folders(collection)
    return sorted(surplus - {*twice}), sorted(missing - set(map(posixpath.basename, twice)))


def result_name(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    shown = {clip: name for name, clip in called(collection).items()} if collection.reference is None else {}
    for clips in grouped(sorted(shown), lambda clip: posixpath.dirname(collection.clips[clip])).values():
        near = [(clip, meant) for clip in clips if (meant := _as_recording(shown[clip], collection)) != shown[clip]]
        if near:
            spelt, meant = near[0]
            message = f"{plural(len(near), 'file is', 'files are')} almost named like a recording: "
            message += f"{printable(shown[spelt])} for {printable(meant)}"
            suffix = shown[spelt].removeprefix(meant)
            if all(shown[clip] == f"{meant}{suffix}" for clip, meant in near) and suffix.lower() == ".csv":
                message = f"{plural(len(near), 'name ends', 'names end')} in {suffix}: "
                message += "programs that look for .csv do not find them"
            yield finding(collection.clips[spelt], message, f"name each result file like its recording: {meant}.csv")
            continue
        odd = [clip for clip in clips if not CLIP_NAME.fullmatch(shown[clip])]
        for clip in odd if 2 * len(odd) < len(clips) else ():
            others = plural(len(clips) - len(odd), "other clip")
            message = f"{printable(shown[clip])} is not named like the {others} in its folder"
            yield finding(collection.clips[clip], message, "name each result file like its recording: mix001.csv")


#: The clips of STARSS without the zeros of their numbers.
_PADLESS = re.compile(r"^(?P<start>(?:fold[0-9]+_room[0-9]+_)?mix)(?P<number>[0-9]{1,2})$")


def _as_recording(name: str, collection: Collection) -> str:
    """Return a name as that of a recording: without suffix and, for a submission, in the datasets' spelling."""
    name = RECORDING.sub("", name)
    padded = _PADLESS.sub(lambda match: f"{match['start']}{match['number']:0>3}", name.lower())
    return padded if collection.submitted and CLIP_NAME.fullmatch(padded) else name


NAME_RULES = (name_around_clip, result_name)
REFERENCE_RULES = (misspelt_clip, files_of_other_split, missing_clip, surplus_clip)
