"""LAB3: files that are well formed and mean something else, found from the file as a whole.

These run before the range rules: where a misreading accounts for a column, the range rules say
nothing more about it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from seldio.findings import Finding
from seldio.formats.detect import Candidate, detect, judge, means_the_same
from seldio.rules.base import Labels
from seldio.rules.collection import Found
from seldio.rules.registry import ERROR, INFO, WARNING, rule
from seldio.text import plural
from seldio.vocabularies import vocabulary

#: Fewer rows than this prove nothing about a whole file.
ENOUGH = 10
#: By so many points the content must speak against the layout that the user named.
CONTRADICTED = 4.0
#: The longest STARSS recording has 9 minutes (5,400 frames); baselines pad beyond it, up to 6,400 in real outputs.
LONGEST = 8000


def _alike(labels: Labels, proof: list[int], fits: list[int]) -> list[int]:
    """The files to report: those that prove a misreading; if most do, those that may share it as well."""
    return sorted({*proof, *fits}) if proof and 2 * len(proof) >= len(labels.filled) else proof


@rule("LAB309", ERROR)
def label_as_submission(labels: Labels, found: Found) -> Iterator[Finding]:
    """A label file given as a submission.

    Labels have a source (and a distance); submissions of 2022 and 2023 do not. The official loader
    of 2023 takes five and six columns for labels, and passes them through a conversion for Cartesian
    outputs that stops with an IndexError.

    Example:
        10,1,1,-50,30,181  (given as dcase2023-submission)

    Fix:
        ``seldio convert FILE --to dcase2023-submission --allow-loss source,distance``

    Reference: DCASE 2023 Task 3, Submission.
    """
    best = _contradicted(labels)
    if best is not None and labels.format.role == "submission" and best.format.role == "label":
        yield _instead(labels, found, best, "this is a label file, not a submission")


@rule("LAB312", ERROR)
def another_layout(labels: Labels, found: Found) -> Iterator[Finding]:
    """The layout that was named does not fit, and another one with as many columns does.

    Five columns have three meanings and six have four; read as the wrong one, every row is legal
    text and wrong data.

    Example:
        36,9,-161,-23,153  (given as starss22: the third column is no source number)

    Fix:
        Name the right layout with ``--format``, or leave it away: seldio finds it.

    Reference: ``seldio formats``.
    """
    best = _contradicted(labels)
    if best is not None and not (labels.format.role == "submission" and best.format.role == "label"):
        yield _instead(labels, found, best, f"this is no {labels.format.name} file")


def _contradicted(labels: Labels) -> Candidate | None:
    """The layout that the content speaks for, where the user named one that it speaks against."""
    if not labels.told or labels.dialect is None or not _out_of_range(labels):
        return None
    detection = detect([part.file for part in labels.parts if part.rows])
    own = judge(labels.dialect, detection.sample)
    best = detection.candidates[0] if detection.format is not None else None
    if best is None or best.points < own.points + CONTRADICTED or means_the_same(best.format, labels.dialect):
        return None
    return best


def _out_of_range(labels: Labels) -> bool:
    """Whether a column holds many values that it cannot hold; a few wrong ones are no other layout."""
    limits = {"source": (-1, 60), "elevation": (-90, 90), "distance": (0, 100), "x": (-3, 3)}
    counts = [
        int(np.count_nonzero((labels.column(field) < low) | (labels.column(field) > high)))
        for field, (low, high) in limits.items()
        if labels.has(field)
    ]
    return max(counts, default=0) >= max(3, len(labels) // 20)


def _instead(labels: Labels, found: Found, best: Candidate, message: str) -> Finding:
    labels.foreign = True
    named = f"it looks like {best.format.name}: {', '.join(best.evidence)}"
    return found(int(labels.starts[0]), None, f"{message}; {named}", f"read it as --format {best.format.name}")


@rule("LAB315", ERROR)
def nothing_but_zeros(labels: Labels, found: Found) -> Iterator[Finding]:
    """Rows of nothing but zeros.

    Every cell of a file is 0, or every azimuth and elevation of all files: an array was made and never filled, or
    a decoder's output was not connected. It is scored as sources straight ahead.

    Example:
        0,0,0,0,0
        0,0,0,0,0

    Fix:
        See where the values are lost. Leave rows out in which nothing was detected.

    Reference: numpy.zeros; arctan2(0, 0) = 0.
    """
    if labels.dialect is None or not labels.has("frame", "azimuth") or labels.has("class_name"):
        return
    fields = [part.field for part in labels.dialect.columns if labels.has(part.field) and part.kind != "flag"]
    empty = np.logical_and.reduce([(labels.low(field) == 0) & (labels.high(field) == 0) for field in fields])
    for index in np.flatnonzero(empty).tolist():
        rows = labels.rows_of(index)
        if rows.stop - rows.start < 2:
            continue
        labels.explain(rows, *fields)
        yield found(rows.start, None, f"every cell of all {plural(rows.stop - rows.start, 'row')} is 0",
                    "leave rows out in which nothing was detected")  # fmt: skip
    angles = [labels.column(field) for field in ("azimuth", "elevation") if labels.has(field)]
    ahead = not any(values.any() for values in angles) and not empty.all() and not labels.has("x")
    if ahead and len(labels) >= 3 * ENOUGH and len(np.unique(labels.column("class_id"))) > 1:
        labels.explain(slice(None), "azimuth", "elevation")
        yield found(0, "azimuth", f"azimuth and elevation are 0 in all {plural(len(labels), 'row')}: nothing was "
                    "localised, or the columns were never filled", "see where the directions are lost")  # fmt: skip


@rule("LAB302", ERROR)
def cartesian(labels: Labels, found: Found) -> Iterator[Finding]:
    """Cartesian coordinates where angles are due.

    The angle and distance columns hold vectors of length about 1. The 6-column output of 2020 to
    2022 (x, y, z) and a STARSS23 label (azimuth, elevation, distance) have the same number of
    columns; read as the other, every direction is within a degree of the front.

    Example:
        22,7,0,-0.344,-0.276,0.007  (given as starss23)

    Fix:
        Name the layout: ``--format dcase2020-output``, or convert with ``seldio convert``.

    Reference: six columns have four meanings (``seldio formats``).
    """
    if labels.dialect is None or not labels.has("azimuth", "elevation", "distance") or labels.has("x"):
        return
    for index in np.flatnonzero(np.maximum(labels.high("azimuth"), -labels.low("azimuth")) < 1.8).tolist():
        rows = labels.rows_of(index)
        axes = np.stack([labels.column(field)[rows] for field in ("azimuth", "elevation", "distance")])
        axes[2] *= labels.dialect.metre or 1
        norm, values = np.sqrt((axes**2).sum(axis=0)), axes[0]
        if len(values) < 3 or np.mean(values != np.rint(values)) < 0.8 or not norm.max() < 1.8:
            continue
        labels.explain(rows, "azimuth", "elevation", "distance")
        lengths = f"{norm.min():.2f} to {norm.max():.2f}"
        six = len(labels.dialect.columns) == 6
        hint = "read the file as --format dcase2020-output" if six else "write angles in degrees"
        yield found(rows.start, "azimuth", f"the last three columns are vectors of length {lengths}: "
                    "Cartesian coordinates, not angles and a distance", hint)  # fmt: skip


@rule("LAB301", ERROR, fix="unsafe")
def radians(labels: Labels, found: Found) -> Iterator[Finding]:
    """Angles in radians.

    Every azimuth lies within ±3.15 and every elevation within ±1.58, with decimals. Read as degrees,
    all sources stand within three degrees of the front, and nearly every event is scored as a miss.

    Example:
        10,1,1,-0.873,0.524

    Fix:
        ``--unsafe-fixes`` multiplies by 180/π and rounds as the layout asks.

    Reference: angles are in degrees in every layout since 2019.
    """
    certain, _ = _radians(labels)
    for index in certain:
        rows = labels.rows_of(index)
        labels.explain(rows, "azimuth", "elevation")
        peaks = [float(np.abs(labels.column(field)[rows]).max()) for field in ("azimuth", "elevation")]
        yield found(rows.start, "azimuth", f"azimuths stay within ±{peaks[0]:.2f} and elevations within "
                    f"±{peaks[1]:.2f}: these are radians, not degrees", "multiply by 180/π")  # fmt: skip


@rule("LAB313", WARNING)
def probably_radians(labels: Labels, found: Found) -> Iterator[Finding]:
    """Angles that look like radians, in too few rows to be certain.

    Every azimuth lies within ±π and every elevation within ±π/2, and they have decimals. Sources that really
    stand that close to the front are rare, but a few rows prove nothing; those of all files of a set count
    together. Nothing is repaired and nothing is rounded here, since rounding would destroy angles in radians.

    Example:
        10,1,1,-0.873,0.524  (the only row of the only file)

    Fix:
        See what wrote the file. In degrees: name the layout, and round. In radians: multiply by 180/π.

    Reference: angles are in degrees in every layout since 2019.
    """
    _, likely = _radians(labels)
    count = sum(rows.stop - rows.start for rows in map(labels.rows_of, likely))
    why = f"only {plural(count, 'row')}" if count < ENOUGH else "all near one place"
    files = f" in {plural(len(likely), 'file')}" if len(likely) > 1 else ""
    for index in likely:
        rows = labels.rows_of(index)
        labels.explain(rows, "azimuth", "elevation")
        message = "every azimuth is within ±π and every elevation within ±π/2, with decimals: probably radians; "
        yield found(rows.start, "azimuth", f"{message}{why}{files}, so not certain",
                    "multiply by 180/π if they are; do not round before that is settled")  # fmt: skip


def _radians(labels: Labels) -> tuple[list[int], list[int]]:
    """The files that hold radians for certain, and those that probably do; all files count together."""
    if not labels.has("azimuth", "elevation") or labels.has("x"):
        return [], []
    azimuth, elevation = labels.column("azimuth"), labels.column("elevation")
    low, high = labels.low("azimuth"), labels.high("azimuth")
    small = np.maximum(high, -low)
    close = (small <= 3.15) & (np.maximum(labels.high("elevation"), -labels.low("elevation")) <= 1.58)
    fits = []
    for index in np.flatnonzero(close).tolist():
        rows = labels.rows_of(index)
        decimals = (azimuth[rows] != np.rint(azimuth[rows])) | (elevation[rows] != np.rint(elevation[rows]))
        if not labels.explained("azimuth", rows) and np.mean(decimals) >= 0.8:
            fits.append(index)
    if not fits:
        return [], []
    alone = bool(close.all())  # no file speaks against radians

    def proves(those: list[int]) -> bool:
        spread = high[those].max() - low[those].min() > 2 or (alone and len(labels.filled) > 1)
        return spread and small[those].max() > 0.3 and sum(labels.parts[labels.filled[i]].rows for i in those) >= ENOUGH

    if alone or 2 * len(fits) >= len(labels.filled):
        certain = fits if proves(fits) else []
    else:
        certain = [index for index in fits if proves([index])]
    # among files in whole degrees, one with decimals is odd; among decimals it is a source near the front
    rest = ~close[np.searchsorted(labels.starts, np.arange(len(labels)), side="right") - 1] if not alone else []
    odd = not alone and not certain and bool(np.mean(azimuth[rest] == np.rint(azimuth[rest])) > 0.95)
    written = labels.dialect is not None or labels.format.role == "table"  # and not derived from a picture
    doubtful = fits if written and (odd or alone) and small[fits].max() > 0.3 else []
    return certain, [index for index in doubtful if index not in certain]


@rule("LAB303", ERROR, fix="unsafe")
def azimuth_0_to_360(labels: Labels, found: Found) -> Iterator[Finding]:
    """Azimuths from 0 to 360.

    No azimuth is below 0 and some are above 180. Angular distances come out right all the same, but
    anything that bins, normalises or draws azimuths puts the right half of the scene elsewhere.

    Example:
        10,1,1,310,30

    Fix:
        ``--unsafe-fixes`` subtracts 360 from azimuths above 180.

    Reference: DCASE 2023 Task 3, "azimuth in [-180, 180]".
    """
    if not labels.has("azimuth"):
        return
    low, high = labels.low("azimuth"), labels.high("azimuth")
    azimuth = labels.column("azimuth")
    for index in np.flatnonzero((low >= 0) & (high > 180) & (high <= 360)).tolist():
        rows = labels.rows_of(index)
        beyond = int((azimuth[rows] > 180).sum())
        row = rows.start + int(np.argmax(azimuth[rows] > 180))
        if beyond < 2:
            continue
        labels.explain(rows, "azimuth")
        span = f"azimuths go from {low[index]:g} to {high[index]:g}"
        yield found(row, "azimuth", f"{span}: they count from 0 to 360 ({plural(beyond, 'row')} above 180)",
                    "subtract 360 from those above 180")  # fmt: skip


@rule("LAB304", ERROR, fix="unsafe")
def swapped_angles(labels: Labels, found: Found) -> Iterator[Finding]:
    """Azimuth and elevation in each other's column.

    The elevation column goes beyond ±90, which no elevation can, and the azimuth column does not.
    2019's labels do have elevation first; its outputs, and every layout since, have azimuth first.

    Example:
        10,1,1,30,-150

    Fix:
        ``--unsafe-fixes`` swaps the two columns.

    Reference: seld-dcase2019, labels (ele, azi) against outputs (azi, ele).
    """
    if not labels.has("azimuth", "elevation") or labels.has("x"):
        return
    azimuth, elevation = labels.column("azimuth"), labels.column("elevation")
    wide = max(labels.high("elevation").max(), -labels.low("elevation").min())
    narrow = max(labels.high("azimuth").max(), -labels.low("azimuth").min())
    if not 90 < wide <= 180 or narrow > 90 or np.count_nonzero(np.abs(elevation) > 90) < 2:
        return
    if elevation.std() <= 1.5 * azimuth.std():
        return
    labels.explain(slice(None), "azimuth", "elevation")
    for index in range(len(labels.filled)):
        rows = labels.rows_of(index)
        row = rows.start + int(np.argmax(np.abs(elevation[rows])))
        yield found(row, "elevation", f"elevations go up to ±{wide:g} and azimuths only to ±{narrow:g}: the two "
                    "columns are swapped", "azimuth stands before elevation")  # fmt: skip


@rule("LAB314", ERROR, fix="unsafe")
def inclination(labels: Labels, found: Found) -> Iterator[Finding]:
    """Angles from straight up in place of elevations.

    No value is below 0, many are beyond 90, and half of them near 90: they count from the zenith (the inclination
    or polar angle of physics and of some libraries), and not up from the horizon. Sources at the height of the
    microphone then seem to be straight above it.

    Example:
        10,1,1,-50,95  (for an elevation of -5)

    Fix:
        ``--unsafe-fixes`` writes 90 minus the angle.

    Reference: DCASE 2023 Task 3, "elevation in [-90, 90]"; ISO 80000-2, spherical coordinates.
    """
    if not labels.has("elevation") or labels.has("x"):
        return
    elevation = labels.column("elevation")
    low, high = labels.low("elevation"), labels.high("elevation")
    proof, fits = [], []
    for index in np.flatnonzero((low >= 0) & (high <= 180)).tolist():
        values = elevation[labels.rows_of(index)]
        if labels.explained("elevation", labels.rows_of(index)) or np.median(values) < 45:
            continue
        fits.append(index)
        beyond = np.count_nonzero(values > 90)
        if beyond >= max(2, 0.1 * len(values)) and np.median(values) <= 135:
            proof.append(index)
    for index in _alike(labels, proof, fits):
        rows = labels.rows_of(index)
        labels.explain(rows, "elevation")
        row = rows.start + int(np.argmax(elevation[rows]))
        yield found(row, "elevation", f"elevations go from {low[index]:g} to {high[index]:g}: these are angles from "
                    "straight up (inclination)", "an elevation is 90 minus that")  # fmt: skip


@rule("LAB305", ERROR, fix="unsafe")
def classes_from_one(labels: Labels, found: Found) -> Iterator[Finding]:
    """Classes that count from 1.

    Class 0 never occurs in any file, and the number behind the last class does. The task page
    numbers its class list from 1, the files from 0; shifted by one, every class is scored as
    another.

    Example:
        classes 1 to 13, where STARSS has 0 to 12

    Fix:
        ``--unsafe-fixes`` subtracts 1 from every class.

    Reference: DCASE 2023 Task 3, "class enumeration begins at 0".
    """
    if not labels.has("class_id") or labels.has("class_name"):
        return
    ids, classes = labels.column("class_id"), len(vocabulary(labels.format.vocabulary))
    if ids.min() < 1 or ids.max() != classes or np.count_nonzero(ids == classes) < 3:
        return
    labels.explain(slice(None), "class_id")
    for index in range(len(labels.filled)):
        rows = labels.rows_of(index)
        message = f"classes go from {ids.min()} to {classes}: they count from 1, not from 0"
        row = rows.start + int(np.argmax(ids[rows]))
        yield found(row, "class_id", message, "subtract 1 from every class")


@rule("LAB306", INFO)
def frames_from_one(labels: Labels, found: Found) -> Iterator[Finding]:
    """Frames that seem to count from 1.

    No file has a frame 0, and many begin with frame 1: an event that sounds from the very start of a
    recording is in frame 0. Real STARSS22 labels look like this too (42 of 121 begin at frame 1), so
    it is a hint and no more; frames that go one beyond the end of the recording make it certain.

    Example:
        1,1,0,-50,30  as first row of most files

    Fix:
        Check one recording by ear, then subtract 1 from every frame.

    Reference: DCASE 2023 Task 3, "Frame enumeration begins at 0"; seld-dcase2022 issue 6.
    """
    if not labels.has("frame"):
        return
    first = labels.low("frame")
    ones = int((first == 1).sum())
    if first.min() < 1 or len(first) < 3 or ones < max(3, len(first) // 4):
        return
    lengths = [labels.lengths.get(labels.parts[number].origin.clip) for number in labels.filled]
    certain = any(length == last for length, last in zip(lengths, labels.high("frame").tolist(), strict=True))
    likely = labels.format.role in ("submission", "output") and ones >= 0.75 * len(first)
    if not ones or not (certain or likely):
        return
    yield found(int(labels.starts[np.argmax(first == 1)]), "frame", f"no file has a frame 0 and {ones} of "
                f"{len(first)} begin at frame 1: frames {'count' if certain else 'may count'} from 1",
                "an event at the very start of a recording is in frame 0")  # fmt: skip


@rule("LAB307", WARNING)
def other_hop(labels: Labels, found: Found) -> Iterator[Finding]:
    """Frames of another length than 100 ms.

    Every frame number is a multiple of 2, 5, … (frames of 50 or 20 ms were counted and only some
    written, or only one frame in 2 or 5 has a row), the numbers go far beyond the recording (frames of
    10 or 20 ms), or those of every file end within the first fifth of its recording (frames of 500 ms).
    Every event then lies at the wrong time. How long recordings are is known from ``--reference``, or
    from the layout.

    Example:
        0,1,… 5,1,… 10,1,… 15,1,…

    Fix:
        Divide or multiply the frame numbers by the factor that the finding names, and write one row for
        each 100 ms.

    Reference: DCASE 2023 Task 3, "Frames correspond to a temporal resolution of 100msec".
    """
    if not labels.has("frame") or labels.format.hop.denominator != 10:
        return
    last, lengths = labels.high("frame"), _lengths(labels)
    factor = _factor(labels, last, lengths)
    for index in range(len(labels.filled)):
        rows = labels.rows_of(index)
        step, end, length = _step(labels.column("frame")[rows]), int(last[index]), lengths[index]
        if step > 1:
            counted, often = f"frames of {100 / step:g} ms were counted", f"only one frame in {step} has a row"
            divide, fill = f"divide by {step}", f"write {step} rows for each"
            if end >= (length or LONGEST):
                why, hint = f"{counted} (they go up to {end:,})", divide
            elif length:
                why, hint = f"frames of {step * 100} ms, and {often}", fill
            else:
                why, hint = f"{counted}, or {often}", f"{divide}, or {fill}"
            yield found(rows.start, "frame", f"every frame number is a multiple of {step}: {why}",
                        f"{hint}: a frame has 100 ms")  # fmt: skip
        elif factor > 1 and length:
            yield found(rows.stop - 1, "frame", f"frames go up to {end:,} and the recording has {length:,}: "
                        f"frames of {100 / factor:g} ms were counted",
                        f"divide by {factor:g}: a frame has 100 ms")  # fmt: skip
        elif factor < 1 and length:
            yield found(rows.stop - 1, "frame", f"frames end at {end:,} and the recording has {length:,}, and so it is "
                        f"in all files: frames of {100 / factor:g} ms were counted",
                        f"multiply by {1 / factor:g}, and write one row for each 100 ms")  # fmt: skip
        elif not length and end >= LONGEST:
            yield found(rows.stop - 1, "frame", f"frames go up to {end:,} and the longest recording has 5,400: frames "
                        "of 10 or 20 ms were counted", "divide by 10 or 5: a frame has 100 ms")  # fmt: skip


def _lengths(labels: Labels) -> list[int]:
    """The number of frames of each file's recording; 0 where nothing tells it."""
    limit = labels.format.clip_frames or 0
    return [labels.lengths.get(labels.parts[number].origin.clip, limit) for number in labels.filled]


