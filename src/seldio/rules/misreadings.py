"""LAB3: well-formed files that mean something else, as all files of a dataset together show.

Where a misreading accounts for the values of a column, rules for single rows do not report them again.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from seldio.findings import Severity
from seldio.formats.base import Ints
from seldio.formats.datasets import ABOUT, counted
from seldio.formats.detect import ENOUGH as ENOUGH_ROWS
from seldio.formats.detect import MOST, FormatFit, detect, means_the_same
from seldio.formats.label_csv import Dialect
from seldio.rules.base import Bools, Labels, RowFault, Values
from seldio.text import plural

#: Fewer rows than this prove nothing about a file as a whole.
ENOUGH = 10
#: The columns whose values show that a format is wrong, with their smallest and largest value.
STRAYS = {"source": (-1, 60), "elevation": (-90, 90), "distance": (0, 100), "x": (-3, 3)}
#: No vector of real outputs is longer.
LONGEST_VECTOR = 1.65
#: Vectors are nowhere as long as this, and angles in radians that are no vectors go beyond it.
LONGEST_CARTESIAN = 1.8
#: What radians stay within, rounded up: π and π/2.
LARGEST_RADIANS = {"azimuth": 3.15, "elevation": 1.58}
#: Radians that the azimuths of a set reach; whoever stands in front within three degrees does not.
BEHIND = 2.8
#: Shares of rows that make a column one of decimals, or of whole numbers.
MOSTLY, SURELY = 0.8, 0.95
#: Radians beyond which a source is not in front.
IN_FRONT = 0.3
#: Degrees between which the median of inclinations is, and the share of them that is below the horizon.
ZENITH, OVER = (45, 135), 0.1
#: How many times as far apart azimuths are as elevations.
WIDER = 1.5
#: Frames of clips that are no short ones, and which share of the longest one labels fill, if they count as they should.
LONG_CLIP, FILLED = 300, (0.6, 1.02)
#: Metres that the farthest source of a file reaches if metres were read as centimetres, or these as metres.
TOO_NEAR, TOO_FAR = (0.0025, 0.25), (40, 4000)
#: Degrees that no set of elevations stays within, above and below the horizon.
LOWEST = 10
#: Largest whole number of sources, tracks and metres that are in a column of angles by mistake.
SMALL = 15
#: Metres within which no file of a set has all of its sources.
NEAREST = 0.1
#: Metres that the farthest source of a set is within, in every room of the datasets: another unit is outside.
ROOM = (1.5, 10)
#: What to say where it is not.
UNLIKELY = "not repaired, as such distances fit no room, or may be in yet another unit"
#: The median distance, in metres, of millimetres that were read as centimetres or metres, and millimetres of no room.
MILLIMETRES, NO_ROOM = {100: 10, 1: 800}, 20_000
#: The longest STARSS recording lasts 9 minutes (5,400 frames); baselines pad to more, up to 6,400 in real outputs.
LONGEST = 8000
#: Fewest distinct frames that prove that all are multiples of a number.
STEPS = 20


def another_format(labels: Labels) -> Iterator[RowFault]:
    if not labels.reading.named or labels.dialect is None:
        return
    columns = ((labels.column(field), *limits) for field, limits in STRAYS.items() if labels.has(field))
    strays = (np.count_nonzero((values < lowest) | (values > highest)) for values, lowest, highest in columns)
    if max(strays, default=0) < max(3, len(labels) // 20):  # a few wrong values do not make it a different format
        return
    detection = detect([part.file for part in labels.filled])
    rows = detection.rows
    if detection.format is None or means_the_same(detection.candidates[0].format, labels.dialect):
        return
    best = detection.candidates[0]
    if rows.change is not None or FormatFit(best.format, rows).share < ENOUGH_ROWS:
        return
    if len(labels.dialect.columns) == rows.width and FormatFit(labels.dialect, rows).share >= MOST:
        return
    labels.foreign = True
    is_label = labels.format.role == "submission" and best.format.role == "label"
    this = "a label file, not a submission" if is_label else f"not a {labels.format.name} file"
    message = f"this is {this}; it looks like {best.format.name} ({best.evidence})"
    yield RowFault(0, None, message=message, hint=f"use --format {best.format.name}")


def nothing_but_zeros(frame: Values, azimuth: Values, labels: Labels) -> Iterator[RowFault]:
    if labels.dialect is None or labels.has("class_name"):
        return
    fields = [part.field for part in labels.dialect.columns if labels.has(part.field) and part.kind != "flag"]
    empty = np.logical_and.reduce([labels.reach(field) == 0 for field in fields])
    for file in labels.explain(empty & (labels.sizes >= 2), *fields):
        yield labels.fault(file, None, rows=plural(int(labels.sizes[file]), "row"))
    ahead = not (labels.reach("azimuth").any() or labels.reach("elevation").any()) and not labels.has("x")
    several = len({*labels.low("class_id"), *labels.high("class_id")}) > 1
    if ahead and several and not empty.all() and len(labels) >= 3 * ENOUGH:
        labels.explain(labels.every, "azimuth", "elevation")
        message = f"azimuth and elevation are 0 in all {plural(len(labels), 'row')}: nothing was localised, or the "
        hint = "check where the directions are lost"
        yield RowFault(0, "azimuth", message=f"{message}columns were never filled", hint=hint)


def swapped_frame_and_class(frame: Values, class_id: Values, labels: Labels, classes: int) -> Iterator[RowFault]:
    if labels.dialect is None or labels.has("class_name") or len(labels) < ENOUGH:
        return
    if class_id.max() < 2 * classes or frame.min() < 0 or frame.max() >= classes or frame.min() == frame.max():
        return
    columns = [labels.values(file, "class_id") for file in labels.every]
    counting = all((np.diff(values) >= 0).all() for values in columns)
    different = max(len(np.unique(values)) for values in columns)
    if 2 * np.count_nonzero(class_id >= classes) <= len(labels) or not counting or different < ENOUGH:
        return
    for file in labels.explain(labels.every, "frame", "class_id"):
        yield labels.fault(file, "frame", classes=labels.high("class_id")[file], frames=labels.high("frame")[file])


def cartesian(azimuth: Values, elevation: Values, distance: Values, labels: Labels) -> Iterator[RowFault]:
    if labels.dialect is None or labels.has("x"):
        return
    if not (labels.reach("azimuth") < LONGEST_CARTESIAN).any():
        return
    norm = np.sqrt(azimuth**2 + elevation**2 + (distance * (labels.metre or 1)) ** 2)
    low, high = (reduce.reduceat(norm, labels.starts) for reduce in (np.minimum, np.maximum))
    decimals = labels.count(azimuth != np.rint(azimuth)) >= MOSTLY * labels.sizes
    short = (high < LONGEST_CARTESIAN) & decimals & (labels.sizes >= 3)
    six = len(labels.dialect.columns) == 6
    instead = "use --format dcase2020-output" if six else "write angles in degrees"
    for file in labels.explain(short, "azimuth", "elevation", "distance"):
        yield labels.fault(file, "azimuth", low=low[file], high=high[file], instead=instead)


def radians(azimuth: Values, elevation: Values, labels: Labels) -> Iterator[RowFault]:
    certain, likely = _radians(labels)
    for file in labels.explain(certain, "azimuth", "elevation"):
        peaks = [labels.reach(field)[file] for field in ("azimuth", "elevation")]
        all_around = bool(labels.reach("azimuth")[certain].max() > BEHIND)
        yield labels.fault(file, "azimuth", fixable=all_around, azimuths=peaks[0], elevations=peaks[1])
    count = int(labels.sizes[likely].sum())
    why = f"only {plural(count, 'row')}" if count < ENOUGH else "all close together"
    many = f" in {plural(len(likely), 'file')}" if len(likely) > 1 else ""
    message = "every azimuth is within ±π and every elevation within ±π/2, with decimals: probably radians; "
    hint = "if so, multiply by 180/π; do not round before you know"
    for file in labels.explain(likely, "azimuth", "elevation"):
        yield labels.fault(file, "azimuth", f"{message}{why}{many}, so not certain", hint=hint, fixable=False)


def _radians(labels: Labels) -> tuple[list[int], list[int]]:
    """Return the files that hold radians for certain, and those that probably do; all files count together."""
    low, high, small = labels.low("azimuth"), labels.high("azimuth"), labels.reach("azimuth")
    close = np.logical_and.reduce([labels.reach(field) <= most for field, most in LARGEST_RADIANS.items()])
    if labels.has("x") or not close.any():
        return [], []
    whole = {field: _whole(labels, field) for field in LARGEST_RADIANS}
    decimals = labels.count(~whole["azimuth"] | ~whole["elevation"]) >= MOSTLY * labels.sizes
    fits = np.flatnonzero(close & decimals & ~labels.explained("azimuth")).tolist()
    alone = bool(close.all())  # no file contradicts radians

    def proves(files: list[int]) -> bool:
        spread = high[files].max() - low[files].min() > 2 or (alone and len(labels.filled) > 1)
        # numbers that are no longer than the vectors of outputs may be two of their three parts
        return bool(spread and small[files].max() > LONGEST_VECTOR and labels.sizes[files].sum() >= ENOUGH)

    groups = [fits] if alone or 2 * len(fits) >= len(labels.filled) else [[file] for file in fits]
    certain = [file for files in groups if files and proves(files) for file in files]
    left = sorted({*fits}.difference(certain))
    # among files in whole degrees, one with decimals is suspicious; among decimals it is a source near the front
    odd = not alone and labels.count(whole["azimuth"])[~close].sum() > SURELY * labels.sizes[~close].sum()
    written = isinstance(labels.origin, Dialect) or labels.origin.role == "table"  # and not derived from an image
    return certain, left if written and (odd or alone) and small[left].max(initial=0) > IN_FRONT else []


def _whole(labels: Labels, field: str) -> Bools:
    if field in labels.reading.whole:
        return np.ones(len(labels), dtype=bool)
    values = labels.column(field)
    return np.asarray(values == np.rint(values))


def frames_start_over(frame: Values, class_id: Values, source: Values, labels: Labels) -> Iterator[RowFault]:
    if not labels.numbered or not len(labels.unsorted):
        return
    # rows of one clip in any order go back often, by little; in runs by class, by source or by track they start over,
    # but only a clip whose sources have no numbers of their own then has one source in two places at once
    owners = labels.owners(labels.unsorted)
    breaks = np.bincount(owners, minlength=len(labels.filled))
    falls = frame[labels.unsorted - 1] - frame[labels.unsorted]
    far = falls > np.maximum(STEPS, (labels.high("frame") - labels.low("frame")) / 2)[owners]
    first, second = map(labels.rows, labels.twins_apart)
    twins = np.bincount(labels.owners(second[labels.pieces[first] != labels.pieces[second]]), minlength=len(breaks))
    several_sources = labels.high("source") > labels.low("source")
    only_far = np.bincount(owners, far, len(breaks)) == breaks
    restarts = breaks * (only_far & (twins >= STEPS) & several_sources)
    files = np.flatnonzero(restarts).tolist()
    many = 2 * len(files) > len(labels.filled) > 2
    for file in files:
        row = int(labels.starts[file] + np.argmin(np.diff(labels.values(file, "frame"))) + 1)
        clips = plural(int(restarts[file]) + 1, "clip")
        severity, pieces = (Severity.WARNING, ", or one clip in pieces") if many else (None, "")
        words = {"after": frame[row], "before": frame[row - 1], "clips": clips, "pieces": pieces}
        yield RowFault(row, "frame", words, severity=severity)


def swapped_class_and_source(class_id: Values, source: Values, labels: Labels, classes: int) -> Iterator[RowFault]:
    most, sources = class_id.max(), source.max()
    if labels.dialect is None or labels.has("class_name"):
        return
    if most > 0 and (not labels.numbered or labels.metre == 1):  # sources that count events
        return
    if len(labels) < 3 * ENOUGH or source.min() < 0 or most > classes // 3:
        return
    if 0.7 * classes <= sources < classes:
        yield RowFault(int(np.argmax(source)), "source", {"sources": sources, "most": most})


def frames_jump(frame: Values, labels: Labels) -> Iterator[RowFault]:
    if not len(labels.unsorted):
        return
    breaks = np.bincount(labels.owners(labels.unsorted), minlength=len(labels.filled))
    reach = labels.high("frame") - labels.low("frame")
    many = (breaks >= ENOUGH) & (4 * breaks > labels.sizes) & (reach > 2) & (labels.sizes > 4 * (reach + 1))
    for file in np.flatnonzero(breaks).tolist() if len(labels.filled) > 1 and labels.dialect is not None else ():
        most = max(len(np.unique(labels.values(file, "frame"))), 2 * ENOUGH)  # more than there are classes
        others = [labels.values(file, field) for field in ("class_id", "source") if labels.has(field)]
        many[file] |= any((np.diff(values) >= 0).all() and len(np.unique(values)) > most for values in others)
    for file in labels.explain(many & ~labels.explained("frame"), "frame"):
        row = int(labels.starts[file] + np.argmax(np.diff(labels.values(file, "frame")) < 0) + 1)
        yield RowFault(row, "frame", {"falls": breaks[file], "rows": plural(int(labels.sizes[file]), "row")})


def _cut_off(labels: Labels) -> Iterator[RowFault]:
    """Yield files whose azimuths and elevations are radians without their decimals."""
    small = (labels.reach("azimuth") <= 3) & (labels.reach("elevation") <= 2)
    whole = labels.count(_whole(labels, "azimuth")) == labels.sizes
    narrow = small & whole & (labels.sizes >= ENOUGH) & ~labels.explained("azimuth")
    low, high = labels.low("azimuth"), labels.high("azimuth")
    # a source in front, in some of the files
    if not small.all() or len(labels.filled) < 3 or high.max() - low.min() < 3:
        several = labels.high("class_id") - labels.low("class_id") >= 2
        narrow &= (high >= low + 3) & several & (labels.sizes >= 3 * ENOUGH)
    hint = "write them again, in degrees, from what the system put out"
    for file in labels.explain(narrow, "azimuth", "elevation"):
        peaks = [int(labels.reach(field)[file]) for field in ("azimuth", "elevation")]
        message = f"every azimuth is a whole number within ±{peaks[0]} and every elevation one within ±{peaks[1]}: "
        message += "directions were lost, as int() does with radians"
        yield labels.fault(file, "azimuth", message, hint=hint)


def no_angles(azimuth: Values, elevation: Values, class_id: Values, labels: Labels) -> Iterator[RowFault]:
    if labels.has("x"):
        return
    yield from _cut_off(labels)
    several = len(labels.filled) >= 3 or labels.high("class_id").max() - labels.low("class_id").min() >= 4
    whole = _whole(labels, "azimuth").all()
    if len(labels) < 10 * ENOUGH or not several or not whole or labels.explained("azimuth").any():
        return
    low, high = azimuth.min(), azimuth.max()
    if low >= -1 and high <= SMALL and (low, high) != (0, 0):
        labels.explain(labels.every, "azimuth", "elevation")
        message = f"azimuths are whole numbers from {low:g} to {high:g} in all {plural(len(labels), 'row')}: "
        message += "these seem to be sources or tracks, and the azimuths missing"
        yield RowFault(0, "azimuth", message=message, severity=Severity.WARNING)
    low, high, decimals = elevation.min(), elevation.max(), labels.count(~_whole(labels, "elevation"))
    if low >= 0 and high <= SMALL and (decimals > MOSTLY * labels.sizes).all():
        labels.explain(labels.every, "azimuth", "elevation")
        message = f"elevations are decimals from {low:g} to {high:g}, and azimuths whole numbers: these seem to be "
        message += "distances in metres, and an angle missing"
        yield RowFault(0, "elevation", message=message, severity=Severity.WARNING)


def numbered_header(frame: Values, class_id: Values, labels: Labels) -> Iterator[RowFault]:
    if labels.dialect is None or labels.headed or labels.has("class_name"):
        return
    numbers = ",".join(map(str, range(len(labels.dialect.columns))))
    starts = [part.file.data.split(b"\n", 1)[0].strip() for part in labels.filled]
    files = [file for file, start in enumerate(starts) if start == numbers.encode()]
    line = f"{numbers}: these are the numbers of the columns, as pandas writes them"
    if len(files) == len(labels.filled) >= 3:
        message = f"the first line of each of {plural(len(files), 'file')} is {line}, and no event"
        yield RowFault(0, "frame", message=message)
        return
    places = [field for field in ("class_id", "source", "azimuth", "elevation") if labels.has(field)]
    for file in files:
        alike = [(values := labels.values(file, field)) == values[0] for field in places]
        if labels.sizes[file] > ENOUGH and np.all(alike, axis=0).sum() == 1:
            yield labels.fault(file, "frame", line=line)


def azimuth_0_to_360(azimuth: Values, labels: Labels) -> Iterator[RowFault]:
    low, high = labels.low("azimuth"), labels.high("azimuth")
    fits = (low >= 0) & (high > 180) & (high <= 360)
    if not fits.any():
        return
    from seldio.changes import instead_of_0_to_360  # a table that clean labels do not need

    behind = azimuth > 180
    counts = labels.count(behind)
    fits &= counts >= 2
    others = [change.why for change in instead_of_0_to_360(azimuth[np.repeat(fits, labels.sizes)])]
    if low.min() < -180 or high[~fits].max(initial=0) > 180:
        others.append("are turned or in another unit, as other files are")
    hint, or_else = "not repaired: find out which" if others else None, "".join(f", or {other}" for other in others)
    for file in labels.explain(fits, "azimuth"):
        words = {"low": low[file], "high": high[file], "above": plural(int(counts[file]), "row"), "others": or_else}
        yield RowFault(labels.first_row(file, behind), "azimuth", words, hint=hint, fixable=not others)


def swapped_angles(azimuth: Values, elevation: Values, labels: Labels) -> Iterator[RowFault]:
    if labels.has("x") or labels.reach("elevation").max() <= 90:
        return
    every = [*labels.every]
    together = _swapped(labels, every)
    swapped = every if together else [file for file in every if _swapped(labels, [file])]
    for file in labels.explain(swapped, "azimuth", "elevation"):
        files = every if together else [file]
        wide, narrow = (labels.reach(field)[files].max() for field in ("elevation", "azimuth"))
        row = int(labels.starts[file] + np.argmax(np.abs(labels.values(file, "elevation"))))
        yield RowFault(row, "elevation", {"wide": wide, "narrow": narrow})


def _swapped(labels: Labels, files: list[int]) -> bool:
    """Return whether elevations of some files are azimuths, and their azimuths can be elevations."""
    wide, narrow = labels.reach("elevation")[files].max(), labels.reach("azimuth")[files].max()
    if not 90 < wide <= 180 or narrow > 90:
        return False
    # source numbers, tracks and classes are small and hardly ever below 0
    if narrow < LOWEST or (labels.low("azimuth")[files].min() >= -1 and narrow < 2 * LOWEST):
        return False
    elevation, azimuth = (
        np.concatenate([labels.values(file, field) for file in files]) for field in ("elevation", "azimuth")
    )
    return bool(np.count_nonzero(np.abs(elevation) > 90) > 1 and elevation.std() > WIDER * azimuth.std())


def inclination(elevation: Values, labels: Labels) -> Iterator[RowFault]:
    low, high = labels.low("elevation"), labels.high("elevation")
    fits = (low >= 0) & (high >= ZENITH[0]) & (high <= 180) & ~labels.explained("elevation")
    if labels.has("x") or not fits.any():
        return
    median = np.array([np.median(labels.values(file, "elevation")) if fits[file] else 0 for file in labels.every])
    fits &= median >= ZENITH[0]
    proof = fits & (labels.count(elevation > 90) >= np.maximum(2, OVER * labels.sizes)) & (median <= ZENITH[1])
    many = 2 * np.count_nonzero(proof) >= len(labels.filled)  # if most prove it, others that fit share it
    for file in labels.explain(fits if proof.any() and many else proof, "elevation"):
        row = int(labels.starts[file] + np.argmax(labels.values(file, "elevation")))
        yield RowFault(row, "elevation", {"low": low[file], "high": high[file]})


def classes_from_one(class_id: Values, labels: Labels, classes: int) -> Iterator[RowFault]:
    behind = class_id == classes
    if labels.has("class_name") or class_id.min() < 1 or class_id.max() != classes or behind.sum() < 3:
        return
    every = len(np.unique(class_id)) == classes
    counts = labels.count(behind)
    last = int(counts.argmax())
    if np.count_nonzero(counts) < 2 and len(np.unique(labels.values(last, "class_id"))) < classes:
        return  # in a single file, which may be of another format
    words = {"low": class_id.min(), "unless": "" if every else ", unless the class list is longer"}
    for file in labels.explain(labels.every, "class_id"):
        row = int(labels.starts[file] + np.argmax(labels.values(file, "class_id")))
        yield RowFault(row, "class_id", words, fixable=every)


def other_hop(frame: Values, labels: Labels) -> Iterator[RowFault]:
    if labels.format.hop.denominator != 10 or labels.explained("frame").any():
        return
    limit = labels.format.clip_frames or 0  # 0 where the length of recordings is unknown
    last, lengths = labels.high("frame"), [labels.lengths.get(clip, limit) for clip in labels.clips]
    # what frame numbers must be multiplied by, judged by recordings of known length (too large: SUB119)
    coarser, finer, measured = 1, [], np.array(lengths) > 0
    # short clips, or only a few, may well have no event after their beginning
    if np.count_nonzero(measured) >= 3 and min(labels.lengths.values(), default=0) >= LONG_CLIP:
        share = float(((last[measured] + 1) / np.array(lengths)[measured]).max())
        coarser = next((factor for factor in (10, 5) if FILLED[0] < share * factor <= FILLED[1]), 1)
    for file, clip in enumerate(labels.clips):
        end, length, step = int(last[file]), lengths[file], _step(labels.values(file, "frame"))
        begin, (longest, recording) = int(labels.low("frame")[file]), _longest(labels, clip)
        row, message, hint = int(labels.starts[file]), "", ""
        if step > 1:
            counts = f"frames of {100 / step:g} ms were counted", f"divide by {step}"
            sparse = f"only one frame in {step} has a row", f"repeat each row {step} times"
            causes = [counts] if end >= (length or LONGEST) else [sparse] if length else [counts, sparse]
            why, do = (", or ".join(words) for words in zip(*causes, strict=True))
            message, hint = f"every frame number is a multiple of {step}: {why}", f"{do}: a frame lasts 100 ms"
        elif coarser > 1 and length:
            message = f"frames end at {end:,}, but the recording has {length:,}, with the same ratio in all files: "
            message += f"frames of {100 * coarser} ms were counted"
            row, hint = row + int(labels.sizes[file]) - 1, f"multiply by {coarser}, and write one row for every 100 ms"
        elif not length and begin >= longest:
            message = f"frames begin at {begin:,}, but the longest recording{recording}: all rows are late"
            hint = "subtract the frame at which the recording begins"
        elif not length and end >= longest:
            finer.append((end, file, recording))
        if message:
            yield RowFault(row, "frame", message=message, hint=hint)
    if finer:
        end, file, recording = max(finer)
        many = f", and {len(finer):,} of {plural(len(last), 'file')} go past it" if len(finer) > 1 else ""
        short = "10 or 20 ms were counted" if end >= LONGEST else "less than 100 ms were counted, or recordings joined"
        message = f"frames reach {end:,}, but the longest recording{recording}{many}: frames of {short}"
        row, hint = int(labels.starts[file] + labels.sizes[file] - 1), "divide by 10 or 5 if so: a frame lasts 100 ms"
        yield RowFault(row, "frame", message=message, hint=hint)


def _step(frames: Ints) -> int:
    """Return the greatest common divisor of frame numbers; 0 if there are few."""
    if len(frames) < STEPS or (np.diff(frames[: 2 * STEPS]) == 1).any():
        return 0
    distinct = np.unique(frames)
    return int(np.gcd.reduce(distinct)) if len(distinct) >= STEPS else 0


def _longest(labels: Labels, clip: str) -> tuple[float, str]:
    """Return the frame that labels end before, and what the longest recording has."""
    spec = counted(labels.format.name, clip) if labels.format.role == "label" else None
    usual = spec.lengths(clip.rpartition("/")[2]) if spec is not None else None
    if usual is None:
        return LONGEST, " has 5,400"
    split, _, high = usual
    return 10 * high * (1 + ABOUT), f" of {split} has about {10 * high:,}"


def distance_unit(distance: Values, labels: Labels, metre: int | None) -> Iterator[RowFault]:
    if metre is None:
        return
    yield from _millimetres(distance, labels, metre)
    if metre in (1, 100) and not labels.explained("distance").any():
        yield from _other_unit(distance, labels, metre)


def _millimetres(distance: Values, labels: Labels, metre: int) -> Iterator[RowFault]:
    far = distance > MILLIMETRES[100 if metre == 100 else 1]
    measured, beyond = np.count_nonzero(distance > 0), np.count_nonzero(distance >= NO_ROOM / metre)
    usual = 2 * np.count_nonzero(far) > measured > 2 * beyond
    if measured < ENOUGH or not usual or np.nanmax(distance) > 100_000 / metre:
        return
    unit = "centimetres" if metre == 100 else "metres"
    for file in labels.explain(labels.count(far) > 0, "distance"):
        farthest = np.nanmax(labels.values(file, "distance"))
        message = f"distances reach {farthest:g} m: these seem to be millimetres"
        hint = f"{labels.format.name} holds {unit}; sources outdoors may be as far"
        yield labels.fault(file, "distance", message, hint=hint, severity=Severity.WARNING, fixable=False)


def _other_unit(distance: Values, labels: Labels, metre: int) -> Iterator[RowFault]:
    high = np.fmax.reduceat(distance, labels.starts)
    # what comes out of the repair must not look wrong again
    near, far = (high >= TOO_NEAR[0]) & (high < TOO_NEAR[1]), (high > TOO_FAR[0]) & (high <= TOO_FAR[1])
    suspects, unit, meant, do = (
        (near, "centimetres", "metres", "multiply") if metre == 100 else (far, "metres", "centimetres", "divide")
    )
    few = bool(suspects.sum() * 2 < len(high))
    if few and metre == 100:
        suspects &= high < NEAREST
    if labels.sizes[suspects].sum() < ENOUGH:
        return
    # the distances in the other unit are those of a room; metres, of which there are 100, must have decimals
    factor = 100 if metre == 100 else 0.01
    farthest = np.nanmax(distance) * factor
    decimals = np.count_nonzero(np.round(distance * 100, 6) % 1 > 0) if metre == 100 else len(distance)
    in_a_room = not distance.min() < 0 and ROOM[0] <= farthest <= ROOM[1]
    sure = bool(not few and in_a_room and 2 * decimals > np.count_nonzero(distance > 0))  # of those that are known
    seem = f"{', unlike in other files' if few else ''}: these {'are' if sure else 'seem to be'} {meant}"
    if metre == 100 and np.nanmax(high) * metre <= 1:
        seem += ", confidences, or shares of the longest distance"
    for file in labels.explain(suspects, "distance"):
        certain = sure or counted(labels.format.name, labels.clips[file]) is not None
        message = f"distances reach {high[file] * metre:g} {unit}{seem}"
        hint = f"{labels.format.name} holds {unit}{f': {do} by 100' if certain else ''}"
        hint += "" if sure or few else f"; {UNLIKELY}"
        severity = Severity.ERROR if certain else Severity.WARNING
        yield labels.fault(file, "distance", message, hint=hint, severity=severity, fixable=sure)


def cut_short(labels: Labels) -> Iterator[RowFault]:
    whole = [part.origin.final_newline for part in labels.filled]
    if labels.dialect is None or all(whole):  # what has no lines, such as JSON, ends as its syntax says
        return
    cut = [
        file
        for file, part in enumerate(labels.filled)
        if not whole[file] and int(part.lines(np.array([part.rows - 1]))[0]) == part.file.data.count(b"\n") + 1
    ]
    if sum(whole) >= max(2, 2 * len(cut)):
        for file in cut:
            row = int(labels.starts[file] + labels.sizes[file] - 1)
            yield RowFault(row, None, {"others": plural(sum(whole), "other file")})


#: The rules for files as a whole, in the order in which they run: each accounts for values that later ones look at.
FILE_RULES = (
    another_format,
    nothing_but_zeros,
    swapped_frame_and_class,
    cartesian,
    radians,
    frames_start_over,
    swapped_class_and_source,
    frames_jump,
    no_angles,
    numbered_header,
    azimuth_0_to_360,
    swapped_angles,
    inclination,
    classes_from_one,
    other_hop,
    distance_unit,
    cut_short,
)
