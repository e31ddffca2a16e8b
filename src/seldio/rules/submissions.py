"""SUB1: a submission as a whole."""

from __future__ import annotations

import dataclasses
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from seldio.clock import HOP
from seldio.files import Entry
from seldio.findings import SINGLY, Finding
from seldio.formats.base import FileRows, Ints, LabelReading
from seldio.formats.recognise import stem_of
from seldio.rules.clip_names import CLIP_NAME, RECORDING, explained, misspelt
from seldio.rules.collection import Collection, Found
from seldio.rules.file_sets import dense
from seldio.rules.registry import ERROR, INFO, WARNING, rule
from seldio.schema.arrays import to_numpy
from seldio.text import listed, plural, printable

#: The clips of STARSS without the zeros of their numbers.
_MEDIA = re.compile(r"(?i)\.(wav|flac|ogg|mp3|mp4|aac)$")
_PADLESS = re.compile(r"^(?P<start>(?:fold[0-9]+_room[0-9]+_)?mix)(?P<number>[0-9]{1,2})$")


@rule("SUB101", ERROR)
def missing_clip(collection: Collection, found: Found) -> Iterator[Finding]:
    """Clip of the reference without a result file.

    Every recording needs a file; an empty one means that nothing was detected. The official scorer loops over the
    files it finds and leaves the missing ones out, so the score comes out too high. The organisers' own checks
    require every recording.

    Example:
        mix001.csv … mix078.csv, and no mix079.csv

    Fix:
        Write an empty file for a recording without detections.

    Reference: seld-dcase2023, cls_compute_seld_results.py: the loop is over the predicted files.
    """
    if collection.reference is not None:
        source = printable(collection.reference.path)
        missing = sorted({*collection.reference.clips} - {*collection.clips} - {*explained(collection).missing})
        if _strange(collection):  # said of the files
            return
        if unread := _unread(collection, missing):
            count = "1 file is" if len(unread) == 1 else f"{len(unread):,} files are"
            paths = set(unread.values())
            why = (one for one in collection.wrong if one.path in paths and one.severity is ERROR)
            first = next(why, None)
            message = f"{count} there, but {'is' if len(unread) == 1 else 'are'} not read as labels: "
            message += printable(min(paths)) if first is None else first.message
            yield found(collection.path, message, "put that right first: each clip needs a file that can be read")
            missing = [clip for clip in missing if clip not in unread]
        if len(missing) > SINGLY:
            message = f"no result file for {len(missing):,} of {plural(len(collection.expected), 'clip')}: "
            needed = f"{source} requires a file for each of its clips; leave it empty if nothing was detected"
            yield found(collection.path, message + listed([printable(clip) for clip in missing], 3), needed)
            return
        for clip in missing:
            wanted = f"{printable(clip)}.csv" if len(missing) == 1 else "a file for each of its clips"
            hint = f"{source} requires {wanted}; leave it empty if nothing was detected" if clip == missing[0] else None
            yield found(collection.path, f"no result file for {printable(clip)}", hint)  # the hint once for all


@rule("SUB102", ERROR)
def surplus_clip(collection: Collection, found: Found) -> Iterator[Finding]:
    """Result file for a clip that the reference does not have.

    The official scorer fails with a KeyError at a file without a reference.

    Example:
        mix080.csv, where the evaluation set ends with mix079

    Fix:
        Remove the file, or give it the name of its recording.

    Reference: seld-dcase2023, cls_compute_seld_results.py.
    """
    if collection.reference is not None:
        known = {*collection.reference.clips, *explained(collection).surplus}
        where, hint = printable(collection.reference.path), "name result files like the recordings, with .csv"
        surplus = sorted(clip for clip in collection.clips if clip not in known)
        if len(surplus) > SINGLY:
            message = f"{len(surplus):,} of {plural(len(collection.clips), 'file')} are not of a clip of {where}: "
            message += listed([printable(clip) for clip in surplus], 3)
            if _strange(collection):
                message += f"; its clips are {listed([printable(clip) for clip in sorted(collection.expected)], 2)}"
            yield found(collection.path, message, hint)
            return
        for clip in surplus:
            yield found(collection.clips[clip], f"{printable(clip)} is not a clip of {where}", hint)