def _factor(labels: Labels, last: np.ndarray, lengths: list[int]) -> float:
    """By what the numbers of frames have to be divided, judged by the recordings that are known; 1 if by nothing."""
    known = np.array(lengths) > 0
    if not known.any():
        return 1
    shares = (last[known] + 1) / np.array(lengths)[known]
    share = float(shares.max())
    if share > 1.5:  # up to that, an output is padded; beyond, it is where recordings of any length end alike
        factor = next((factor for factor in (2, 2.5, 4, 5, 10) if share <= 1.02 * factor), 0)
        return factor if share > 0.9 * factor and np.median(shares) > 0.7 * factor > 0 else 1
    # short clips, or a few, may well have no event after their beginning
    enough = int(known.sum()) >= 3 and min(labels.lengths.values(), default=0) >= 300
    return next((f for f in (0.1, 0.2) if enough and 0.6 * f < share <= 1.02 * f), 1)


def _step(frames: np.ndarray) -> int:
    """The number that all of many different frame numbers are a multiple of; 0 where there are few."""
    if len(frames) < 2 * ENOUGH or (np.diff(frames[: 4 * ENOUGH]) == 1).any():
        return 0
    distinct = np.unique(frames)
    return int(np.gcd.reduce(distinct)) if len(distinct) >= 2 * ENOUGH else 0


