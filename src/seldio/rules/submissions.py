"""SUB1: a submission as a whole: its files and formats, and the grid of time that all count by."""

from __future__ import annotations

import dataclasses
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from seldio import plugins
from seldio.findings import SINGLY, Finding
from seldio.formats import LabelFormat, TextFile, get
from seldio.formats.base import FileRows, Ints
from seldio.formats.datasets import DATASETS, TOPS, dataset, of_dialect
from seldio.formats.detect import years
from seldio.formats.dialects import DIALECTS
from seldio.formats.label_csv import Dialect
from seldio.rules.clip_names import CLIP_NAME, clips_of_several_folders
from seldio.rules.collection import Collection, FramedClip, MakeFinding, grouped
from seldio.rules.registry import ERROR, WARNING
from seldio.schema.arrays import to_numpy
from seldio.text import listed, plural, printable

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
    severity = ERROR if collection.submitted else WARNING
    in_folders = grouped(single, lambda part: (posixpath.dirname(part.file.name), part.file.content)).values()
    if twins := [parts for parts in in_folders if len(parts) > 1]:
        pairs = [" = ".join(posixpath.basename(part.file.name) for part in parts[:2]) for parts in twins]
        message = f"{sum(map(len, twins)):,} of {plural(len(single), 'file')} have the content of another clip, "
        message += f"byte for byte: {listed(pairs, 3)}"
        yield finding(twins[0][1].file.path, message, "write them again, each from its recording", severity=severity)
    by_name = grouped(single, lambda part: (posixpath.basename(part.file.name), part.file.content)).values()
    if (twice := [parts for parts in by_name if len(parts) > 1]) and collection.submitted:
        folders = sorted({f"{posixpath.dirname(part.file.name)}/" for parts in twice for part in parts})
        message = f"{plural(len(twice), 'file')} the same, byte for byte, in {listed(folders, 3)}"
        yield finding(twice[0][1].file.path, message, "perhaps one system twice: check which outputs were meant")


# --- the grid of time ------------------------------------------------------------------------------------

#: By how much finer than label frames the grids are that are counted by mistake: those of 50, 20 and 10 ms.
FINER = (2, 5, 10)
#: How near the end of its clip the last row of a file is, with the right grid: as a share.
_NEAR = 0.8, 1.1
#: So many clips, and which share of all, have to agree; and the share of rows past the end that is more than padding or
#: false alarms.
_CLIPS, _AGREE, _BEHIND = 3, 0.8, 0.25


def finer_grid(last: Ints, length: Ints, behind: int, rows: int) -> int | None:
    """Return the factor of ``FINER`` by which frames are counted too finely, if clips agree on one.

    Args:
        last: the number of the last frame of each clip.
        length: the frames of 100 ms that its recording or labels have, 0 if unknown.
        behind: how many of all *rows* come after these ends.
        rows: how many rows there are.
    """
    usable = (length > 0) & (last >= 0)
    share = (last[usable] + 1) / length[usable]
    low, high = _NEAR
    fits = [np.count_nonzero((share >= low * factor) & (share <= high * factor)) for factor in FINER]
    best = int(np.argmax(fits))
    agree = len(share) >= _CLIPS and fits[best] >= _AGREE * len(share)
    return FINER[best] if agree and behind > _BEHIND * rows else None


def finer(clips: Sequence[FramedClip]) -> int | None:
    """Return the factor by which all files count frames too finely, by the lengths of recordings, or else by labels."""
    ended = [clip for clip in clips if clip.end]
    last = np.array([clip.frames.max() for clip in ended], dtype=np.int64)
    length = np.array([clip.end for clip in ended], dtype=np.int64)
    if len(last) > _CLIPS and len(set(last.tolist())) == 1 and len(set(length.tolist())) > 1:
        return None  # padded to one length
    behind, rows = sum(len(clip.behind) for clip in ended), sum(clip.part.rows for clip in ended)
    factor = finer_grid(last, length, behind, rows)
    more = factor is not None and np.ptp(last - length) < np.ptp(last - factor * length)  # each has as many more
    return None if more else factor