def _unread(collection: Collection, missing: Iterable[str]) -> dict[str, str]:
    """Clips whose files are there, and were not read: their paths."""
    read = {part.file.path for _, part in collection.parts}
    left = {stem_of(posixpath.basename(entry.name)): entry.path for entry in collection.entries
            if entry.path not in read and not _MEDIA.search(entry.name)}  # fmt: skip
    stems = {clip: posixpath.basename(clip) for clip in missing}
    return {clip: left[stem] for clip, stem in stems.items() if stem in left}


def _strange(collection: Collection) -> bool:
    """Whether none of many files is of a clip of the reference, and nothing explains it."""
    every = {*collection.clips}
    return len(every - {*explained(collection).surplus}) > SINGLY and not every & {*collection.expected}


@rule("SUB110", ERROR)
def misspelt_clip(collection: Collection, found: Found) -> Iterator[Finding]:
    """Result file whose name almost matches its recording.

    The name differs from a clip of the reference only in letter case, leading zeros of a number, or the suffix of
    the recording. Programs compare names exactly: the file belongs to no recording, and the recording has no
    file.

    Example:
        mix1.csv, MIX001.csv or mix001.wav.csv, where the recording is mix001.wav

    Fix:
        Rename the file.

    Reference: seld-dcase2023, cls_compute_seld_results.py: files are found by name.
    """
    spelled = sorted(misspelt(collection).items())
    for number, (clip, meant) in enumerate(spelled if len(spelled) <= SINGLY else spelled[:1]):
        message = f"{printable(clip)} is spelled differently from its recording, {printable(meant)}"
        if number == 0 and len(spelled) > SINGLY:
            message = f"{len(spelled):,} files are spelled differently from their recordings: {printable(clip)} for "
            message += printable(meant)
        yield found(collection.clips[clip], message, f"rename it: {meant}.csv")


@rule("SUB103", WARNING)
def result_name(collection: Collection, found: Found) -> Iterator[Finding]:
    """File name unlike those of the other result files.

    Each result file has the name of its recording. Scripts that read the whole folder treat a differently named
    file (a copy, a backup, a summary) as one more recording. A name that keeps the suffix of the recording
    (mix001.wav.csv), has too few zeros (mix1.csv) or capitals (MIX001.csv) matches no recording.

    Example:
        mix001.csv, mix002.csv, mix002 (copy).csv

    Fix:
        Remove it or rename it.

    Reference: DCASE 2023 Task 3, Submission.
    """
    folders: dict[str, dict[str, str]] = {}
    for clip, path in sorted(collection.clips.items()) if collection.reference is None else ():
        folders.setdefault(posixpath.dirname(path), {})[clip.rsplit("/", 1)[-1]] = path
    for clips in folders.values():
        near = [(clip, meant) for clip in clips if (meant := _as_recording(clip, collection.submitted)) != clip]
        if near:
            count, (spelt, meant) = plural(len(near), "file"), near[0]
            verb = "is" if len(near) == 1 else "are"
            yield found(clips[spelt], f"{count} {verb} almost named like a recording: "
                        f"{printable(spelt)} for {printable(meant)}",
                        f"name each result file like its recording: {meant}.csv")  # fmt: skip
            continue
        odd = [clip for clip in clips if not CLIP_NAME.fullmatch(clip)]
        for clip in odd if 2 * len(odd) < len(clips) else ():
            others = plural(len(clips) - len(odd), "other clip")
            yield found(clips[clip], f"{printable(clip)} is not named like the {others} in its folder",
                        "name each result file like its recording: mix001.csv")  # fmt: skip


def _as_recording(clip: str, submitted: bool) -> str:
    """A clip's name as that of a recording: without its suffix and, for a submission, in the datasets' spelling."""
    name = RECORDING.sub("", clip)
    padded = _PADLESS.sub(lambda match: f"{match['start']}{match['number']:0>3}", name.lower())
    return padded if submitted and CLIP_NAME.fullmatch(padded) else name


