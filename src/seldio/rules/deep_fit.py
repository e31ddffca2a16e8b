"""Compare labels with recordings, each read once: does the sound come from the labelled directions?"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seldio import clock, geometry
from seldio.catalogues.trees import Tree, TreePlace
from seldio.errors import SeldioError
from seldio.files import Entry
from seldio.files.names import AUDIO
from seldio.files.sources import Lookup
from seldio.findings import Finding
from seldio.media.arrays import Format
from seldio.rules.base import Labels
from seldio.rules.collection import Collection, Found, grouped
from seldio.rules.deep_causes import HeardCause, Verdict, judge
from seldio.rules.deep_evidence import Heard, evidence_of, share_within
from seldio.rules.deep_pieces import Floats, LabelFrames, Pieces, joined, label_frames, pieces
from seldio.rules.deep_timing import (
    FURTHEST,
    MARGIN,
    AudibleFrames,
    Other,
    Shift,
    evidence,
    other,
    shift,
    sound_frames,
)
from seldio.text import plural, printable
from seldio.vocabularies import vocabulary

if TYPE_CHECKING:
    import pandas as pd

    from seldio.media.intensity import SoundField

FORMATS: tuple[Format, ...] = ("foa", "mic")
#: Of recordings, the usual one first.


@dataclasses.dataclass(frozen=True)
class LabelledClip:
    """The label rows of a clip: label frames, directions (degrees, NaN where unknown), numbers of class and source.

    A frame may be *step* label frames of the file, see :meth:`coarse`; *place* is the place of the file in a tree.
    """

    path: str
    frame: Any
    azimuth: Any
    elevation: Any
    event: Any
    hop: Fraction
    step: int = 1
    place: TreePlace | None = None
    names: Mapping[int, str] = dataclasses.field(default_factory=dict)  # of the classes, by their number in *event*

    def coarse(self) -> LabelledClip:
        """Return the same in frames of 0.1 s, if they are finer: thresholds are numbers of such frames."""
        step = int(clock.HOP / self.hop)
        if step < 2:
            return self
        return dataclasses.replace(self, frame=self.frame // step, hop=self.hop * step, step=step)

    def label_frames(self, count: int) -> LabelFrames:
        """Return the first *count* label frames."""
        return label_frames(self.frame, self.azimuth, self.elevation, self.event, count)


def pairs_of(collection: Collection, tree: Tree, lookup: Lookup) -> Iterator[Pair | Heard]:
    """Yield the labels of each clip of a tree with each of its recordings, or that there is none."""
    entries = {entry.name: entry for entry in collection.entries}
    places = {place.name: place for place in tree.places}
    labelled = {name: rows for name, rows in rows_of(collection).items() if len(rows.frame)}
    for clip in tree.clips:
        if clip.metadata is None or clip.metadata not in labelled:
            continue
        rows = dataclasses.replace(labelled[clip.metadata], place=places.get(clip.metadata))
        named: dict[Format | None, str | None] = {"foa": clip.foa, "mic": clip.mic, None: clip.audio}
        inside = {format: name for format, name in named.items() if name is not None}
        recordings = ((entries[name], format) for format, name in inside.items() if name in entries)
        pairs = [*recordings] if inside else [*_on_disk(tree, places[clip.metadata], lookup)]
        if not pairs:
            yield Heard(clip.clip, "", "", "not heard", "no recording was found")
        for entry, format in pairs:
            said = collection.own.array(entry.name) if collection.own else None
            yield Pair(clip.clip, rows, entry, places.get(entry.name), format or said)


def _on_disk(tree: Tree, place: TreePlace, lookup: Lookup) -> Iterator[tuple[Entry, Format | None]]:
    """Recordings that are not in the source, but in their place on disk; no format if no folder implies it."""
    below = "/".join((*place.below, place.stem))
    tops = {name: top for name, top in tree.row.tops.items() if top.set == place.set or top.set is None}
    wanted: dict[Format | None, list[str]] = {}
    for format in FORMATS:
        folders = [name for name, top in tops.items() if top.field == format] or [format]
        wanted[format] = [f"{folder}/{path}" for folder in folders for path in dict.fromkeys((below, place.stem))]
    if not tops:
        wanted[None] = [f"{place.name.rpartition('/')[0]}/{place.stem}".lstrip("/")]
    for shown, paths in wanted.items():
        names = (f"{path}.{suffix}" for path in paths for suffix in AUDIO)
        entry = next(filter(None, (lookup.find(name, place.name) for name in names)), None)
        if entry is not None:
            yield entry, shown


def rows_of(collection: Collection) -> dict[str, LabelledClip]:
    """Return the rows of each label file by its name; results of systems are left out."""
    found = {}
    for reading in collection.readings:
        labels = Labels(reading)
        polar = labels.has("frame", "azimuth", "elevation")
        if reading.format.role not in ("label", "table") or not (polar or labels.has("frame", "x", "y", "z")):
            continue
        columns = [labels.column(name) for name in (("azimuth", "elevation") if polar else ("x", "y", "z"))]
        azimuth, elevation = columns if polar else geometry.to_polar(*columns)
        names = _names_of(labels)
        event = np.zeros(len(labels), np.int64)
        for name in ("class_id", "source"):
            if labels.has(name):
                event = event * 100_000 + labels.column(name).astype(np.int64) % 100_000
        for index, part in enumerate(labels.filled):
            rows, file = labels.rows_of(index), part.file
            frame = labels.column("frame")[rows].astype(np.int64)
            where = [np.asarray(column[rows], np.float64) for column in (azimuth, elevation)]
            fine = LabelledClip(file.path, frame, where[0], where[1], event[rows], reading.format.hop,
                                names=names)  # fmt: skip
            found[file.name] = fine.coarse()
    return found


def _names_of(labels: Labels) -> dict[int, str]:
    """Return the classes of labels by their number: the names in the file, or those of its vocabulary."""
    if not labels.has("class_id"):
        return {}
    numbers, first = np.unique(labels.column("class_id"), return_index=True)
    spelt = labels.column("class_name")[first].tolist() if labels.has("class_name") else [""] * len(first)
    known = vocabulary(labels.reading.format.vocabulary) if labels.reading.format.vocabulary else None
    told = (name or (known.label(number) if known is not None else f"class {number}")
            for number, name in zip(numbers.tolist(), spelt, strict=True))  # fmt: skip
    return dict(zip(numbers.tolist(), map(printable, told), strict=True))


class Pair(NamedTuple):
    """The labels of a clip and a recording of it; the format is None if no folder implies it."""

    clip: str
    rows: LabelledClip
    entry: Entry
    place: TreePlace | None
    format: Format | None

    @property
    def size(self) -> int:
        """Bytes of the recording."""
        return max(0, self.entry.size)


#: Fewest clips of a format that are looked at together.
MANY = 4
#: Lowest and highest rate that is analysed: the bands end at 3.3 kHz.
_RATES = (8_000, 192_000)
_NO_ARRAY = (
    'the four channels look like neither FOA nor MIC: set arrays = ["foa"] (or ["mic"]) under [recordings] in '
    "dataset.toml"
)
#: Causes that are most often in the labels; the others are in the recording.
IN_LABELS = frozenset({"mirrored", "flipped", "reversed", "rotated"})
#: Labels fit badly if at least this is heard (pieces of up to 2 s, places, label frames), at most this share of the
#: label frames fits within 30 degrees, and their median error (degrees) is this large.
_MUCH, _PLACES, _FRAMES, _SHARE, _OFF = 15, 4, 100, 0.25, 55.0
#: Share of that time within 30 degrees from which labels fit another recording of the clip.
_AGREED = 0.5
#: Smallest log-likelihood by which the other recording of a clip supports its labels, or contradicts them.
_CLEAR = 3.0


@dataclasses.dataclass(frozen=True)
class Fit:
    """A recording compared with the labels of its clip."""

    clip: str  # its name
    labels: str  # the path of its labels
    recording: str  # the path of the recording
    place: TreePlace | None  # its place in the tree
    labels_place: TreePlace | None  # that of the labels
    hop: Fraction  # seconds of a frame
    step: int  # label frames of the file in one such frame
    format: Format  # of the recording, according to its folder
    taken: Format | None  # the other format, if the channels look like that; None if they look right
    turned: tuple[int, ...]  # inverted channels (from 0), where that can be detected without labels
    label_frames: LabelFrames  # the labels
    sound_frames: AudibleFrames  # the measurements
    pieces: Mapping[int, Pieces]  # both together, by the channel that is assumed to be W
    verdict: Verdict | None  # why directions differ
    unlike: Floats | None  # of FOA, how far its levels are from a sound field (:func:`seldio.media.intensity.unlike`)
    evidence: pd.DataFrame  # how far labels and audio are apart where a single source is labelled
    names: Mapping[int, str]  # of the classes

    @property
    def kind(self) -> str:
        """The kind of its cause; empty without one."""
        return self.verdict.cause.kind if self.verdict is not None else ""

    @property
    def file(self) -> str:
        """The file name of the recording, printable."""
        return printable(self.recording.replace("\\", "/").rpartition("/")[2])

    @property
    def intact(self) -> bool:
        """Whether the four channels look right, as far as that can be detected without labels."""
        return self.taken is None and not self.turned


class HeardClip(NamedTuple):
    """The measurements of one clip."""

    recordings: list[Heard]  # in each of its recordings
    frames: AudibleFrames  # the directions in each label frame of the first one
    hop: float  # seconds of such a label frame


def timing(fit: Fit, every: Mapping[str, LabelFrames]) -> Shift | Other | None:
    """Return the shift, or the clip of *every* (by the path of its labels), that explains a recording best."""
    if not fit.intact:
        return None
    clips = {**every, fit.labels: fit.label_frames}
    if fit.verdict is not None:
        elsewhere, cause = other(fit.labels, clips, fit.sound_frames), fit.verdict.cause
        turned = np.sum(evidence(fit.label_frames, fit.sound_frames.turned(cause.turn)))
        better = elsewhere is not None and (cause.reference or elsewhere.likelihood > turned + MARGIN)
        return elsewhere if better else None
    explained = (shift(fit.label_frames, fit.sound_frames), other(fit.labels, clips, fit.sound_frames))
    return max((one for one in explained if one is not None), key=lambda one: one.likelihood, default=None)


@dataclasses.dataclass(frozen=True)
class BlamedCause:
    """A cause that recordings show, and which file is at fault."""

    fits: list[Fit]  # the recordings
    verdict: Verdict  # that of the first, or of all together
    agree: bool | None  # whether the labels fit the other recordings of the clips, see :meth:`Fits.agree`

    @property
    def cause(self) -> HeardCause:
        """The cause in words about the file that is at fault."""
        return self.verdict.cause.in_labels if self.agree is False else self.verdict.cause

    @property
    def in_labels(self) -> bool:
        """Whether the labels are at fault: two recordings show it, or one does and this cause is usually in labels."""
        return self.agree is False or (self.agree is None and self.cause.kind in IN_LABELS)


class Symptom(NamedTuple):
    """A fault of a recording, whatever its labels."""

    fit: Fit
    what: str  # a sentence
    hint: str


class Fits:
    """Recordings with four channels of a collection, each compared with the labels of its clip."""

    def __init__(self, collection: Collection, fits: Iterable[Fit]) -> None:
        self.collection, self.all = collection, list(fits)

    def told(self, symptoms: Iterable[Symptom], found: Found) -> Iterator[Finding]:
        """Yield a finding for each recording; one with their number where most recordings of a format have the same."""
        for (format, what), same in grouped(symptoms, lambda one: (one.fit.format, one.what)).items():
            total = sum(fit.format == format for fit in self.all)
            if len(same) < MANY or 2 * len(same) <= total:
                for one in same:
                    yield found(one.fit.recording, f"{one.fit.file}: {what}", one.hint)
                continue
            path = self.collection.spot([one.fit.place for one in same if one.fit.place is not None])
            said = f"in {len(same):,} of {total:,} {format.upper()} recordings, {what}"
            yield found(path, said, same[0].hint)

    def siblings(self, fit: Fit) -> list[Fit]:
        """Return the other recordings of the same clip whose channels look right."""
        return [one for one in self.all if one.labels == fit.labels and one is not fit and one.intact]

    def agree(self, fits: Iterable[Fit], cause: HeardCause) -> bool | None:
        """Return whether the siblings of *fits*, which show *cause*, agree with the labels; None if unknown.

        They disagree if they show the same cause: then the labels are wrong.
        """
        turns = np.stack((np.eye(3), cause.turn))
        evidences = [one.pieces[0].evidence(turns).sum(axis=1) for fit in fits for one in self.siblings(fit)]
        return _better(*np.sum(evidences, axis=0)) if evidences and not cause.reference else None

    def agree_in_time(self, fit: Fit, shown: Shift | Other) -> bool | None:
        """Return the same, where *fit* shows another time or clip."""
        labels, late = (
            (fit.label_frames, shown.frames) if isinstance(shown, Shift) else (self.label_frames[shown.clip], 0)
        )
        evidences = [
            (np.sum(evidence(fit.label_frames, one.sound_frames)), np.sum(evidence(labels, one.sound_frames, late)))
            for one in self.siblings(fit)
        ]
        return _better(*np.sum(evidences, axis=0)) if evidences else None

    @cached_property
    def label_frames(self) -> dict[str, LabelFrames]:
        """The label frames of each clip, by the path of its labels."""
        return {fit.labels: fit.label_frames for fit in self.all}

    @cached_property
    def faults(self) -> list[BlamedCause]:
        """The causes that single recordings show, and not all of them; the same causes of one file are combined."""
        others = {fit.recording for fit, one in self.timings if isinstance(one, Other)}
        shown = (
            BlamedCause([fit], fit.verdict, self.agree([fit], fit.verdict.cause))
            for fit in self.apart if fit.verdict is not None and fit.recording not in others and not self.exchanged
        )  # fmt: skip

        def blamed(fault: BlamedCause) -> Hashable:
            fit = fault.fits[0]
            return fault.cause.kind, fit.labels if fault.in_labels else fit.recording, fault.agree

        return [_together(same) for same in grouped(shown, blamed).values()]

    @cached_property
    def shared(self) -> list[BlamedCause]:
        """Causes that all recordings of a format share, from the places of all of them; combined if both agree."""
        shown: list[BlamedCause] = []
        for format in FORMATS:
            fits = [fit for fit in self.all if fit.format == format and fit.intact and len(fit.pieces[0])]
            if len(fits) < MANY:
                continue
            verdict = judge({of: joined([fit.pieces[of] for fit in fits]) for of in fits[0].pieces}, format)
            if verdict is not None:
                shown.append(BlamedCause(fits, verdict, self.agree(fits, verdict.cause)))

        def blamed(fault: BlamedCause) -> Hashable:
            # where labels are at fault the turn is that of the labels, however it is measured
            return fault.cause.kind, None if fault.agree is False else fault.verdict.cause.change.name, fault.agree

        return [_together(same) for same in grouped(shown, blamed).values()]

    @cached_property
    def apart(self) -> list[Fit]:
        """The recordings of formats that share no cause: it hides what single ones have."""
        shared = {fit.format for fault in self.shared for fit in fault.fits}
        return [fit for fit in self.all if fit.format not in shared]

    @cached_property
    def timings(self) -> list[tuple[Fit, Shift | Other]]:
        """The recordings whose labels fit at another time, or are those of another clip; all of them, not a part."""
        return [(fit, one) for fit, one in self._timed if isinstance(one, Other) or not self.exchanged]

    @cached_property
    def _timed(self) -> list[tuple[Fit, Shift | Other]]:
        found = ((fit, timing(fit, self.label_frames)) for fit in self.apart)
        return [(fit, one) for fit, one in found if one is not None]

    @cached_property
    def exchanged(self) -> bool:
        """Whether most labels are those of other clips: then another cause of a single clip would be chance."""
        count = sum(isinstance(one, Other) for _, one in self._timed)
        return count >= MANY and 2 * count >= len(self.all)

    @cached_property
    def misfits(self) -> list[tuple[Fit, float, float, int, bool]]:
        """The recordings whose labels fit badly for no known cause.

        With the share of label frames within 30 degrees, the median error, the number of label frames, and whether
        the labels fit another recording of the clip; one recording for each label file.
        """
        explained = {fit.labels for fault in self.faults for fit in fault.fits}
        explained |= {fit.labels for fit, _ in self.timings}
        found: dict[str, tuple[Fit, float, float, int, bool]] = {}
        for fit in self.apart:
            pieces = fit.pieces[0]
            frames = int(pieces.frames.sum())
            if not fit.intact or fit.labels in explained or pieces.whole < _MUCH or frames < _FRAMES:
                continue
            error = np.degrees(np.arccos(np.clip(pieces.cosines(np.eye(3)), -1.0, 1.0)))
            share = float(pieces.frames[error <= 30].sum() / frames)
            middle = float(np.median(np.repeat(error, pieces.frames)))
            if share <= _SHARE and middle >= _OFF and pieces.places >= _PLACES:
                siblings = [one.evidence for one in self.siblings(fit) if len(one.evidence)]
                other = any(share_within(pieces) >= _AGREED for pieces in siblings)
                found.setdefault(fit.labels, (fit, share, middle, frames, other))
        return list(found.values())


def _together(same: list[BlamedCause]) -> BlamedCause:
    """One cause, with the recordings of several equal ones."""
    return dataclasses.replace(same[0], fits=[fit for fault in same for fit in fault.fits])


def _better(labelled: float, changed: float) -> bool | None:
    """Whether unchanged labels explain the measurements better (log-likelihoods); None if neither clearly does."""
    clear = max(labelled, changed) > 0 and abs(labelled - changed) > _CLEAR
    return bool(labelled > changed) if clear else None


def compared(pair: Pair) -> Fit | Heard:
    """Compare a recording with labels, or return why it cannot be; other rules report what is wrong with it."""
    from seldio.media.intensity import array_of, inverted, listen, one_sound
    from seldio.media.recording import Recording

    clip, rows, entry, place, format = pair
    try:
        with Recording(entry) as recording:
            why = (
                f"the recording has {plural(recording.channels, 'channel')}, not 4" if recording.channels != 4
                else "the recording has no samples" if not len(recording)
                else f"its rate of {recording.rate:,} Hz is outside {_RATES[0]:,} to {_RATES[1]:,} Hz"
                if not _RATES[0] <= recording.rate <= _RATES[1] else ""
            )  # fmt: skip
            if why:
                return Heard(clip, entry.path, format or "", "not heard", why)
            field = listen(recording, format or "foa", rows.hop)
            if one_sound(field.raw):
                return Heard(clip, entry.path, format or "", "not heard", "its four channels are the same sound")
            looks = array_of(field.raw)
            if format is None and looks is None:
                return Heard(clip, entry.path, "", "not heard", _NO_ARRAY)
            if format is None and looks == "mic":
                field = listen(recording, "mic", rows.hop)
    except SeldioError:
        return Heard(clip, entry.path, format or "", "not heard", "the recording cannot be read")
    shown: Format = format or looks or "foa"
    taken = looks if looks != shown else None
    return judged(clip, rows, entry.path, place, shown, taken, inverted(field.raw) if shown == "mic" else (), field)


def judged(
    clip: str, rows: LabelledClip, recording: str, place: TreePlace | None, format: Format, taken: Format | None,
    turned: tuple[int, ...], field: SoundField,
) -> Fit:  # fmt: skip
    """Return the :class:`Fit` of a recording, from its sound field."""
    from seldio.media.intensity import unlike

    labels = rows.label_frames(len(field) + FURTHEST)
    directions = {reference: field.directions(reference) for reference in (range(4) if format == "foa" else (0,))}
    by_reference = pieces(labels, directions)
    verdict = judge(by_reference, format) if taken is None and not turned else None
    sound = sound_frames(directions[0], field.activity())
    return Fit(clip, rows.path, recording, place, rows.place, rows.hop, rows.step, format, taken, turned, labels, sound,
               by_reference, verdict, unlike(field) if format == "foa" else None,
               evidence_of(labels, directions[0]), rows.names)  # fmt: skip
