"""LAB3: well-formed files that mean something else, detected from all files of a dataset together.

Where a misreading explains the values of a column, rules for single rows do not report them again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from seldio.findings import Finding
from seldio.formats.base import Ints
from seldio.formats.datasets import ABOUT, DatasetSpec, counted
from seldio.formats.detect import Candidate, detect, judge, means_the_same
from seldio.formats.dialects import DIALECTS
from seldio.rules.profiles import NEAR, Profile
from seldio.rules.registry import ERROR, INFO, WARNING, rule
from seldio.text import plural
from seldio.vocabularies import vocabulary

if TYPE_CHECKING:
    from seldio.rules.collection import Found

#: Fewer rows than this prove nothing about a file as a whole.
ENOUGH = 10
#: Points by which the content must contradict the format that the user chose.
CONTRADICTED = 4.0
#: The columns whose values show that a format is wrong.
_STRAYS = ("source", "elevation", "distance", "x")
#: No vector of real outputs is longer.
LONGEST_VECTOR = 1.65
#: Degrees that no set of elevations stays within, above and below the horizon.
LOWEST = 10
#: Radians that the azimuths of a set reach; whoever stands in front within three degrees does not.
BEHIND = 2.8
#: Metres within which no file of a set has all of its sources.
NEAREST = 0.1
#: Metres that the farthest source of a set is within, in every room of the datasets: another unit is outside.
ROOM = (1.5, 10)
#: What to say where it is not.
UNLIKELY = "not repaired, as the distances would be none of a room, or may be in yet another unit"
#: The longest STARSS recording lasts 9 minutes (5,400 frames); baselines pad to more, up to 6,400 in real outputs.
LONGEST = 8000
#: So many changes between frames, in so many files, and this share of them on every 2nd or 5th frame are no chance: in
#: real sets it is 0.5 and 0.2 to 0.35.
CHANGES, CHANGED_FILES, ALIGNED = 300, 3, 0.95


@rule("LAB309", ERROR)
def label_as_submission(files: Profile, found: Found) -> Iterator[Finding]:
    """Label file read as a submission."""
    best = _contradicted(files)
    if best is not None and files.format.role == "submission" and best.format.role == "label":
        yield _instead(files, found, best, "this is a label file, not a submission")


@rule("LAB312", ERROR)
def another_format(files: Profile, found: Found) -> Iterator[Finding]:
    """Format that does not fit, although another one with as many columns does."""
    best = _contradicted(files)
    if best is not None and not (files.format.role == "submission" and best.format.role == "label"):
        yield _instead(files, found, best, f"this is not a {files.format.name} file")


def _contradicted(files: Profile) -> Candidate | None:
    """The format that the content suggests, where it contradicts the one that the user chose."""
    if not files.named or files.dialect is None:
        return None
    # many impossible values in a column; a few wrong ones do not make it a different format
    if all(files.number(f"{name}.strays").sum() < max(3, files.total // 20) for name in _STRAYS):
        return None
    detection = detect(files.texts())
    own = judge(files.dialect, detection.sample)
    best = detection.candidates[0] if detection.format is not None else None
    if best is None or best.points < own.points + CONTRADICTED or means_the_same(best.format, files.dialect):
        return None
    return best


def _instead(files: Profile, found: Found, best: Candidate, message: str) -> Finding:
    files.foreign = True
    seems = f"it looks like {best.format.name}: {', '.join(best.evidence)}"
    return found(0, 0, None, f"{message}; {seems}", f"use --format {best.format.name}")


@rule("LAB315", ERROR, needs="frame azimuth", lacks="class_name", explains="SUB116")
def nothing_but_zeros(files: Profile, found: Found) -> Iterator[Finding]:
    """Rows that contain only zeros."""
    if files.dialect is None:
        return
    fields = [part.field for part in files.dialect.columns if part.field in files.fields and part.kind != "flag"]
    empty = files.number("zeros").astype(bool)
    for index in files.explain(empty & (files.rows >= 2), *fields):
        yield found(index, 0, None, f"every cell in {plural(int(files.rows[index]), 'row')} is 0",
                    "leave out rows in which nothing was detected")  # fmt: skip
    angles = [files.reach(field) for field in ("azimuth", "elevation") if field in files.fields]
    ahead = not any(reach.any() for reach in angles) and not empty.all() and "x" not in files.fields
    if ahead and files.total >= 3 * ENOUGH and files.low("class_id").min() < files.high("class_id").max():
        files.explain(files.every, "azimuth", "elevation")
        yield found(0, 0, "azimuth", f"azimuth and elevation are 0 in all {plural(files.total, 'row')}: nothing was "
                    "localised, or the columns were never filled", "check where the directions are lost")  # fmt: skip


@rule("LAB320", ERROR, fix="unsafe", needs="frame class_id", lacks="class_name", explains="SUB106")
def swapped_frame_and_class(files: Profile, found: Found) -> Iterator[Finding]:
    """Frame and class columns swapped."""
    classes, reach = len(vocabulary(files.format.vocabulary)), files.high("class_id")
    if files.dialect is None or files.total < ENOUGH or reach.max() < 2 * classes or files.low("frame").min() < 0:
        return
    if files.high("frame").max() >= classes or files.low("frame").min() == files.high("frame").max():
        return
    columns = [files.column(index, "class_id") for index in files.every]
    beyond = sum(np.count_nonzero(values >= classes) for values in columns)
    counted = all((np.diff(values) >= 0).all() for values in columns)
    if 2 * beyond <= files.total or not counted or max(len(np.unique(values)) for values in columns) < ENOUGH:
        return
    for index in files.explain(files.every, "frame", "class_id"):
        most = f"classes count up to {reach[index]:g} and frames only to {files.high('frame')[index]:g}"
        yield found(index, 0, "frame", f"{most}: the two columns are swapped", "frame comes before class")


@rule("LAB302", ERROR, needs="azimuth elevation distance", lacks="x")
def cartesian(files: Profile, found: Found) -> Iterator[Finding]:
    """Cartesian coordinates where angles are expected."""
    if files.dialect is None:
        return
    low, high = files.number("norm.low"), files.number("norm.high")
    for index in files.explain(~np.isnan(high), "azimuth", "elevation", "distance"):
        lengths = f"{low[index]:.2f} to {high[index]:.2f}"
        six = len(files.dialect.columns) == 6
        hint = "use --format dcase2020-output" if six else "write angles in degrees"
        yield found(index, 0, "azimuth", f"the last three columns are vectors of length {lengths}: "
                    "Cartesian coordinates, not angles and a distance", hint)  # fmt: skip


@rule("LAB301", ERROR, fix="unsafe", needs="azimuth elevation", lacks="x")
def radians(files: Profile, found: Found) -> Iterator[Finding]:
    """Angles in radians."""
    certain, _ = _radians(files)
    for index in files.explain(certain, "azimuth", "elevation"):
        peaks = [float(files.reach(field)[index]) for field in ("azimuth", "elevation")]
        one = found(index, 0, "azimuth", f"azimuths stay within ±{peaks[0]:.2f} and elevations within "
                    f"±{peaks[1]:.2f}: these are radians, not degrees", "multiply by 180/π")  # fmt: skip
        yield one if files.reach("azimuth")[certain].max() > BEHIND else dataclasses.replace(one, fixable=False)


@rule("LAB313", WARNING, needs="azimuth elevation", lacks="x")
def probably_radians(files: Profile, found: Found) -> Iterator[Finding]:
    """Angles that look like radians, in too few rows to be certain."""
    _, likely = _radians(files)
    count = int(files.rows[likely].sum())
    why = f"only {plural(count, 'row')}" if count < ENOUGH else "all close together"
    many = f" in {plural(len(likely), 'file')}" if len(likely) > 1 else ""
    for index in files.explain(likely, "azimuth", "elevation"):
        message = "every azimuth is within ±π and every elevation within ±π/2, with decimals: probably radians; "
        yield found(index, 0, "azimuth", f"{message}{why}{many}, so not certain",
                    "if so, multiply by 180/π; do not round before you know")  # fmt: skip


def _radians(files: Profile) -> tuple[list[int], list[int]]:
    """The files that hold radians for certain, and those that probably do; all files count together."""
    low, high, small = files.low("azimuth"), files.high("azimuth"), files.reach("azimuth")
    close = (small <= 3.15) & (files.reach("elevation") <= 1.58)
    decimals = files.number("angles.decimals") >= 0.8 * files.rows
    fits = np.flatnonzero(close & decimals & ~files.explained("azimuth")).tolist()
    if not fits:
        return [], []
    alone = bool(close.all())  # no file contradicts radians

    def proves(some: list[int]) -> bool:
        spread = high[some].max() - low[some].min() > 2 or (alone and len(files) > 1)
        # numbers that are no longer than the vectors of outputs may be two of their three parts
        return bool(spread and small[some].max() > LONGEST_VECTOR and files.rows[some].sum() >= ENOUGH)

    if alone or 2 * len(fits) >= len(files):
        certain = fits if proves(fits) else []
    else:
        certain = [index for index in fits if proves([index])]
    # among files in whole degrees, one with decimals is suspicious; among decimals it is a source near the front
    odd = not alone and files.number("azimuth.whole")[~close].sum() > 0.95 * files.rows[~close].sum()
    written = files.dialect is not None or files.format.role == "table"  # and not derived from an image
    doubtful = fits if written and not (certain and not alone) and (odd or alone) and small[fits].max() > 0.3 else []
    return certain, [index for index in doubtful if index not in certain]


@rule("LAB321", ERROR, needs="azimuth elevation class_id", lacks="x")
def directions_cut_off(files: Profile, found: Found) -> Iterator[Finding]:
    """Directions that were cut off to a few whole numbers."""
    small = (files.reach("azimuth") <= 3) & (files.reach("elevation") <= 2)
    whole = files.number("azimuth.whole") == files.rows
    narrow = small & whole & (files.rows >= ENOUGH) & ~files.explained("azimuth")
    low, high = files.low("azimuth"), files.high("azimuth")
    if not small.all() or len(files) < 3 or high.max() - low.min() < 3:  # a source in front, in some of the files
        classes = files.high("class_id") - files.low("class_id") >= 2
        narrow &= (high - low >= 3) & classes & (files.rows >= 3 * ENOUGH)
    for index in files.explain(narrow, "azimuth", "elevation"):
        reach = [int(files.reach(field)[index]) for field in ("azimuth", "elevation")]
        yield found(index, 0, "azimuth", f"every azimuth is a whole number within ±{reach[0]} and every elevation one "
                    f"within ±{reach[1]}: directions were lost, as int() does with radians",
                    "write them again, in degrees, from what the system put out")  # fmt: skip


@rule("LAB322", ERROR, needs="frame", explains="LAB2")
def frames_start_over(files: Profile, found: Found) -> Iterator[Finding]:
    """Rows of several clips in one file."""
    restarts = files.number("frame.restarts")
    some = np.flatnonzero(restarts).tolist()
    many = 2 * len(some) > len(files) > 2
    for index in some:
        frames = files.column(index, "frame")
        row = int(np.argmin(np.diff(frames))) + 1
        pieces = plural(int(restarts[index]) + 1, "clip")
        message = f"frame {frames[row]} comes after frame {frames[row - 1]}: the frames start over, as if rows of "
        message += f"{pieces} were in one file"
        one = found(index, row, "frame", message + (", or one clip in pieces" if many else ""),
                    "write one file for each clip; sort the rows only if it is one")  # fmt: skip
        yield dataclasses.replace(one, severity=WARNING) if many else one


@rule("LAB323", ERROR, needs="class_id source", lacks="class_name")
def swapped_class_and_source(files: Profile, found: Found) -> Iterator[Finding]:
    """Class and source columns swapped."""
    if files.dialect is None:
        return
    classes = len(vocabulary(files.format.vocabulary))
    most, sources = files.high("class_id").max(), files.high("source").max()
    if most > 0 and ("source" in files.dialect.fills or files.dialect.metre == 1):  # sources that count events
        return
    if files.total < 3 * ENOUGH or files.low("source").min() < 0 or most > classes // 3:
        return
    if 0.7 * classes <= sources < classes:
        index = int(np.argmax(files.high("source")))
        row = int(np.argmax(files.column(index, "source")))
        yield found(index, row, "source", f"sources reach {sources:g} and classes only {most:g}, of {classes}: the two "
                    "columns seem to be swapped", "class comes before source")  # fmt: skip


@rule("LAB324", ERROR, needs="frame", explains="SUB106")
def frames_jump(files: Profile, found: Found) -> Iterator[Finding]:
    """First column without frame numbers."""
    breaks = files.number("frame.breaks")
    reach = files.high("frame") - files.low("frame")
    many = (breaks >= ENOUGH) & (4 * breaks > files.rows) & (reach > 2) & (files.rows > 4 * (reach + 1))
    for index in np.flatnonzero(breaks).tolist() if len(files) > 1 and files.dialect is not None else ():
        own = max(len(np.unique(files.column(index, "frame"))), 2 * ENOUGH)  # more than there are classes
        others = [files.column(index, field) for field in ("class_id", "source") if field in files.fields]
        many[index] |= any((np.diff(one) >= 0).all() and len(np.unique(one)) > own for one in others)
    jumping = many & ~files.explained("frame")
    for index in files.explain(jumping, "frame"):
        row = int(np.argmax(np.diff(files.column(index, "frame")) < 0)) + 1
        rows = plural(int(files.rows[index]), "row")
        yield found(index, row, "frame", f"frames go back in {breaks[index]:,} of {rows}: the first column lacks "
                    "frame numbers", "write the frame number first; do not sort the rows")  # fmt: skip


@rule("LAB325", WARNING, needs="azimuth elevation class_id", lacks="x")
def no_angles(files: Profile, found: Found) -> Iterator[Finding]:
    """Angle columns that hold something else."""
    several = len(files) >= 3 or files.high("class_id").max() - files.low("class_id").min() >= 4
    if files.total < 10 * ENOUGH or not several or files.explained("azimuth").any():
        return
    whole = files.number("azimuth.whole").sum() == files.total
    low, high = files.low("azimuth").min(), files.high("azimuth").max()
    if whole and low >= -1 and high <= 15 and (low, high) != (0, 0):
        files.explain(files.every, "azimuth", "elevation")
        yield found(0, 0, "azimuth", f"azimuths are whole numbers from {low:g} to {high:g} in all "
                    f"{plural(files.total, 'row')}: these seem to be sources or tracks, and the azimuths missing",
                    "write all columns of the format")  # fmt: skip
    low, high = files.low("elevation").min(), files.high("elevation").max()
    if not whole or low < 0 or high > 15:
        return
    if all((files.column(index, "elevation") % 1 != 0).mean() > 0.8 for index in files.every):
        files.explain(files.every, "azimuth", "elevation")
        yield found(0, 0, "elevation", f"elevations are decimals from {low:g} to {high:g}, and azimuths whole "
                    "numbers: these seem to be distances in metres, and an angle missing",
                    "write all columns of the format")  # fmt: skip


@rule("LAB327", ERROR, needs="frame class_id")
def numbered_header(files: Profile, found: Found) -> Iterator[Finding]:
    """A first line that counts the columns."""
    headed = np.flatnonzero(files.number("counted")).tolist()
    if not headed or files.dialect is None:
        return
    count = len(files.dialect.columns)
    line = f"{','.join(map(str, range(count)))}: these are the numbers of the columns, as pandas writes them"
    hint = "remove it, or write the files with header=False"
    if len(headed) == len(files) >= 3:
        yield found(0, 0, "frame", f"the first line of each of {plural(len(files), 'file')} is {line}, and no event",
                    hint)  # fmt: skip
        return
    named = [field for field in ("class_id", "source") if field in files.fields]
    for index in headed if count >= 5 else ():
        alike = [(column := files.column(index, field)) == column[0] for field in named]
        if files.rows[index] > ENOUGH and np.all(alike, axis=0).sum() == 1:
            yield found(index, 0, "frame", f"the first line is {line}, and nothing else in the file is of its "
                        f"{' and '.join(named).replace('_id', '')}", hint)  # fmt: skip


@rule("LAB328", INFO, needs="class_id", lacks="class_name")
def one_class(files: Profile, found: Found) -> Iterator[Finding]:
    """One class in a large set."""
    low, high, classes = files.low("class_id").min(), files.high("class_id").max(), vocabulary(files.format.vocabulary)
    if low == high and len(files) >= 2 * ENOUGH and files.total >= 100 * ENOUGH and len(classes) > 1:
        yield found(0, 0, "class_id", f"all {plural(files.total, 'row')} of {plural(len(files), 'file')} are of class "
                    f"{low:g}, one of {len(classes)}: the column may not be filled",
                    "check what wrote it, unless the set has one class only")  # fmt: skip


@rule("LAB326", WARNING, needs="distance azimuth class_id", lacks="class_name")
def same_distance(files: Profile, found: Found) -> Iterator[Finding]:
    """One distance for everything."""
    low, high = files.low("distance").min(), files.high("distance").max()
    known = files.number("distance.known").sum() or not high
    if low == high and known and files.total >= 10 * ENOUGH and len(files) >= 3:
        reach = files.high("azimuth").max() - files.low("azimuth").min()
        if reach > LOWEST and files.high("class_id").max() > files.low("class_id").min():
            rows = plural(files.total, "row")
            yield found(0, 0, "distance", f"the distance is {low:g} m in all {rows}: it was not measured, or the "
                        "column is another one", "leave it out, or write what was measured")  # fmt: skip


@rule("LAB303", ERROR, fix="unsafe", needs="azimuth")
def azimuth_0_to_360(files: Profile, found: Found) -> Iterator[Finding]:
    """Azimuths from 0 to 360."""
    low, high, beyond = files.low("azimuth"), files.high("azimuth"), files.number("azimuth.beyond")
    for index in files.explain((low >= 0) & (high > 180) & (high <= 360) & (beyond >= 2), "azimuth"):
        row = int(np.argmax(files.column(index, "azimuth") > 180))
        span = f"azimuths range from {low[index]:g} to {high[index]:g}"
        above = plural(int(beyond[index]), "row")
        yield found(index, row, "azimuth", f"{span}: they count from 0 to 360 ({above} above 180)",
                    "subtract 360 from those above 180")  # fmt: skip


def _deviation(files: Profile, field: str, some: list[int]) -> float:
    """The standard deviation of the values of some files, which are read again for it."""
    sums = np.zeros(2)
    for index in some:
        values = files.column(index, field).astype(np.float64)
        sums += values.sum(), (values**2).sum()
    mean, squares = sums / files.rows[some].sum()
    return float(np.sqrt(max(0.0, squares - mean**2)))


@rule("LAB304", ERROR, fix="unsafe", needs="azimuth elevation", lacks="x")
def swapped_angles(files: Profile, found: Found) -> Iterator[Finding]:
    """Azimuth and elevation columns swapped."""
    every = _swapped(files, list(files.every))
    for index in files.explain(files.every if every else [n for n in files.every if _swapped(files, [n])],
                               "azimuth", "elevation"):  # fmt: skip
        wide = files.reach("elevation")[list(files.every) if every else [index]].max()
        narrow = files.reach("azimuth")[list(files.every) if every else [index]].max()
        row = int(np.argmax(np.abs(files.column(index, "elevation"))))
        yield found(index, row, "elevation", f"elevations reach ±{wide:g} and azimuths only ±{narrow:g}: the two "
                    "columns are swapped", "azimuth comes before elevation")  # fmt: skip


def _swapped(files: Profile, some: list[int]) -> bool:
    """Whether elevations of some files are azimuths, and their azimuths can be elevations."""
    wide, narrow = files.reach("elevation")[some].max(), files.reach("azimuth")[some].max()
    if not 90 < wide <= 180 or narrow > 90 or files.number("elevation.strays")[some].sum() < 2:
        return False
    # source numbers, tracks and classes are small and hardly ever below 0
    if narrow < LOWEST or (files.low("azimuth")[some].min() >= -1 and narrow < 2 * LOWEST):
        return False
    return _deviation(files, "elevation", some) > 1.5 * _deviation(files, "azimuth", some)


@rule("LAB314", ERROR, needs="elevation", lacks="x")
def inclination(files: Profile, found: Found) -> Iterator[Finding]:
    """Inclinations instead of elevations."""
    low, high, median = files.low("elevation"), files.high("elevation"), files.number("elevation.median")
    fits = (low >= 0) & (high <= 180) & ~files.explained("elevation") & (median >= 45)
    proof = fits & (files.number("elevation.over") >= np.maximum(2, 0.1 * files.rows)) & (median <= 135)
    many = 2 * np.count_nonzero(proof) >= len(files)  # if most prove it, others that fit share it
    for index in files.explain(fits if proof.any() and many else proof, "elevation"):
        row = int(np.argmax(files.column(index, "elevation")))
        yield found(index, row, "elevation", f"elevations range from {low[index]:g} to {high[index]:g}: these are "
                    "angles from the zenith (inclination), or from straight below", "elevation is 90 minus an angle "
                    "from the zenith, or an angle from below minus 90: the labels do not tell which")  # fmt: skip


@rule("LAB305", ERROR, fix="unsafe", needs="class_id", lacks="class_name")
def classes_from_one(files: Profile, found: Found) -> Iterator[Finding]:
    """Classes counted from 1."""
    low, high = files.low("class_id").min(), files.high("class_id").max()
    classes, behind = len(vocabulary(files.format.vocabulary)), files.number("class_id.behind")
    if low < 1 or high != classes or behind.sum() < 3:
        return
    columns = [files.column(index, "class_id") for index in files.every]
    every = len(set().union(*(np.unique(column).tolist() for column in columns))) == classes
    if np.count_nonzero(behind) < 2 and len(np.unique(columns[int(behind.argmax())])) < classes:
        return  # in a single file, which may be of another format
    for index in files.explain(files.every, "class_id"):
        message = f"classes range from {low} to {classes}: they count from 1, not from 0"
        hint = "subtract 1 from every class" + ("" if every else ", unless the class list is longer")
        one = found(index, int(np.argmax(columns[index])), "class_id", message, hint)
        yield one if every else dataclasses.replace(one, fixable=False)


@rule("LAB306", INFO, needs="frame")
def frames_from_one(files: Profile, found: Found) -> Iterator[Finding]:
    """Frames that seem to count from 1."""
    first = files.low("frame")
    ones = int((first == 1).sum())
    if files.explained("frame").any() or first.min() < 1 or len(first) < 3 or ones < max(3, len(first) // 4):
        return
    certain = any(
        files.lengths.get(clip) == last for clip, last in zip(files.clips, files.high("frame").tolist(), strict=True)
    )
    likely = files.format.role in ("submission", "output") and ones >= 0.75 * len(first)
    if not ones or not (certain or likely):
        return
    yield found(int(np.argmax(first == 1)), 0, "frame", f"no file has a frame 0 and {ones} of "
                f"{len(first)} begin at frame 1: frames {'count' if certain else 'may count'} from 1",
                "an event at the start of a recording is in frame 0")  # fmt: skip


@rule("LAB307", WARNING, needs="frame")
def other_hop(files: Profile, found: Found) -> Iterator[Finding]:
    """Frames that are not 100 ms long."""
    if files.format.hop.denominator != 10 or files.explained("frame").any():
        return
    limit = files.format.clip_frames or 0  # 0 where the length of recordings is unknown
    last, lengths = files.high("frame"), [files.lengths.get(clip, limit) for clip in files.clips]
    coarser = _coarser(files, last, lengths)
    for index in files.every:
        step, end, length = int(files.number("frame.step")[index]), int(last[index]), lengths[index]
        if step > 1:
            counted, often = f"frames of {100 / step:g} ms were counted", f"only one frame in {step} has a row"
            divide, fill = f"divide by {step}", f"repeat each row {step} times"
            if end >= (length or LONGEST):
                why, hint = f"{counted} (they reach {end:,})", divide
            elif length:
                why, hint = f"frames of {step * 100} ms: {often}", fill
            else:
                why, hint = f"{counted}, or {often}", f"{divide}, or {fill}"
            yield found(index, 0, "frame", f"every frame number is a multiple of {step}: {why}",
                        f"{hint}: a frame lasts 100 ms")  # fmt: skip
        elif coarser > 1 and length:
            yield found(index, int(files.rows[index]) - 1, "frame", f"frames end at {end:,}, but the recording has "
                        f"{length:,}, with the same ratio in all files: frames of {100 * coarser} ms were counted",
                        f"multiply by {coarser}, and write one row for every 100 ms")  # fmt: skip
    longest = [_longest(files, clip) for clip in files.clips]
    late = [
        i for i in files.every if not lengths[i] and last[i] >= longest[i][0] and files.number("frame.step")[i] <= 1
    ]
    if late:
        worst = max(late, key=last.__getitem__)
        many = f", and {len(late):,} of {plural(len(last), 'file')} go past it" if len(late) > 1 else ""
        yield found(worst, int(files.rows[worst]) - 1, "frame", f"frames reach {int(last[worst]):,}, but the longest "
                    f"recording{longest[worst][1]}{many}: {_finer(int(last[worst]))}",
                    "divide by 10 or 5 if so: a frame lasts 100 ms")  # fmt: skip
    elif not (any(lengths) or files.ended or files.number("frame.step").max() > 1) and (evidence := _repeated(files)):
        step, aligned, changes = evidence
        message = f"{aligned:,} of {changes:,} changes between frames are on every {step}{'nd' if step == 2 else 'th'} "
        message += f"frame: frames of {100 // step} ms may have been counted, unless rows are meant to change only "
        one = found(max(files.every, key=last.__getitem__), 0, "frame", f"{message}every {100 * step} ms",
                    "pass the recordings with --reference to compare their lengths; a frame lasts 100 ms")  # fmt: skip
        yield dataclasses.replace(one, severity=INFO)


def _finer(end: int) -> str:
    """What labels that end there were counted in, where that is past their recording."""
    if end >= LONGEST:
        return "frames of 10 or 20 ms were counted"
    return "frames of less than 100 ms were counted, or recordings were joined"


def _longest(files: Profile, clip: str) -> tuple[float, str]:
    """The frame that labels end before, and what the longest recording has."""
    spec = counted(files.format.name, clip) if files.format.role == "label" else None
    known = spec.lengths(clip.rpartition("/")[2]) if spec is not None else None
    if known is None:
        return LONGEST, " has 5,400"
    split, _, high = known
    return 10 * high * (1 + ABOUT), f" of {split} has about {10 * high:,}"


def _repeated(files: Profile) -> tuple[int, int, int] | None:
    """By how much each frame seems to be repeated, 5 or 2 times; how many changes are where it says, and of how many.

    Where all are on every 10th frame, sounds may well begin and end at whole seconds.
    """
    counts = files.number("frame.changes")
    digits = counts.sum(axis=0)
    changes = int(digits.sum())
    if changes < CHANGES or np.count_nonzero(counts.sum(axis=1)) < CHANGED_FILES or digits.max() >= ALIGNED * changes:
        return None
    aligned = {step: int(digits.reshape(-1, step).sum(axis=0).max()) for step in (5, 2)}
    return next(((step, most, changes) for step, most in aligned.items() if most >= ALIGNED * changes), None)


def _coarser(files: Profile, last: Ints, lengths: list[int]) -> int:
    """The factor by which frame numbers must be multiplied, judged by recordings of known length; 1 if by none.

    Numbers that are too large by a factor are told of all files together: SUB119.
    """
    known = np.array(lengths) > 0
    # short clips, or only a few, may well have no event after their beginning
    if np.count_nonzero(known) < 3 or min(files.lengths.values(), default=0) < 300:
        return 1
    share = float(((last[known] + 1) / np.array(lengths)[known]).max())
    return next((factor for factor in (10, 5) if 0.6 < share * factor <= 1.02), 1)


@rule("LAB318", WARNING, needs="distance")
def millimetres(files: Profile, found: Found) -> Iterator[Finding]:
    """Distances in millimetres."""
    metre = files.dialect.metre if files.dialect is not None else None
    if metre is None:
        return
    known, high = files.number("distance.known").sum(), files.number("distance.most")
    usual = 2 * files.number("distance.far").sum() > known > 2 * files.number("distance.beyond").sum()
    if known < ENOUGH or not usual or np.nanmax(high) > 100_000 / metre:
        return
    unit = "centimetres" if metre == 100 else "metres"
    for index in files.explain(files.number("distance.far") > 0, "distance"):
        yield found(index, 0, "distance", f"distances reach {high[index]:g} m: these seem to be millimetres",
                    f"{files.format.name} holds {unit}; sources outdoors may be as far")  # fmt: skip


@rule("LAB308", ERROR, fix="unsafe", needs="distance")
def distance_unit(files: Profile, found: Found) -> Iterator[Finding]:
    """Metres where centimetres are expected, or the other way round."""
    metre = files.dialect.metre if files.dialect is not None else None
    if metre not in (1, 100) or files.explained("distance").any():
        return
    high = files.number("distance.most")
    if (spec := _named_otherwise(files)) is not None and np.nanmax(high) <= 40:
        message = f"{spec.title} has clips of these names, with distances in centimetres; these reach "
        one = found(0, 0, "distance", f"{message}{np.nanmax(high):g}, read as metres",
                    f"multiply by 100, or use --format {files.format.name} if they are not of it")  # fmt: skip
        yield dataclasses.replace(one, severity=WARNING, fixable=False)
        return
    # what comes out of the repair must not look wrong again
    unit, meant = ("centimetres", "metres") if metre == 100 else ("metres", "centimetres")
    suspects = (high >= 0.0025) & (high < 0.25) if metre == 100 else (high > 40) & (high <= 4000)
    few = suspects.sum() * 2 < len(high)
    if few and metre == 100:
        suspects &= high < NEAREST
    if files.rows[suspects].sum() < ENOUGH:
        return
    near = metre == 100 and np.nanmax(high) * metre <= 1
    sure = not few and _of_a_room(files, 100 if metre == 100 else 0.01)
    hint = f"{files.format.name} holds {unit}"
    for index in files.explain(suspects, "distance"):
        spec = counted(files.format.name, files.clips[index])
        message = f"distances reach {high[index] * metre:g} {unit}"
        message += f"{', unlike in other files' if few else ''}: these {'are' if sure else 'seem to be'} {meant}"
        if near:
            message += ", confidences, or shares of the longest distance"
        factor = f": {'multiply' if metre == 100 else 'divide'} by 100" if sure or spec is not None else ""
        unless = (
            f"; name the format if the labels are not of {spec.title}" if spec is not None and not files.named else ""
        )
        one = found(index, 0, "distance", message, f"{hint}{factor}{unless}" + ("" if sure or few else f"; {UNLIKELY}"))
        yield dataclasses.replace(one, fixable=sure, severity=ERROR if sure or spec is not None else WARNING)


def _of_a_room(files: Profile, factor: float) -> bool:
    """Whether distances times *factor* are those of a room; metres, of which there are 100, must have decimals."""
    low, high = files.low("distance").min(), np.nanmax(files.number("distance.most")) * factor
    if low < 0 or not ROOM[0] <= high <= ROOM[1]:
        return False
    cells = (np.round(files.column(index, "distance") * 100, 6) % 1 for index in files.every)
    decimals = sum(int(np.count_nonzero(values > 0)) for values in cells)  # of those that are known
    return factor != 100 or bool(2 * decimals > files.number("distance.known").sum())


def _named_otherwise(files: Profile) -> DatasetSpec | None:
    """The dataset whose recordings all files are named after, where its labels have these columns in another unit."""
    own = files.dialect
    if own is None or own.metre is None or files.named or own.role != "label":
        return None
    fields = [part.field for part in own.columns]
    alike = (one.name for one in DIALECTS if one.metre == 100 * own.metre and [c.field for c in one.columns] == fields)
    found = ([counted(name, clip) for clip in files.clips] for name in alike)
    return next((rows[0] for rows in found if all(rows)), None)


@rule("LAB311", WARNING, needs="azimuth")
def angles_cut_off(files: Profile, found: Found) -> Iterator[Finding]:
    """Angles truncated instead of rounded."""
    if files.dialect is None or files.dialect.kind("azimuth") != "whole":
        return
    if not files.reach("azimuth").max() < 180:
        return
    counts = files.number("azimuth.near")
    zero, near = int(counts[:, NEAR].sum()), np.delete(counts.sum(axis=0), NEAR)
    mean = near.mean()
    # the count at 0 must be about double, far beyond chance, and its neighbours similar
    if mean < 100 or not 1.6 * mean < zero < 2.5 * mean or near.max() > 1.6 * near.min():
        return
    first = int(np.argmax(counts[:, NEAR] > 0))
    row = int(np.argmax(files.column(first, "azimuth") == 0))
    yield found(first, row, "azimuth", f"azimuth 0 occurs {zero:,} times, its neighbours "
                f"{mean:,.0f} times on average, and ±180 never: angles were truncated, not rounded",
                "use round(azimuth), not int(azimuth)")  # fmt: skip


@rule("LAB319", WARNING)
def cut_short(files: Profile, found: Found) -> Iterator[Finding]:
    """Missing line ending after the last row, where the other files have one."""
    whole, cut = int(files.number("ends").sum()), np.flatnonzero(files.number("cut_off"))
    if whole >= max(2, 2 * len(cut)):
        for index in cut.tolist():
            row = int(files.rows[index]) - 1
            yield found(index, row, None, f"no line ending after the last row, unlike {plural(whole, 'other file')}: "
                        "the file may have been cut off",
                        "compare its length with that of the recording, and write it again")  # fmt: skip