@rule("SUB104", ERROR)
def frame_past_end(collection: Collection, found: Found) -> Iterator[Finding]:
    """Frames past the end of the recording.

    A clip of 60 s has frames 0 to 599. Baselines pad all clips to the longest one, so their outputs continue past
    the end; the official scorers ignore such rows or count them as false alarms, depending on where in the last
    second they are.

    Example:
        frame 600 in a clip of 60 s

    Fix:
        Cut the output at the length of the recording before writing.

    Reference: seld-dcase2023, train_seldnet.py pads; 7 to 35 of 54 real files continue past the last label.
    """
    for reading, part, frames in _framed(collection) if dense(collection) is None else ():
        hop = reading.format.hop
        length = collection.expected.get(part.origin.clip)  # in frames of 100 ms
        limit = int(length * HOP / hop) if length is not None else reading.format.clip_frames
        if limit is not None:
            beyond = np.flatnonzero(frames >= limit)
            if len(beyond):
                place = part.place(int(beyond[0]), "frame")
                end = f"{limit:,} frames, {float(limit * hop):g} s"
                count = plural(len(beyond), "row")
                yield found(part.file.path,
                            f"frame {place.value} is past the end of the clip ({end}); {count} in total",
                            "cut the output at the length of the recording",
                            place.line, place.column, place.value, place.excerpt)  # fmt: skip


def _framed(collection: Collection) -> Iterator[tuple[LabelReading, FileRows, Ints]]:
    """The label files that have rows with frames, with their readings and frames."""
    for reading in collection.readings:
        if "frame" in reading.table.column_names:
            frames = to_numpy(reading.table["frame"])
            for part in reading.parts:
                if part.rows:
                    yield reading, part, frames[part.first : part.first + part.rows]


@rule("SUB112", WARNING)
def padded_output(collection: Collection, found: Found) -> Iterator[Finding]:
    """Many rows after the last label, or outputs that all end at the same frame.

    Systems that pad every recording to the longest one also write detections for the padding. Where the lengths
    of the recordings are unknown, there are two signs: many rows after the last label of their clip in a
    reference of labels and, without a reference, most files ending at exactly the same frame. Scorers that count
    all frames treat such rows as false alarms: a real system with 118,585 of 183,722 rows after the last label
    got an error rate of 1.715, where cutting at the end gives 0.700.

    Example:
        41 of 78 files end at frame 5,699

    Fix:
        Cut the output of each clip at the length of its recording. ``--reference FOLDER`` with the recordings
        shows which rows are past the end (SUB104).

    Reference: seld-dcase2023, train_seldnet.py pads.
    """
    if not collection.submitted or dense(collection) is not None:
        return
    reference = collection.reference
    ends = list(_ends(collection))
    rows, behind = sum(end.part.rows for end in ends), sum(end.behind for end in ends)
    hint = "cut the output at the length of each recording; --reference with the recordings lists the rows past the end"
    if reference is not None and behind > FEW_BEHIND * rows:
        worst = max(ends, key=lambda end: end.behind)
        message = f"{behind:,} of {plural(rows, 'row')} come after the last label of their clip in "
        yield found(worst.part.file.path, f"{message}{printable(reference.path)}: padding or false alarms", hint)
    elif reference is None and len(ends) >= ALIKE:
        last, files = Counter(end.last for end in ends).most_common(1)[0]
        first = next(end for end in ends if end.last == last)
        seconds = float((last + 1) * first.hop)
        if 2 * files > len(ends) and seconds > SHORT:
            message = f"{files:,} of {plural(len(ends), 'file')} end at the same frame, {last:,}"
            message += f": outputs padded to one length, unless every recording lasts {seconds:g} s"
            yield found(first.part.file.path, message, hint)


class _End(NamedTuple):
    """Where the output of a clip ends: its last frame, and its rows after the last label of the reference."""

    part: FileRows
    last: int
    behind: int
    hop: Fraction


def _ends(collection: Collection) -> Iterator[_End]:
    """The ends of all clips whose recordings have no known length."""
    reference = collection.reference
    for reading, part, frames in _framed(collection):
        clip, hop = part.origin.clip, reading.format.hop
        if reading.format.clip_frames is None and collection.expected.get(clip) is None:
            labelled = reference.labelled.get(clip) if reference is not None else None
            behind = 0 if labelled is None else int(np.count_nonzero(frames >= int(labelled * HOP / hop)))
            yield _End(part, int(frames.max()), behind, hop)


#: The share of rows after the last label above which unlabelled sounds at the end no longer explain them.
FEW_BEHIND = 0.1
#: This many files of one length are not a coincidence.
ALIKE = 5
#: Seconds of the recordings of 2019 to 2021 and of synthetic ones, which all have the same length.
SHORT = 60