@rule("LAB318", ERROR, fix="unsafe")
def millimetres(labels: Labels, found: Found) -> Iterator[Finding]:
    """Distances in millimetres.

    Half of all distances would be beyond 10 m (beyond 800 m in layouts with metres), which is more than the rooms
    of any data set. As millimetres, they are those of sources in a room.

    Example:
        7,1,0,-50,30,2150  (21.5 m in place of 2.15 m)

    Fix:
        ``--unsafe-fixes`` writes them in the unit of the layout.

    Reference: DCASE 2024 Task 3, distances in centimetres.
    """
    metre = labels.dialect.metre if labels.dialect is not None else None
    if metre is None or not labels.has("distance"):
        return
    distance = labels.column("distance")
    known = distance[distance > 0]
    far = 10 if metre == 100 else 800
    if len(known) < ENOUGH or not far < np.median(known) < 20_000 / metre or known.max() > 100_000 / metre:
        return
    for index in range(len(labels.filled)):
        rows = labels.rows_of(index)
        labels.explain(rows, "distance")
        high, unit = np.nanmax(distance[rows], initial=0), "centimetres" if metre == 100 else "metres"
        yield found(rows.start, "distance", f"distances go up to {high:g} m: these are millimetres",
                    f"{labels.format.name} holds {unit}")  # fmt: skip


