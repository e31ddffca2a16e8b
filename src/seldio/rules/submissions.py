"""SUB1: a submission as a whole: missing and surplus files, mixed formats, time grids, and file names.

Names may be those of other clips or splits, of no clip, or of the files of a package.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from seldio.files import Source
from seldio.files.names import in_lower_case, is_csv
from seldio.findings import SINGLY, Finding
from seldio.formats import LabelFormat, TextFile, get, stem_of
from seldio.formats.base import FileRows
from seldio.formats.datasets import DATASETS, RECORDS, TOPS, dataset, of_dialect
from seldio.formats.detect import years
from seldio.formats.dialects import DIALECTS
from seldio.formats.label_csv import Dialect
from seldio.rules import ERROR, WARNING
from seldio.rules.collection import Collection, MakeFinding, grouped
from seldio.text import listed, plural, printable

_TASK, _LABEL = r"task[ _-]*([0-9]{1,4})[ _-]*[a-z]?", r"[^/]+_task[0-9]+[a-z]*_[0-9]+"
#: Folders of tasks, and common variants of their names.
TASK = re.compile(rf"(?i){_TASK}")
#: The ways to the innermost folder of a task, to the outermost one called like a label, and to one in the other.
_TO_TASK = re.compile(rf"(?is)(?:.*/)?{_TASK}(?=/)")
_TO_LABEL = re.compile(rf"(?is)(?:[^/]*/)*?{_LABEL}(?=/)")
_TO_BOTH = re.compile(rf"(?is)(?:.*/)?{_TASK}/{_LABEL}/")
_OUTPUT = re.compile(r"(?i)mix[0-9]{3}\.csv")
META_NAME = re.compile(r"(?i)\.meta\.ya?ml$")


def is_package(collection: Source | Collection) -> bool:
    """Return whether a source looks like a package or a part of one.

    It has a meta file, or folders ``taskN/LABEL/``, or several folders ``LABEL/`` of outputs.
    """
    prefix, names = prefix_of(collection), [entry.name for entry in collection.entries]
    if any(META_NAME.search(name) or _TO_BOTH.match(prefix + name) for name in names):
        return True
    outputs = [name for name in names if _OUTPUT.fullmatch(name.rpartition("/")[2])]
    return len({label_folder(name) for name in outputs} - {""}) > 1


def prefix_of(collection: Source | Collection) -> str:
    """Return the prefix of names if the source is the folder of a task or system inside a package."""
    names = [entry.name for entry in collection.entries]
    if collection.kind != "folder" or any(task_of(name) is not None for name in names):
        return ""
    parts = collection.path.replace("\\", "/").rstrip("/").split("/")
    levels = {name.count("/") for name in names if META_NAME.search(name)}
    for depth in (1, 2):  # taskN, and taskN/LABEL
        prefix = "/".join(parts[-depth:]) + "/"
        placed = 2 - depth in levels or any(_TO_BOTH.match(prefix + name) for name in names)
        if len(parts) >= depth and TASK.fullmatch(parts[-depth]) and placed:
            return prefix
    return ""


def task_of(name: str) -> str | None:
    """Return the innermost folder of a task on the way to a file."""
    match = _TO_TASK.match(name)
    return match[0] if match is not None else None


def label_folder(name: str) -> str:
    """Return the outermost folder on the way to a file that is called like a label; empty if none is."""
    match = _TO_LABEL.match(name)
    return match[0] if match is not None else ""


# --- names ---------------------------------------------------------------------------------------------

#: How datasets name their clips.
CLIP_NAME = re.compile(
    r"mix\d{3}|fold\d+_room\d+_mix\d{3}(_ov\d|_deg-?\d+_start\d+)?|split\d_ir\d_ov\d_\d+", re.IGNORECASE
)
#: Suffixes that may follow the name of a recording.
RECORDING = re.compile(r"(?:\.(?:wav|flac|ogg|mp3|mp4|aac|csv))+$", re.IGNORECASE)
_MEDIA = re.compile(r"(?i)\.(wav|flac|ogg|mp3|mp4|aac)$")
_FIELD, _NUMBER = re.compile(r"([^\W\d_]*)[\W_]*(\d*)"), re.compile(r"\d{1,9}(?!.*\d)", re.ASCII | re.DOTALL)
_DEVELOPMENT = re.compile(r"fold(\d{1,3})_room\d{1,4}_mix\d", re.IGNORECASE)
_EVALUATION = re.compile(r"(?<![a-z])mix\d{3}", re.IGNORECASE)
#: The clips of STARSS without the zeros of their numbers.
_PADLESS = re.compile(r"^(?P<start>(?:fold[0-9]+_room[0-9]+_)?mix)(?P<number>[0-9]{1,2})$")
#: So many names show what all have in common, and the share of all that have it.
_FEWEST, _MOST = 3, 0.8
#: How like the name of a clip a misspelt one with the same numbers is, in percent: "mxi002" is 83 like "mix002".
_ALIKE = 80


class Renamed(NamedTuple):
    """Files that are not called like their clips, and the clips that they must be meant for."""

    text: str  # what the files are or have, after their number
    misspelt: bool  # whether each is reported by itself, where they are few
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
    return Renamed("have more or less than the name of their clip", False, clips) if _are_most(clips, names) else None


@lru_cache(maxsize=1)  # three rules ask the same, and comparing many names takes half the time of a validation
def _renamed(files: tuple[tuple[str, str], ...], clips_of_reference: tuple[str, ...]) -> Renamed | None:
    names, expected = dict(files), {posixpath.basename(clip): clip for clip in clips_of_reference}
    mine, theirs = names.keys() - expected.keys(), expected.keys() - names.keys()
    if not mine or not theirs:
        return None
    for by, side in ((1, "lower"), (-1, "higher")) if len(names) == len(expected) >= _FEWEST else ():
        moved = {name: _counted(name, by) for name in names}
        if set(moved.values()) == expected.keys():
            clips = {names[name]: expected[clip] for name, clip in moved.items()}
            return Renamed(f"are numbered one {side} than their recordings", True, clips)
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
    misspelt, text = len(sure) == len(spelled), "are spelled differently from their recordings"
    if not misspelt:
        text = "have more or less than the name of their clip, or its parts in another order"
    return Renamed(text, misspelt, {names[name]: expected[clip] for name, clip in sure.items()}) if sure else None


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
    """Return the clips of another split than the reference, and what each side is of; None where there are a few."""
    wanted = {split_of(clip) for clip in collection.expected}
    if not wanted or None in wanted or renamed(collection) is not None:
        return None
    mine = [clip for clip in collection.clips if split_of(clip) not in (None, *wanted)]
    if len(mine) < _FEWEST:
        return None
    return mine, listed(sorted({split_of(clip) or "" for clip in mine})), listed(sorted(filter(None, wanted)))


def clips_of_several_folders(collection: Collection) -> list[str]:
    """Return the clips with a file in several folders, if most clips are so."""
    names = Counter(map(posixpath.basename, collection.clips))
    twice = [clip for clip in collection.clips if names[posixpath.basename(clip)] > 1 and "/" in clip]
    wanted = all(posixpath.basename(clip) in collection.expected for clip in twice)
    return twice if wanted and _are_most(twice, collection.clips) else []


# --- rules -----------------------------------------------------------------------------------------------


def misspelt_clip(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    if (change := renamed(collection)) is None:
        return
    shown = {clip: name for name, clip in called(collection).items()}
    few = len(change.clips) == 1 or (change.misspelt and len(change.clips) <= SINGLY)
    sure = collection.submitted or collection.reference is not None
    for clip, meant in sorted(change.clips.items()) if few else ():
        text = change.text.replace("have", "has", 1).replace("are", "is", 1)
        text = text.replace("their recordings", "its recording").replace("their clip", "its clip")
        message = f"{printable(shown[clip])} {text}, {printable(meant)}"
        yield finding(collection.clips[clip], message, f"rename it: {printable(meant)}.csv")
    if not few:
        clip, meant = min(change.clips.items())
        example = f"{printable(shown[clip])} for {printable(meant)}"
        file = printable(posixpath.basename(collection.clips[clip]))
        hint = f"rename them: {file} to {printable(meant)}.csv, and so on"
        message = f"{plural(len(change.clips), 'file')} {change.text}: {example}"
        yield finding(collection.path, message, hint, severity=ERROR if sure else WARNING)


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
    if (other := other_split(collection)) is not None:
        clips, mine, theirs = other
        names = sorted(map(posixpath.basename, clips))
        message = f"{plural(len(names), 'file')} of {mine} ({listed(names, 2)}), but "
        message += f"{collection.where} has clips of {theirs} ({listed(sorted(collection.expected), 2)})"
        hint = "give the outputs for the clips of the reference, or name another reference"
        yield finding(collection.path, message, hint)
    surplus, missing = _alone(collection)
    if len(surplus) > SINGLY:
        message = f"{len(surplus):,} of {plural(len(collection.clips), 'file')} are not of a clip of "
        message += f"{collection.where}: {listed([printable(clip) for clip in surplus], 3)}"
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
    submitted = collection.submitted
    for clips in grouped(sorted(shown), lambda clip: posixpath.dirname(collection.clips[clip])).values():
        near = []
        for clip in clips:
            # its name as that of a recording: without suffix and, for a submission, in the datasets' spelling
            meant = RECORDING.sub("", shown[clip])
            padded = _PADLESS.sub(lambda match: f"{match['start']}{match['number']:0>3}", meant.lower())
            meant = padded if submitted and CLIP_NAME.fullmatch(padded) else meant
            if meant != shown[clip]:
                near.append((clip, meant))
        if near:
            spelt, meant = near[0]
            message = f"{plural(len(near), 'file name almost matches', 'file names almost match')} a recording: "
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


NAME_RULES = (misspelt_clip, result_name)
REFERENCE_RULES = (missing_clip, surplus_clip)


# --- where files lie, and what they hold ------------------------------------------------------------------


def uneven_depth(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    paths = (collection.path, *(part.file.name for _, part in collection.parts))
    if any(folder.lower() in TOPS for path in paths for folder in path.replace("\\", "/").split("/")):
        return  # the folders of a dataset, of which rules for trees know more
    single = [part for reading, part in collection.parts if reading.format.role != "table"]
    folders = grouped(single, lambda part: posixpath.dirname(part.file.name))
    inner: dict[str, list[FileRows]] = {folder: [] for folder in folders}
    for name, parts in folders.items():
        above = name
        while above.strip("/"):
            above = posixpath.dirname(above)
            if above in inner:
                inner[above] += parts
    for folder, parts in sorted(folders.items()):
        below = inner[folder]
        names = {posixpath.basename(part.file.name).lower() for part in parts}
        if below and not any(posixpath.basename(part.file.name).lower() in names for part in below):
            inside = sorted({posixpath.dirname(part.file.name) for part in below})
            where = f"{printable(folder)}/" if folder else "the folder"
            count = f"{len(below):,} of {plural(len(parts) + len(below), 'file')}"
            message = f"{count} are in folders below the others: {listed([f'{name}/' for name in inside], 3)}"
            yield finding(below[0].file.path, message, f"move them up into {where}: programs read one folder")
            return


#: Rows from which on two files of different recordings cannot be the same by chance.
SAME_ROWS = 10


def same_content(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    single = [part for reading, part in collection.parts if reading.format.role != "table" and part.rows >= SAME_ROWS]
    paths = [part.file.path for part in single]
    if len(set(paths)) < len(paths):  # several clips in one file
        return
    in_folders = grouped(single, lambda part: (posixpath.dirname(part.file.name), part.file.data)).values()
    if twins := [parts for parts in in_folders if len(parts) > 1]:
        pairs = [" = ".join(posixpath.basename(part.file.name) for part in parts[:2]) for parts in twins]
        message = f"{sum(map(len, twins)):,} of {plural(len(single), 'file')} have the content of another clip, "
        message += f"byte for byte: {listed(pairs, 3)}"
        severity = ERROR if collection.submitted else WARNING
        yield finding(twins[0][1].file.path, message, "write them again, each from its recording", severity=severity)
    outputs = single if collection.submitted else ()
    by_name = grouped(outputs, lambda part: (posixpath.basename(part.file.name), part.file.data)).values()
    if twice := [parts for parts in by_name if len(parts) > 1]:
        folders = sorted({f"{posixpath.dirname(part.file.name)}/" for parts in twice for part in parts})
        message = f"{plural(len(twice), 'file')} the same, byte for byte, in {listed(folders, 3)}"
        yield finding(twice[0][1].file.path, message, "perhaps one system twice: check which outputs were meant")


# --- the grid of time ------------------------------------------------------------------------------------


def finer_frames(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    if (factor := collection.finer) is not None:
        ended = [clip for clip in collection.framed if clip.end]
        milliseconds, rows = float(ended[-1].hop * 1000), sum(clip.part.rows for clip in ended)
        ends = {clip.sure: "recordings" if clip.sure else "labels of the reference" for clip in ended}
        end = " or ".join(ends[sure] for sure in sorted(ends, reverse=True))
        message = f"frames of {milliseconds / factor:g} ms instead of {milliseconds:g} ms: "
        message += f"{sum(len(clip.behind) for clip in ended):,} of {plural(rows, 'row')} are past the end of the {end}"
        yield finding(collection.path, message, f"divide by {factor}, and write one row for every 100 ms")


def frame_past_end(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    for clip in collection.framed if collection.finer is None else ():
        if clip.sure and clip.end is not None and len(clip.behind):
            place = clip.part.place(int(clip.behind[0]), "frame")
            end = f"{clip.end:,} frames, {float(clip.end * clip.hop):g} s"
            message = f"frame {place.value} is past the end of the clip ({end}); "
            message += f"{plural(len(clip.behind), 'row')} in total"
            hint = "all rows are late" if len(clip.behind) == clip.part.rows else None
            yield finding(clip.part.file.path, message, hint, **place._asdict())


def padded_output(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    unknown = [clip for clip in collection.framed if not clip.sure] if collection.submitted else []
    if not unknown or collection.finer is not None:
        return
    reference = collection.reference
    rows, behind = sum(clip.part.rows for clip in unknown), sum(len(clip.behind) for clip in unknown)
    if reference is not None and behind > FEW_BEHIND * rows:
        worst = max(unknown, key=lambda clip: len(clip.behind))
        message = f"{behind:,} of {plural(rows, 'row')} come after the last label of their clip in "
        yield finding(worst.part.file.path, f"{message}{collection.where}: padding or false alarms")
    elif reference is None and len(unknown) >= ALIKE:
        ends = [int(clip.frames.max()) for clip in unknown]
        last, files = Counter(ends).most_common(1)[0]
        first = unknown[ends.index(last)]
        seconds = float((last + 1) * first.hop)
        if 2 * files > len(ends) and seconds > SHORT:
            message = f"{files:,} of {plural(len(ends), 'file')} end at the same frame, {last:,}"
            message += f": outputs padded to one length, unless every recording lasts {seconds:g} s"
            yield finding(first.part.file.path, message)


#: The share of rows after the last label above which unlabelled sounds at the end no longer explain them.
FEW_BEHIND = 0.1
#: This many files of one length are not a coincidence.
ALIKE = 5
#: Seconds of the recordings of 2019 to 2021 and of synthetic ones, which all have the same length.
SHORT = 60


#: Of the files that :func:`all_empty` compares: the label frames up to the last label of a clip, and the rows that half
#: of the others have. In shorter clips, a single event that was not detected is an empty file.
_LONG, _MANY_ROWS = 300, 100


def all_empty(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    parts = [part for _, part in collection.parts]
    if len(parts) > 1 and not any(part.rows or part.file.data.strip() for part in parts):
        yield finding(collection.path, f"all {len(parts)} files are empty")
        return
    # many empty files for clips with events, next to full ones
    parts = [part for part in parts if collection.labelled.get(part.origin.clip, 0) >= _LONG]
    empty = sorted(part.origin.clip for part in parts if not part.rows and not part.file.data.strip())
    rows = np.array([part.rows for part in parts if part.rows])
    if len(empty) < max(ALIKE, len(parts) / 10) or len(rows) < ALIKE or (median := np.median(rows)) < _MANY_ROWS:
        return
    nearly = int(np.count_nonzero(rows < median / 4))
    if 10 * nearly <= len(rows) and 2 * nearly <= len(empty):
        message = f"{len(empty):,} of {plural(len(parts), 'file')} are empty, although the reference has events in "
        message += f"their clips: {listed([printable(clip) for clip in empty], 3)}; the others have {median:,.0f} rows "
        message += f"(median), and {nearly or 'none'} of them less than a quarter of that"
        hint = "check that the system read these recordings and ran to its end"
        yield finding(collection.path, message, hint, severity=WARNING)


def empty_file(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    if len(collection.parts) != 1:
        labels = [part for reading, part in collection.parts if reading.format.role == "label"]
        empty = [part for part in labels if not part.file.data.strip()]
        if empty and len(empty) < len(labels):
            many = f"{len(empty):,} of {plural(len(labels), 'label file')} {'is' if len(empty) == 1 else 'are'} empty"
            yield finding(empty[0].file.path, many, "that is right if nothing sounds in the clip")
        return
    ((_, part),) = collection.parts
    others = {entry.path for entry in collection.entries} - {part.file.path}
    unread = any(fault.path in others and fault.severity is ERROR for fault in collection.wrong)
    if part.rows or part.file.data.strip() or unread:
        return
    events = collection.labelled.get(part.origin.clip, 0)
    if events or part.origin.clip not in collection.expected:  # the file of a clip that was asked for is no accident
        more = ", and the reference has events in its clip" if events else ""
        yield finding(part.file.path, f"the only label file is empty{more}")


def one_file_for_all(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    if len(collection.parts) != 1 or not collection.framed:
        return
    part, frames, *_ = collection.framed[0]
    falls = np.flatnonzero((np.diff(frames) < 0) & (frames[1:] < 100))
    alone = len(collection.expected) > 1 and part.origin.clip not in collection.expected
    if alone or (len(falls) > 2 and not CLIP_NAME.fullmatch(part.origin.clip)):
        starts = f": its frame numbers start over {plural(len(falls), 'time')}" if len(falls) else ""
        yield finding(part.file.path, f"one file for all clips{starts}")


def result_twice(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    if twice := clips_of_several_folders(collection):
        folders = sorted({f"{posixpath.dirname(clip)}/" for clip in twice})
        message = f"{plural(len(twice), 'file')} in {plural(len(folders), 'folder')} with the same names: "
        message += f"{printable(min(twice))} for {printable(posixpath.basename(min(twice)))}"
        yield finding(collection.path, message, f"check one folder at a time: {listed(folders, 3)}")
    elif collection.submitted:
        files = (part.file for _, part in collection.parts)
        by_name = grouped(files, lambda file: posixpath.basename(file.name).lower())
        several = [files for files in by_name.values() if len(files) > 1]
        for first, second, *_ in several if len(several) * 2 < len(by_name) else ():
            yield finding(second.path, f"same file name as {listed([first.path])}", "keep one file per recording")
    else:
        by_clip = grouped((part for _, part in collection.parts), lambda part: part.origin.clip)
        for clip, parts in by_clip.items():
            if len(paths := sorted({part.file.path for part in parts})) > 1:
                yield finding(paths[1], f"labels of {printable(clip)}, also in {listed(paths[:1])}", "keep one of them")


def several_formats(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    tree = collection.tree
    readings = [reading for reading in collection.readings if reading.format in DIALECTS]
    read = [(reading.format.name, part.file) for reading in readings for part in reading.parts]
    labels = {  # files named after a recording of a dataset, each with whether its folder is one of labels
        place.name: place.inside and place.top is not None and place.top.field == "metadata"
        for place in tree.places
        if tree.row.counted and place.named is not None and place.named.recording in tree.row.recordings
    }
    for files in grouped(read, lambda pair: posixpath.dirname(pair[1].name)).values():
        usual, count = Counter(name for name, _ in files).most_common(1)[0]
        by_place: dict[tuple[str, bool], list[tuple[str, TextFile]]] = {}
        for name, file in files:  # labels of a recording of a dataset, by their folder, or by their name and format
            is_label = labels.get(file.name, False) or (file.name in labels and get(name, LabelFormat).role == "label")
            by_place.setdefault((name, is_label), []).append((name, file))
        for (name, is_label), pairs in by_place.items():
            if name in tree.row.dialects if is_label else name == usual or 2 * count <= len(files):
                continue
            asked = get(tree.row.dialects[0] if is_label else usual)
            others = f"labels of {tree.row.title}" if is_label else plural(len(files) - len(pairs), "other file")
            few = len(pairs) <= SINGLY
            this = "this file is" if few else f"{plural(len(pairs), 'file')} are"
            for _, file in pairs if few else pairs[:1]:
                command = conversion(file.path if few else posixpath.dirname(file.path), get(name), asked)
                yield finding(file.path, f"{this} in {layout(get(name))}, {others} in {layout(asked)}", command)


def layout(format: LabelFormat) -> str:
    """Return the name of a format with its columns."""
    return f"format {format.name} ({format.title.rpartition(': ')[2]})"


def conversion(path: str, format: LabelFormat, wanted: LabelFormat) -> str:
    """Return a hint: the command that converts files to another format, with what that loses and needs."""
    dialects = (dialect for dialect in (format, wanted) if isinstance(dialect, Dialect))
    given, asked = ([column.field for column in dialect.columns] for dialect in dialects)
    lost = ",".join(field for field in given if field not in asked)
    computed = ("azimuth", "elevation") if "x" in given else ()
    fills = [f"--fill {field}=VALUE" for field in asked if field not in (*given, *computed)]
    losses = [f"--allow-loss {lost}"] if lost else []
    options = ["--to", wanted.name, *losses, *fills, "-o NEW-FOLDER"]
    return " ".join(["to convert: seldio convert", printable(path), *options])


def labels_for_results(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    clips = {posixpath.basename(clip) for clip in collection.expected or collection.clips}
    if not clips or not all(re.fullmatch(r"mix\d{3}", clip) for clip in clips):
        return
    secret = next((row for row in DATASETS if row.secret and clips <= row.evaluation), None)
    # the formats that the challenges on the dataset take, by their years
    packages = (record["package"] for record in RECORDS if "package" in record)
    taken = years(get((secret or dataset("starss23")).dialects[0]))
    formats = [get(package["format"], LabelFormat) for package in packages if package["year"] in taken]
    for reading in collection.readings:
        format, is_label = reading.format, reading.format.role == "label"
        if not reading.table.num_rows or format not in DIALECTS or format in formats or format.name == "dcase2025":
            continue
        part = next(part for part in reading.parts if part.rows)
        folder = posixpath.basename(posixpath.dirname(part.file.path))
        wanted = next((official for official in formats if {*years(official)} & {*years(format)}), formats[0])
        message = f"these are {'labels' if is_label else 'outputs'} in {layout(format)}, not results in "
        message += f"{layout(wanted)}: {plural(len(reading.parts), 'file')}"
        hint = conversion(posixpath.dirname(part.file.path), format, wanted)
        if collection.reference is not None:
            if is_label or (secret is not None and not collection.reference.labelled):
                yield finding(part.file.path, message, hint)
            continue
        called = _RESULTS.fullmatch(folder) is not None and (is_label or "submission" in folder.lower())
        numbered = len(clips) >= NUMBERED and secret in of_dialect(format.name)
        if secret is None or "metadata" in folder.lower() or not (called or numbered) or format.role == "submission":
            continue
        message += f" called as the evaluation clips of {secret.title}, whose labels were never published"
        hint += ", or name the format if these are labels of your own"
        severity = None if called else WARNING
        yield finding(part.file.path, message, hint, severity=severity, **part.place(0, None)._asdict())


#: What folders of results are called.
_RESULTS = re.compile(r"(?i)([\w.-]*[_.-])?(submissions?|predictions?|outputs?|results?)")


def unpaired_name(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    maps = [part.file.name for reading, part in collection.parts if reading.format.name == "dcase2026"]
    outputs = [name for name in maps if not name.endswith("_std.json")]
    names = [name for name in outputs if name.endswith("_inference.json")]
    if names:
        some_left = len(names) < len(outputs)
        message = f"{plural(len(names), 'file')} called X_inference.json: {listed(names, 3)}"
        message += "" if some_left else "; nothing else is left to score"
        yield finding(collection.path, message, severity=WARNING if some_left else ERROR)


def missing_number(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    # the numbers of clips, by the text before and after them in the names and by their number of digits
    series: dict[tuple[str, int, str], set[int]] = {}
    for clip in collection.clips if collection.reference is None else ():
        match = _NUMBERED_NAME.fullmatch(clip)
        if match is not None and not _DEVELOPMENT.search(clip):
            series.setdefault((match[1], len(match[2]), match[3]), set()).add(int(match[2]))
    for (before, digits, behind), numbers in sorted(series.items()):
        count = max(numbers) + 1 - min(numbers) - len(numbers)
        if len(numbers) < NUMBERED or not 0 < count <= max(1, len(numbers) // 20):
            continue
        missing = sorted(set(range(min(numbers), max(numbers))) - numbers)
        names = [f"{before}{number:0{digits}}{behind}" for number in (*missing, min(numbers), max(numbers))]
        message = f"no {listed(names[:-2])} among {plural(len(numbers), 'file')} from {names[-2]} to {names[-1]}"
        hint = f"--reference {names[-2]}..{names[-1]} checks that none is missing"
        yield finding(collection.path, printable(message), hint)


_NUMBERED_NAME = re.compile(r"(.*?)(\d{1,9})(\D*)", re.ASCII | re.DOTALL)
#: Fewer files than this may well be a selection.
NUMBERED = 10


SUBMISSION_RULES = (
    uneven_depth,
    same_content,
    finer_frames,
    frame_past_end,
    padded_output,
    all_empty,
    empty_file,
    one_file_for_all,
    result_twice,
    several_formats,
    labels_for_results,
    unpaired_name,
    missing_number,
)