@rule("SUB105", ERROR)
def all_empty(collection: Collection, found: Found) -> Iterator[Finding]:
    """All result files are empty.

    An empty file is legal: nothing was detected in that recording. If nothing was detected in any recording, the
    system did not run, or its threshold is never reached.

    Example:
        79 files of 0 bytes

    Fix:
        Look at the activities before the threshold.

    Reference: 49 of 100 real files of a weak 2020 baseline are empty, never all of them.
    """
    parts = collection.parts
    if len(parts) > 1 and not any(part.rows or part.file.data.strip() for _, part in parts):
        hint = "check that the system ran, and that its threshold is right"
        yield found(collection.path, f"all {len(parts)} files are empty", hint)


#: Of the files that :func:`many_empty` looks at: the label frames up to the last label of a clip, and the rows that
#: half of the others have. In shorter clips, a single event that was not detected is an empty file.
_LONG, _MANY_ROWS = 300, 100


@rule("SUB121", WARNING)
def many_empty(collection: Collection, found: Found) -> Iterator[Finding]:
    """Many empty files for clips with events, next to full ones.

    A weak system detects a lot in some recordings, little in others and nothing in a few. Where a tenth of the
    files or more are empty, the reference has events in their clips, and hardly any other file is nearly empty,
    something else seems to have emptied them: recordings that could not be read, a run that was stopped, or a
    disk that was full. Only clips with labels up to 30 s or later are looked at.

    Example:
        20 of 54 files of 0 bytes, and 300 rows or more in each of the others

    Fix:
        Run the system on these recordings again.

    Reference: where a weak 2020 baseline left 49 of 100 real files empty, 12 of the other 51 are nearly empty.
    """
    labelled = collection.reference.labelled if collection.reference is not None else {}
    parts = [part for _, part in collection.parts if labelled.get(part.origin.clip, 0) >= _LONG]
    empty = sorted(part.origin.clip for part in parts if not part.rows and not part.file.data.strip())
    rows = np.array([part.rows for part in parts if part.rows])
    if len(empty) < max(ALIKE, len(parts) / 10) or len(rows) < ALIKE or (median := np.median(rows)) < _MANY_ROWS:
        return
    nearly = int(np.count_nonzero(rows < median / 4))
    if 10 * nearly <= len(rows) and 2 * nearly <= len(empty):
        message = f"{len(empty):,} of {plural(len(parts), 'file')} are empty, although the reference has events in "
        message += f"their clips: {listed([printable(clip) for clip in empty], 3)}; the others have {median:,.0f} rows "
        message += f"(median), and {nearly or 'none'} of them less than a quarter of that"
        yield found(collection.path, message, "check that the system read these recordings and ran to its end")


@rule("SUB106", ERROR)
def one_file_for_all(collection: Collection, found: Found) -> Iterator[Finding]:
    """One file for all clips.

    Results are one file per recording. In a single file whose frame numbers start over again and again, it is
    unknown which recording a row belongs to.

    Example:
        submission.csv with frames 0 … 599, 0 … 599, 0 … 599

    Fix:
        Write one file per recording, with the recording's name.

    Reference: DCASE 2023 Task 3, "collected in individual CSV files".
    """
    parts = collection.parts
    if len(parts) != 1 or not parts[0][1].rows or "frame" not in parts[0][0].table.column_names:
        return
    reading, part = parts[0]
    frames = to_numpy(reading.table["frame"])
    falls = np.flatnonzero((np.diff(frames) < 0) & (frames[1:] < 100))
    alone = len(collection.expected) > 1 and part.origin.clip not in collection.expected
    if alone or (len(falls) > 2 and not CLIP_NAME.fullmatch(part.origin.clip)):
        starts = f": its frame numbers start over {plural(len(falls), 'time')}" if len(falls) else ""
        hint = "write one file per recording"
        yield found(part.file.path, f"one file for all clips{starts}", hint)