@rule("LAB308", ERROR, fix="unsafe")
def distance_unit(labels: Labels, found: Found) -> Iterator[Finding]:
    """Metres where centimetres are due, or the other way round.

    Labels and submissions hold centimetres, 2024's outputs and SpatialScaper's labels metres. The
    official 2024 scorer converts references only: labels given as predictions are 99 m off.

    Example:
        7,1,0,-50,30,2  (2 cm from the microphone)

    Fix:
        ``--unsafe-fixes`` multiplies or divides by 100; ``seldio convert`` changes between layouts.

    Reference: DCASE 2024 Task 3 baseline, loader and writer; SpatialScaper issue 66.
    """
    metre = labels.dialect.metre if labels.dialect is not None else None
    if metre not in (1, 100) or not labels.has("distance") or labels.explained("distance"):
        return
    high = np.fmax.reduceat(labels.column("distance"), labels.starts)
    # what comes out of the repair must not look wrong again
    if metre == 100:
        suspects = np.flatnonzero((high >= 0.0025) & (high < 0.25))
        unit, meant = "centimetres", "metres"
    else:
        suspects = np.flatnonzero((high > 40) & (high <= 4000))
        unit, meant = "metres", "centimetres"
    slices = [labels.rows_of(index) for index in suspects.tolist()]
    if len(suspects) * 2 < len(high) or sum(rows.stop - rows.start for rows in slices) < ENOUGH:
        return
    for index, rows in zip(suspects.tolist(), slices, strict=True):
        if labels.explained("distance", rows):
            continue
        labels.explain(rows, "distance")
        message = f"distances go up to {high[index] * metre:g} {unit}: these are {meant}"
        yield found(rows.start, "distance", message, f"{labels.format.name} holds {unit}")