def finer_frames(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    clips = collection.framed
    if (factor := finer(clips)) is not None:
        ended = [clip for clip in clips if clip.end]
        milliseconds, rows = float(ended[-1].hop * 1000), sum(clip.part.rows for clip in ended)
        ends = {clip.sure: "recordings" if clip.sure else "labels of the reference" for clip in ended}
        end = " or ".join(ends[sure] for sure in sorted(ends, reverse=True))
        message = f"frames of {milliseconds / factor:g} ms instead of {milliseconds:g} ms: "
        message += f"{sum(len(clip.behind) for clip in ended):,} of {plural(rows, 'row')} are past the end of the {end}"
        yield finding(collection.path, message, f"divide by {factor}, and write one row for every 100 ms")


def frame_past_end(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    clips = collection.framed
    for clip in clips if finer(clips) is None else ():
        if clip.sure and clip.end is not None and len(clip.behind):
            place = clip.part.place(int(clip.behind[0]), "frame")
            end = f"{clip.end:,} frames, {float(clip.end * clip.hop):g} s"
            count = plural(len(clip.behind), "row")
            late = len(clip.behind) == clip.part.rows
            yield finding(
                clip.part.file.path,
                f"frame {place.value} is past the end of the clip ({end}); {count} in total",
                "all rows are late" if late else None,
                place.line,
                place.column,
                place.value,
                place.excerpt,
            )


def padded_output(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    clips = collection.framed if collection.submitted else []
    unknown = [clip for clip in clips if not clip.sure]
    if not unknown or finer(clips) is not None:
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


def all_empty(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    parts = collection.parts
    if len(parts) > 1 and not any(part.rows or part.file.data.strip() for _, part in parts):
        yield finding(collection.path, f"all {len(parts)} files are empty")


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


#: Of the files that :func:`many_empty` looks at: the label frames up to the last label of a clip, and the rows that
#: half of the others have. In shorter clips, a single event that was not detected is an empty file.
_LONG, _MANY_ROWS = 300, 100


def many_empty(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    parts = [part for _, part in collection.parts if collection.labelled.get(part.origin.clip, 0) >= _LONG]
    empty = sorted(part.origin.clip for part in parts if not part.rows and not part.file.data.strip())
    rows = np.array([part.rows for part in parts if part.rows])
    if len(empty) < max(ALIKE, len(parts) / 10) or len(rows) < ALIKE or (median := np.median(rows)) < _MANY_ROWS:
        return
    nearly = int(np.count_nonzero(rows < median / 4))
    if 10 * nearly <= len(rows) and 2 * nearly <= len(empty):
        message = f"{len(empty):,} of {plural(len(parts), 'file')} are empty, although the reference has events in "
        message += f"their clips: {listed([printable(clip) for clip in empty], 3)}; the others have {median:,.0f} rows "
        message += f"(median), and {nearly or 'none'} of them less than a quarter of that"
        yield finding(collection.path, message)


def one_file_for_all(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    parts = collection.parts
    if len(parts) != 1 or not parts[0][1].rows or "frame" not in parts[0][0].table.column_names:
        return
    reading, part = parts[0]
    frames = to_numpy(reading.table["frame"])
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
        by_name = grouped(
            (part.file for _, part in collection.parts), lambda file: posixpath.basename(file.name).lower()
        )
        several = [files for files in by_name.values() if len(files) > 1]
        for files in several if len(several) * 2 < len(by_name) else ():
            yield finding(files[1].path, f"same file name as {listed([files[0].path])}", "keep one file per recording")
    else:
        by_clip = grouped((part for _, part in collection.parts), lambda part: part.origin.clip)
        for clip, parts in by_clip.items():
            if len(paths := sorted({part.file.path for part in parts})) > 1:
                yield finding(paths[1], f"labels of {printable(clip)}, as {listed(paths[:1])}", "keep one of them")


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
    return " ".join(
        ["to convert: seldio convert", printable(path), "--to", wanted.name, *losses, *fills, "-o NEW-FOLDER"]
    )


def labels_for_results(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    clips = {posixpath.basename(clip) for clip in collection.expected or collection.clips}
    if not clips or not all(re.fullmatch(r"mix\d{3}", clip) for clip in clips):
        return
    secret = next((row for row in DATASETS if row.secret and clips <= row.evaluation), None)
    # the formats that the challenges on the dataset take, by their years
    packages = (record["package"] for record in plugins.datasets() if "package" in record)
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
        place = part.place(0, None)
        called_labels = finding(
            part.file.path,
            message,
            f"{hint}, or name the format if these are labels of your own",
            place.line,
            place.column,
            place.value,
            place.excerpt,
        )
        yield called_labels if called else dataclasses.replace(called_labels, severity=WARNING)


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
        match = _NUMBER.fullmatch(clip)
        if match is not None and not _STARSS.search(clip):
            series.setdefault((match[1], len(match[2]), match[3]), set()).add(int(match[2]))
    for (before, digits, behind), numbers in sorted(series.items()):
        missing = sorted(set(range(min(numbers), max(numbers) + 1)) - numbers)
        if len(numbers) < NUMBERED or not 0 < len(missing) <= max(1, len(numbers) // 20):
            continue
        names = [f"{before}{number:0{digits}}{behind}" for number in (*missing, min(numbers), max(numbers))]
        message = f"no {listed(names[:-2])} among {plural(len(numbers), 'file')} from {names[-2]} to {names[-1]}"
        yield finding(
            collection.path, printable(message), f"--reference {names[-2]}..{names[-1]} checks that none is missing"
        )


_NUMBER = re.compile(r"(.*?)(\d{1,9})(\D*)", re.ASCII | re.DOTALL)
_STARSS = re.compile(r"fold\d+_room\d+_mix\d+", re.ASCII | re.IGNORECASE)
#: Fewer files than this may well be a selection.
NUMBERED = 10


SUBMISSION_REFERENCE_RULES = (many_empty,)
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