@rule("SUB107", ERROR)
def result_twice(collection: Collection, found: Found) -> Iterator[Finding]:
    """Two files for the same clip.

    Scripts that index by file name keep one of them, whichever comes last.

    Example:
        run1/mix001.csv and run2/mix001.csv in one submission

    Fix:
        Keep each system in its own folder; validate the folders one by one.

    Reference: the official loaders index clips by file name.
    """
    if not collection.submitted:
        return
    by_name: dict[str, list[str]] = {}
    for _, part in collection.parts:
        by_name.setdefault(part.file.name.rsplit("/", 1)[-1].lower(), []).append(part.file.path)
    twice = [paths for paths in by_name.values() if len(paths) > 1]
    if len(twice) * 2 < len(by_name):
        for paths in twice:
            message = f"same file name as {listed(paths[:1])}"
            yield found(paths[1], message, "keep one file per recording")


@rule("SUB108", ERROR)
def several_formats(collection: Collection, found: Found) -> Iterator[Finding]:
    """Files in different layouts in one submission.

    Most files of a folder have one layout and a few another. A scorer reads all of them the same way, and
    misreads the few. Separate folders may belong to different systems, each with its own layout.

    Example:
        78 files with 5 columns and one with 6

    Fix:
        Write all files with the same program.

    Reference: the official 2024 loader decides by the columns of the last row of each file.
    """
    if not collection.submitted:
        return
    folders: dict[str, dict[str, list[str]]] = {}
    for reading, part in collection.parts:
        layouts = folders.setdefault(posixpath.dirname(part.file.name), {})
        layouts.setdefault(reading.format.name, []).append(part.file.path)
    for layouts in folders.values():
        usual = max(layouts, key=lambda name: len(layouts[name]))
        others = plural(len(layouts.pop(usual)), "other file")
        for name, paths in layouts.items():
            few = len(paths) <= SINGLY
            this = "this file is" if few else f"{plural(len(paths), 'file')} are"
            for path in paths if few else paths[:1]:
                message = f"{this} in layout {name}, {others} of the submission in {usual}"
                yield found(path, message, "write all files in one layout")


@rule("SUB109", ERROR)
def labels_for_results(collection: Collection, found: Found) -> Iterator[Finding]:
    """Labels where the results of an evaluation set are expected.

    The reference lists the clips of an evaluation set (mix001 and so on), but the files have the columns of
    labels: a source, perhaps a distance. A submission has neither.

    Example:
        seldio validate labels/ --reference mix001..mix079, with rows like 10,1,1,-50,30,181

    Fix:
        ``seldio convert FOLDER --to dcase2023-submission --allow-loss source,distance``

    Reference: DCASE 2023 Task 3, Submission.
    """
    if not collection.expected or not all(re.fullmatch(r"mix\d{3}", clip) for clip in collection.expected):
        return
    for reading in collection.readings:
        if reading.format.role == "label" and reading.format.name != "dcase2025" and reading.table.num_rows:
            count = plural(len(reading.parts), "file")
            message = f"these are labels ({reading.format.name}), not results: {count}"
            yield found(reading.parts[0].file.path, message, "submissions have no source column; convert the files")


#: Bytes of a file of predictions from which on the program of 2026 ends with an error.
_LARGEST_2026 = 20 << 20


@rule("SUB113", WARNING)
def large_file(collection: Collection, found: Found) -> Iterator[Finding]:
    """File of energy maps over 20 MiB.

    The official program of 2026 ends with an error at the first file of predictions over 20 MiB, without a
    score for any clip. Maps with a point for each pixel reach 370 MB for a recording.

    Example:
        mix001.json with 25 MiB

    Fix:
        Write fewer points: those at the outline and the peak of a map, with three decimals, and without
        indentation.

    Reference: DCASE2026_Task3_SAISELD_baseline at d4df662, evaluate.py, MAX_JSON_BYTES.
    """
    for path, entry in _maps(collection):
        if entry.size > _LARGEST_2026:
            message = f"{entry.size / (1 << 20):.1f} MiB, over the limit of {_LARGEST_2026 >> 20} MiB"
            yield found(path, message, "the official program ends there, without a score for any clip")


def _maps(collection: Collection) -> Iterator[tuple[str, Entry]]:
    """The files of energy maps that are predictions, by their names: all but ``X_std.json``."""
    wanted = {part.file.path for reading, part in collection.parts if reading.format.name == "dcase2026"}
    for entry in collection.entries:
        if entry.path in wanted and not entry.name.endswith("_std.json"):
            yield entry.path, entry