@rule("LAB311", WARNING)
def angles_cut_off(labels: Labels, found: Found) -> Iterator[Finding]:
    """Angles cut off instead of rounded.

    Cutting decimals off (int() in Python, %i in printf) moves every source towards the front, by
    half a degree on average, and puts all of -0.99 to 0.99 into 0: azimuth 0 is then twice as
    frequent as its neighbours, and ±180 never occurs. It cost a real system 0.27 points of F.

    Example:
        int(-160.8) is -160; the closest whole number is -161

    Fix:
        Write round(azimuth).

    Reference: measured on a published system: 1,466 azimuths of 0, between 677 and 881 of 1 to 4.
    """
    if not labels.has("azimuth") or labels.dialect is None or labels.dialect.kind("azimuth") != "whole":
        return
    if np.maximum(labels.high("azimuth"), -labels.low("azimuth")).max() >= 180:
        return
    azimuth = labels.column("azimuth")
    near = np.array([np.count_nonzero(azimuth == degree) for degree in (-4, -3, -2, -1, 1, 2, 3, 4)])
    zero = np.count_nonzero(azimuth == 0)
    mean = near.mean()
    # the count at 0 must be about double, by far more than chance, and its neighbours alike
    if mean < 100 or not 1.6 * mean < zero < 2.5 * mean or near.max() > 1.6 * near.min():
        return
    yield found(int(np.argmax(azimuth == 0)), "azimuth", f"azimuth 0 occurs {zero:,} times, its neighbours "
                f"{mean:,.0f} times on average, and ±180 never: angles were cut off, not rounded",
                "write round(azimuth), not int(azimuth)")  # fmt: skip


@rule("LAB319", WARNING)
def cut_short(labels: Labels, found: Found) -> Iterator[Finding]:
    """A file without a line end behind its last row, where the other files have one.

    The program that writes the files ends every line. A file that does not end so was probably cut off
    while it was written or copied: rows are missing behind it, and its last number may be shorter than it
    was.

    Example:
        7,1,0,-50,30
        8,1,0,-4  (of 8,1,0,-49,30,181, and no line end)

    Fix:
        Write or fetch the file again.

    Reference: POSIX, 3.177 Line: a line ends with a newline character.
    """
    filled = [labels.parts[number] for number in labels.filled]
    whole = sum(part.origin.final_newline for part in filled)
    # a torn last row has a finding of its own
    open_ended = [
        part for part in filled if not part.origin.final_newline
        and part.place(part.rows - 1, None).line == part.file.data.count(b"\n") + 1
    ] if whole >= 2 else []  # fmt: skip
    if whole >= 2 * len(open_ended):
        for part in open_ended:
            row = part.first + part.rows - 1
            yield found(row, None, f"no line end behind the last row, where {plural(whole, 'other file')} "
                        "have one: the file may have been cut off",
                        "compare its length with that of the recording, and write it again")  # fmt: skip