@rule("SUB114", WARNING)
def unpaired_name(collection: Collection, found: Found) -> Iterator[Finding]:
    """File of energy maps that the official program does not pair with its labels.

    Since 18 May the program of 2026 looks for the labels of ``X.json`` in ``X_std.json``. The inference script
    of the baseline and the program of 2 April call predictions ``X_inference.json``: they are left out without
    an error.

    Example:
        fold4_room23_mix001_inference.json, for which it looks for fold4_room23_mix001_inference_std.json

    Fix:
        Call the file as the recording: fold4_room23_mix001.json.

    Reference: DCASE2026_Task3_SAISELD_baseline at d4df662, evaluate.py, find_gt_json.
    """
    names = [entry.name for _, entry in _maps(collection) if entry.name.endswith("_inference.json")]
    if names:
        message = f"{plural(len(names), 'file')} called X_inference.json: {listed(names, 3)}"
        yield found(collection.path, message, "call them X.json: the program looks for labels in X_std.json")


@rule("SUB111", INFO)
def missing_number(collection: Collection, found: Found) -> Iterator[Finding]:
    """Gap in the numbering of files.

    The file names are numbered from the first to the last, and a few in between are missing. This happens when a
    file was not copied, or a system wrote nothing for a recording: the official scorers leave a clip without a
    file out of the score, whereas an empty file means that nothing was detected.

    Nothing is reported where a reference lists the clips (SUB101 covers that), or for STARSS recordings, whose
    own numbering has gaps.

    Example:
        mix001.csv … mix078.csv, and no mix041.csv

    Fix:
        Add the file, empty if nothing was detected; ``--reference mix001..mix078`` makes a missing file an error.

    Reference: seld-dcase2023, cls_compute_seld_results.py: the loop is over the existing files.
    """
    if collection.reference is not None:
        return
    for (before, digits, behind), numbers in sorted(_numbered(collection.clips).items()):
        missing = sorted(set(range(min(numbers), max(numbers) + 1)) - numbers)
        if len(numbers) < NUMBERED or not 0 < len(missing) <= max(1, len(numbers) // 20):
            continue
        names = [f"{before}{number:0{digits}}{behind}" for number in (*missing, min(numbers), max(numbers))]
        message = f"no {listed(names[:-2])} among {plural(len(numbers), 'file')} from {names[-2]} to {names[-1]}"
        yield found(
            collection.path, printable(message), f"--reference {names[-2]}..{names[-1]} checks that none is missing"
        )


def _numbered(clips: Iterable[str]) -> dict[tuple[str, int, str], set[int]]:
    """The numbers of clips, by the text before and after them in the names and by their number of digits."""
    groups: dict[tuple[str, int, str], set[int]] = {}
    for clip in clips:
        match = _NUMBER.fullmatch(clip)
        if match is not None and not _STARSS.search(clip):
            groups.setdefault((match[1], len(match[2]), match[3]), set()).add(int(match[2]))
    return groups


_NUMBER = re.compile(r"(.*?)(\d{1,9})(\D*)", re.ASCII | re.DOTALL)
_STARSS = re.compile(r"fold\d+_room\d+_mix\d+", re.ASCII | re.IGNORECASE)
#: Fewer files than this may well be a selection.
NUMBERED = 10


@dataclasses.dataclass(frozen=True)
class Misfit:
    """Predictions that fit the labels of a reference badly, and much better with a change."""

    path: str  # of the predictions
    causes: tuple[str, ...]  # each with its evidence


@rule("SUB120", WARNING)
def probable_cause(misfit: Misfit, found: Found) -> Iterator[Finding]:
    """Predictions that fit the reference much better with a change.

    The usual mistakes are undone on a sample, and what is well placed is counted again: azimuths mirrored or
    turned, elevations negated or measured from the zenith, x, y, z in another order or with other signs, classes
    off by one or in another order, files with the names of other clips, a shift in time. The whole set is tried,
    then each room and each clip. What helps much for several sources in several clips is named, with the F-score
    before and after, as ``seldio score`` does; predictions and labels may either be wrong.

    Example:
        with the azimuth mirrored F would be 29.7 % in room 10, not 9.8 %

    Fix:
        Undo the mistake where it is made, in the predictions or in the labels.

    Reference: silent on two real systems and their halves, with noise up to chance, and with files emptied.
    """
    for cause in misfit.causes:
        yield found(misfit.path, cause, "check where directions, classes and names of files come from")
