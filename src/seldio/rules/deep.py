"""AUD3: labels compared with the audio. Each rule reports one cause, and only with evidence from many positions.

Each recording is read once: does the sound come from the labelled directions? ``docs/concepts/listening.md`` describes
the method, with rates of detection and false alarms.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from seldio import clock, geometry
from seldio.catalogues.trees import Tree, TreePlace
from seldio.errors import SeldioError
from seldio.files import Entry
from seldio.files.entries import packed
from seldio.files.names import AUDIO
from seldio.files.sources import Lookup
from seldio.findings import Finding, Sink
from seldio.formats import LabelReading
from seldio.media.arrays import Format
from seldio.parallel import parallel_map
from seldio.rules import ERROR, WARNING, findings
from seldio.rules.base import Labels
from seldio.rules.collection import Collection, MakeFinding, grouped
from seldio.rules.deep_causes import HeardCause, Verdict, judge
from seldio.rules.deep_pieces import (
    FURTHEST,
    MARGIN,
    AudibleFrames,
    Heard,
    LabelFrames,
    Other,
    Shift,
    evidence,
    evidence_of,
    joined,
    label_frames,
    other,
    pieces,
    share_within,
    shift,
    sound_frames,
    summary,
    together,
)
from seldio.text import listed, plural, printable
from seldio.vocabularies import vocabulary

if TYPE_CHECKING:
    from seldio.media.intensity import SoundField

#: The formats of recordings, the usual one first.
FORMATS: tuple[Format, ...] = ("foa", "mic")


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
        """Return the labels in frames of 0.1 s, in which thresholds are counted, if theirs are finer."""
        step = int(clock.HOP / self.hop)
        if step < 2:
            return self
        return dataclasses.replace(self, frame=self.frame // step, hop=self.hop * step, step=step)


def pairs_of(collection: Collection, tree: Tree, lookup: Lookup) -> Iterator[Pair | Heard]:
    """Yield the labels of each clip of a tree with each of its recordings, or that there is none."""
    entries = {entry.name: entry for entry in collection.entries}
    places = {place.name: place for place in tree.places}
    labelled = rows_of(collection)
    for clip in tree.clips:
        if clip.metadata is None or clip.metadata not in labelled:
            continue
        rows = dataclasses.replace(labelled[clip.metadata], place=places.get(clip.metadata))
        named: dict[Format | None, str | None] = {"foa": clip.foa, "mic": clip.mic, None: clip.audio}
        inside = {format: name for format, name in named.items() if name is not None}
        recordings = [(entries[name], format) for format, name in inside.items() if name in entries]
        if not inside:
            recordings = [*_on_disk(tree, places[clip.metadata], lookup)]
        if not recordings:
            yield Heard(clip.clip, "", "", "not heard", "no recording was found")
        for entry, format in recordings:
            declared = collection.own.array(entry.name) if collection.own else None
            yield Pair(clip.clip, rows, entry, places.get(entry.name), format or declared)


def _on_disk(tree: Tree, place: TreePlace, lookup: Lookup) -> Iterator[tuple[Entry, Format | None]]:
    """Yield recordings that are not in the source, but in their place on disk; no format if no folder implies it."""
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
    """Return the rows of each label file that has some, by its name; results of systems are left out."""
    clips = {}
    for reading in collection.readings:
        labels = Labels(reading)
        polar = labels.has("frame", "azimuth", "elevation")
        if reading.format.role not in ("label", "table") or not (polar or labels.has("frame", "x", "y", "z")):
            continue
        columns = [labels.column(name) for name in (("azimuth", "elevation") if polar else ("x", "y", "z"))]
        azimuth, elevation = columns if polar else geometry.to_polar(*columns)
        names: dict[int, str] = {}  # the classes by their number: the names in the file, or those of its vocabulary
        if labels.has("class_id"):
            numbers, first = np.unique(labels.column("class_id"), return_index=True)
            spelt = labels.column("class_name")[first].tolist() if labels.has("class_name") else [""] * len(first)
            label = vocabulary(reading.format.vocabulary).label if reading.format.vocabulary else "class {}".format
            pairs = zip(numbers.tolist(), spelt, strict=True)
            names = {number: printable(name or label(number)) for number, name in pairs}
        event = np.zeros(len(labels), np.int64)
        for name in ("class_id", "source"):
            if labels.has(name):
                event = event * 100_000 + labels.column(name).astype(np.int64) % 100_000
        for index, part in enumerate(labels.filled):
            rows, file = labels.rows_of(index), part.file
            frame = labels.column("frame")[rows].astype(np.int64)
            left, up = (np.asarray(column[rows], np.float64) for column in (azimuth, elevation))
            clip = LabelledClip(file.path, frame, left, up, event[rows], reading.format.hop, names=names)
            clips[file.name] = clip.coarse()
    return clips


class Pair(NamedTuple):
    """The labels of a clip and a recording of it; the format is None if no folder implies it."""

    clip: str
    rows: LabelledClip
    entry: Entry
    place: TreePlace | None
    format: Format | None


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
_MUCH, _FEWEST_PLACES, _FRAMES, _MISFIT_SHARE, _OFF = 15, 4, 100, 0.25, 55.0
#: Share of that time within 30 degrees from which labels fit another recording of the clip.
_AGREED = 0.5
#: Smallest log-likelihood by which the other recording of a clip supports its labels, or contradicts them.
_CLEAR = 3.0


class Fit:
    """A recording compared with the labels of its clip.

    Args:
        clip: its name.
        rows: its labels.
        recording: the path of the recording.
        place: its place in the tree.
        format: of the recording, according to its folder.
        taken: the other format, if the channels look like that; None if they look right.
        turned: inverted channels (from 0), where that can be detected without labels.
        field: its sound.
    """

    def __init__(
        self,
        clip: str,
        rows: LabelledClip,
        recording: str,
        place: TreePlace | None,
        format: Format,
        taken: Format | None,
        turned: tuple[int, ...],
        field: SoundField,
    ) -> None:
        self.clip, self.rows, self.recording, self.place, self.format = clip, rows, recording, place, format
        self.taken, self.turned = taken, turned
        #: whether the four channels look right, as far as that can be detected without labels
        self.intact = taken is None and not turned
        #: the path of its labels, and the file name of the recording, printable
        self.labels, self.file = rows.path, printable(recording.replace("\\", "/").rpartition("/")[2])
        directions = field.directions()
        self.label_frames = label_frames(rows.frame, rows.azimuth, rows.elevation, rows.event, len(field) + FURTHEST)
        self.sound_frames = sound_frames(directions, field.activity())
        #: both together, and why their directions differ
        self.pieces = pieces(self.label_frames, directions)
        self.verdict = judge(self.pieces, format) if self.intact else None
        #: how far labels and audio are apart where a single source is labelled
        self.evidence = evidence_of(self.label_frames, directions)


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
        sound = dataclasses.replace(fit.sound_frames, direction=fit.sound_frames.direction @ cause.turn.T)
        turned = np.sum(evidence(fit.label_frames, sound))
        better = elsewhere is not None and elsewhere.likelihood > turned + MARGIN
        return elsewhere if better else None
    late, elsewhere = shift(fit.label_frames, fit.sound_frames), other(fit.labels, clips, fit.sound_frames)
    if late is None or elsewhere is None:
        return late or elsewhere
    return elsewhere if elsewhere.likelihood > late.likelihood else late


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


class Fits:
    """Recordings with four channels of a collection, each compared with the labels of its clip."""

    def __init__(self, collection: Collection, fits: Iterable[Fit]) -> None:
        self.collection, self.all = collection, list(fits)
        self._of_labels = grouped(self.all, attrgetter("labels"))
        #: the label frames of each clip, by the path of its labels
        self.label_frames = {fit.labels: fit.label_frames for fit in self.all}

    def siblings(self, fit: Fit) -> list[Fit]:
        """Return the other recordings of the same clip whose channels look right."""
        return [other for other in self._of_labels[fit.labels] if other is not fit and other.intact]

    def agree(self, fits: Iterable[Fit], cause: HeardCause) -> bool | None:
        """Return whether the siblings of *fits*, which show *cause*, agree with the labels; None if unknown.

        They disagree if they show the same cause: then the labels are wrong.
        """
        turns = np.stack((np.eye(3), cause.turn))
        siblings = [sibling for fit in fits for sibling in self.siblings(fit)]
        evidences = [sibling.pieces.evidence(turns).sum(axis=1) for sibling in siblings]
        return _better(*np.sum(evidences, axis=0)) if evidences else None

    def agree_in_time(self, fit: Fit, shown: Shift | Other) -> bool | None:
        """Return the same, where *fit* shows another time or clip."""
        labels = self.label_frames[shown.clip] if isinstance(shown, Other) else fit.label_frames
        late = shown.frames if isinstance(shown, Shift) else 0
        sounds = [sibling.sound_frames for sibling in self.siblings(fit)]
        evidences = [
            (np.sum(evidence(fit.label_frames, sound)), np.sum(evidence(labels, sound, late))) for sound in sounds
        ]
        return _better(*np.sum(evidences, axis=0)) if evidences else None

    @cached_property
    def faults(self) -> list[BlamedCause]:
        """The causes that single recordings show, and not all of them; the same causes of one file are combined."""
        timings, exchanged = self.timings
        others = {fit.recording for fit, shown in timings if isinstance(shown, Other)}
        single = ((fit, fit.verdict) for fit in self.single if not exchanged and fit.recording not in others)
        faults = (BlamedCause([fit], said, self.agree([fit], said.cause)) for fit, said in single if said is not None)

        def blamed(fault: BlamedCause) -> Hashable:
            fit = fault.fits[0]
            return fault.cause.kind, fit.labels if fault.in_labels else fit.recording, fault.agree

        return _combined(faults, blamed)

    @cached_property
    def shared(self) -> list[BlamedCause]:
        """Causes that all recordings of a format share, from the places of all of them; combined if both agree."""
        groups = grouped((fit for fit in self.all if fit.intact and len(fit.pieces)), attrgetter("format"))
        many = [(format, groups[format]) for format in FORMATS if len(groups.get(format, ())) >= MANY]
        verdicts = ((fits, judge(joined([fit.pieces for fit in fits]), format)) for format, fits in many)
        faults = (BlamedCause(fits, said, self.agree(fits, said.cause)) for fits, said in verdicts if said is not None)

        def blamed(fault: BlamedCause) -> Hashable:
            # where labels are at fault the turn is that of the labels, however it is measured
            return fault.cause.kind, None if fault.agree is False else fault.verdict.cause.change.name, fault.agree

        return _combined(faults, blamed)

    @cached_property
    def single(self) -> list[Fit]:
        """The recordings of formats that share no cause: it hides what single ones have."""
        shared = {fit.format for fault in self.shared for fit in fault.fits}
        return [fit for fit in self.all if fit.format not in shared]

    @cached_property
    def timings(self) -> tuple[list[tuple[Fit, Shift | Other]], bool]:
        """The recordings whose labels fit at another time or are those of another clip; whether most are the latter.

        Where most labels are those of other clips, another cause of a single clip would be chance: there is none then.
        """
        shown = ((fit, timing(fit, self.label_frames)) for fit in self.single)
        timings = [(fit, cause) for fit, cause in shown if cause is not None]
        count = sum(isinstance(cause, Other) for _, cause in timings)
        exchanged = count >= MANY and 2 * count >= len(self.all)
        return [pair for pair in timings if isinstance(pair[1], Other) or not exchanged], exchanged

    @cached_property
    def misfits(self) -> list[tuple[Fit, float, float, int, bool]]:
        """The recordings whose labels fit badly for no known cause.

        With the share of label frames within 30 degrees, the median error, the number of label frames, and whether
        the labels fit another recording of the clip; one recording for each label file.
        """
        explained = {fit.labels for fault in self.faults for fit in fault.fits}
        explained |= {fit.labels for fit, _ in self.timings[0]}
        misfits: dict[str, tuple[Fit, float, float, int, bool]] = {}
        for fit in self.single:
            pieces = fit.pieces
            frames = int(pieces.frames.sum())
            if not fit.intact or fit.labels in explained or pieces.support.sum() < _MUCH or frames < _FRAMES:
                continue
            error = np.degrees(np.arccos(np.clip(pieces.cosines(np.eye(3)), -1.0, 1.0)))
            share = float(pieces.frames[error <= 30].sum() / frames)
            middle = float(np.median(np.repeat(error, pieces.frames)))
            if share <= _MISFIT_SHARE and middle >= _OFF and pieces.places >= _FEWEST_PLACES:
                siblings = [sibling.evidence for sibling in self.siblings(fit) if len(sibling.evidence)]
                other = any(share_within(pieces) >= _AGREED for pieces in siblings)
                misfits.setdefault(fit.labels, (fit, share, middle, frames, other))
        return list(misfits.values())


def _combined(faults: Iterable[BlamedCause], key: Callable[[BlamedCause], Hashable]) -> list[BlamedCause]:
    """Return one cause for those that have the same *key*, with the recordings of all of them."""
    groups = grouped(faults, key).values()
    return [dataclasses.replace(same[0], fits=[fit for fault in same for fit in fault.fits]) for same in groups]


def _better(labelled: float, changed: float) -> bool | None:
    """Return whether unchanged labels explain the measurements better, by log-likelihoods; None if it is not clear."""
    clear = max(labelled, changed) > 0 and abs(labelled - changed) > _CLEAR
    return bool(labelled > changed) if clear else None


def compared(pair: Pair) -> Fit | Heard:
    """Compare a recording with labels, or return why it cannot be; other rules report what is wrong with it."""
    from seldio.media.intensity import array_of, inverted, listen, one_sound
    from seldio.media.recording import Recording

    clip, rows, entry, place, format = pair
    not_heard = partial(Heard, clip, entry.path, format or "", "not heard")
    try:
        with Recording(entry) as recording:
            if recording.channels != 4:
                return not_heard(f"the recording has {plural(recording.channels, 'channel')}, not 4")
            if not len(recording):
                return not_heard("the recording has no samples")
            if not _RATES[0] <= recording.rate <= _RATES[1]:
                return not_heard(f"its rate of {recording.rate:,} Hz is outside {_RATES[0]:,} to {_RATES[1]:,} Hz")
            field = listen(recording, format or "foa", rows.hop)
            if one_sound(field.raw):
                return not_heard("its four channels are the same sound")
            looks = array_of(field.raw)
            if format is None and looks is None:
                return not_heard(_NO_ARRAY)
            if format is None and looks == "mic":
                field = listen(recording, "mic", rows.hop)
    except SeldioError as error:
        return not_heard(f"the recording cannot be read ({error.text})")
    shown: Format = format or looks or "foa"
    taken = looks if looks != shown else None
    return Fit(clip, rows, entry.path, place, shown, taken, inverted(field.raw) if shown == "mic" else (), field)


# --- rules ------------------------------------------------------------------------------------------------------------

_Timing = TypeVar("_Timing", Shift, Other)


def directions(kind: str, fits: Fits, finding: MakeFinding) -> Iterator[Finding]:
    """Yield a finding for each file with a cause of this kind, and one for all clips together if they share it."""
    for fault in fits.faults:
        if fault.cause.kind == kind:
            what, hint = _explained(fault, "recording of the clip")
            path = fault.fits[0].labels if fault.in_labels else fault.fits[0].recording
            sure = any(fit.verdict is not None and fit.verdict.sure for fit in fault.fits)
            few = "" if sure else "few places, but clear: "
            message = f"{few}{what} ({_evidence(fault.verdict)}; {_names(fault.fits)})"
            yield finding(path, message, hint, severity=ERROR if sure else WARNING)
    for fault in fits.shared:
        if fault.cause.kind == kind:
            what, hint = _explained(fault, "recordings")
            formats = Counter(fit.format for fit in fault.fits)
            counts = " and ".join(f"{count:,} {format.upper()}" for format, count in formats.items())
            places = [fit.rows.place if fault.agree is False else fit.place for fit in fault.fits]
            path = fits.collection.spot([place for place in places if place is not None])
            yield finding(path, f"in all {counts} recordings together, {what} ({_evidence(fault.verdict)})", hint)


def _explained(fault: BlamedCause, siblings: str) -> tuple[str, str]:
    """Return problem and hint; *siblings* is the term for the other recordings of the clips here.

    An inverted channel of FOA looks like mirrored labels: only the other array can tell which it is.
    """
    cause, agree, formats = fault.verdict.cause, fault.agree, [fit.format for fit in fault.fits]
    turned = f"channel {cause.channel} is inverted"
    undo = f"flip the sign of channel {cause.channel}"
    if agree and cause.channel:
        return f"{turned}, since the labels fit the other {siblings}", f"use the original, or {undo}"
    if agree and cause.kind in IN_LABELS:
        these = f"{formats[0].upper()} recording{'s' if len(formats) > 1 else ''}"
        return f"{cause.what}, but only in the {these}: the labels fit the other {siblings}", "use the original"
    if agree is None and cause.channel and "mic" not in formats:
        hint = f"{cause.hint}; or, if the recording is at fault, {undo}"
        return f"{cause.what}, or {turned}: FOA alone cannot tell", hint
    return fault.cause.what, fault.cause.hint


def _evidence(verdict: Verdict) -> str:
    rival = f"; nearly as likely: {verdict.rival.what}" if verdict.rival is not None else ""
    return (
        f"{plural(verdict.events, 'isolated event')} at {plural(verdict.places, 'position')} {verdict.before:.0f}° off "
        f"as labelled, {verdict.after:.0f}° after correction{rival}"
    )


def by_file(fits: Fits, kind: type[_Timing]) -> Iterator[tuple[Fit, _Timing, bool | None, str]]:
    """Yield each file at fault for a wrong time or clip once, with the recording that shows it best, and its verdict.

    Then whether the other recordings of the clip agree with the labels (see :meth:`Fits.agree_in_time`): if so, the
    recording is at fault, else the labels. Last come the names of all recordings that show the fault.
    """
    faults = ((fit, shown, fits.agree_in_time(fit, shown)) for fit, shown in fits.timings[0] if isinstance(shown, kind))
    groups = grouped(faults, lambda fault: (fault[0].recording if fault[2] else fault[0].labels, bool(fault[2])))
    for group in groups.values():
        fit, clearest, agree = max(group, key=lambda fault: fault[1].after)
        yield fit, clearest, agree, _names([fit for fit, _, _ in group])


def _names(fits: list[Fit]) -> str:
    return " and ".join(f"{fit.file} as {fit.format.upper()}" for fit in fits)


def azimuths_mirrored(fits: Fits, finding: MakeFinding) -> Iterator[Finding]:
    return directions("mirrored", fits, finding)


def elevations_upside_down(fits: Fits, finding: MakeFinding) -> Iterator[Finding]:
    return directions("flipped", fits, finding)


def front_and_back_exchanged(fits: Fits, finding: MakeFinding) -> Iterator[Finding]:
    return directions("reversed", fits, finding)


def azimuths_rotated(fits: Fits, finding: MakeFinding) -> Iterator[Finding]:
    return directions("rotated", fits, finding)


#: Why channels look like the other array.
_LIKE = {
    "mic": "they are equally loud and nearly identical at low frequencies",
    "foa": "the first is as loud as the others together, and they differ at low frequencies",
}


def channels_exchanged(fits: Fits, finding: MakeFinding) -> Iterator[Finding]:
    yield from directions("order", fits, finding)
    yield from directions("inverted", fits, finding)
    wrong = (fit for fit in fits.all if not fit.intact)
    for (format, taken, turned), same in grouped(wrong, attrgetter("format", "taken", "turned")).items():
        if taken is not None:
            what = f"the channels look like {taken.upper()}, not {format.upper()}: {_LIKE[taken]}"
            hint = f"use the {format.upper()} recording"
        else:
            numbers = listed([str(channel + 1) for channel in turned])
            what = f"channel{'s' if len(turned) > 1 else ''} {numbers} {'are' if len(turned) > 1 else 'is'} inverted "
            what, hint = f"{what}relative to the rest", "use the original"
        total = sum(fit.format == format for fit in fits.all)
        if len(same) < MANY or 2 * len(same) <= total:
            yield from (finding(fit.recording, f"{fit.file}: {what}", hint) for fit in same)
        else:
            path = fits.collection.spot([fit.place for fit in same if fit.place is not None])
            yield finding(path, f"in {len(same):,} of {total:,} {format.upper()} recordings, {what}", hint)


def labels_shifted(fits: Fits, finding: MakeFinding) -> Iterator[Finding]:
    for fit, moved, agree, names in by_file(fits, Shift):
        time, late = f"{float(abs(moved.frames) * fit.rows.hop):.1f} s", moved.frames * fit.rows.step
        count = plural(abs(late), "label frame")
        fits_now = f"{100 * moved.before:.0f} % of isolated label frames fit as labelled, "
        fits_now += f"{100 * moved.after:.0f} % after the shift"
        if agree:
            side = "early" if late > 0 else "late"
            message = f"{fit.file} ({fit.format.upper()}) sounds {time} {side} ({count}) relative to the labels, which "
            message += f"fit the other recording of the clip: {fits_now}"
            yield finding(fit.recording, message, "use the original recording")
        else:
            side = "late" if late > 0 else "early"
            hint = f"add {-late:+d} to each frame number"
            hint += "" if agree is False else "; if the recording was trimmed or padded, use the original instead"
            yield finding(fit.labels, f"labels look {time} {side} ({count}): {fits_now} ({names})", hint)


def labels_of_another_clip(fits: Fits, finding: MakeFinding) -> Iterator[Finding]:
    for fit, elsewhere, agree, names in by_file(fits, Other):
        share = f"{printable(elsewhere.clip)} fits {100 * elsewhere.after:.0f} % of isolated label frames"
        before = f"{100 * elsewhere.before:.0f} %"
        if agree:
            message = f"{fit.file} ({fit.format.upper()}) sounds like another clip: {share}; its own labels fit "
            message += f"{before}, but also the other recording of the clip"
            yield finding(fit.recording, message, "use the recording that belongs to the labels")
        else:
            message = f"the labels seem to belong to another clip: {share}, these {before} ({names})"
            yield finding(fit.labels, message, "check which name is right")


def labels_fit_badly(fits: Fits, finding: MakeFinding) -> Iterator[Finding]:
    for fit, share, middle, frames, fits_sibling in fits.misfits:
        numbers = f"{100 * share:.0f} % of {plural(frames, 'label frame')} within 30°, the median is {middle:.0f}° "
        numbers += f"off ({_names([fit])})"
        if fits_sibling:
            message = f"the labels fit the other recording of the clip, but not this one, for no known cause: {numbers}"
            yield finding(fit.recording, message, "use the original recording")
        else:
            message = f"the labels fit badly, and no known cause explains it: {numbers}"
            hint = "listen to it with seldio view --deep, or compare both with the originals"
            yield finding(fit.labels, message, hint)


#: Fewest seconds and places, and smallest share within 30 degrees, of labels that fit.
_SECONDS, _PLACES, _SHARE = 5.0, 2, 0.5


def heard(fits: Fits, unheard: Iterable[Heard] = ()) -> list[Heard]:
    """Return what was heard of labels, recording by recording, then in all audible recordings of a format."""
    blamed = {fit.recording for fault in (*fits.faults, *fits.shared) for fit in fault.fits}
    blamed |= {fit.recording for fit, _ in fits.timings[0]}
    wrong = {fit.labels for fit, *_ in fits.misfits}
    results = [*unheard]
    for fit in fits.all:
        result = Heard(fit.clip, fit.recording, fit.format, "fits")
        result = summary(result, fit.evidence, fit.rows.names, float(fit.rows.hop))
        outcome, why = _outcome(fit, result, fit.recording in blamed or fit.labels in wrong)
        results.append(dataclasses.replace(result, outcome=outcome, why=why))
    results.sort(key=lambda result: (result.clip or "", result.format, result.recording))
    for format in FORMATS:
        audible = [fit for fit in fits.all if fit.format == format and fit.intact and len(fit.evidence)]
        if len(audible) > 1:
            names = {kind: name for fit in audible for kind, name in fit.rows.names.items()}
            every = together([fit.evidence for fit in audible])
            outcome = "contradicted" if share_within(every) < _SHARE else "fits"
            result = Heard(None, fits.collection.path, format, outcome)
            results.append(summary(result, every, names, float(audible[0].rows.hop)))
    return results


#: Degrees beyond which a mean difference remains; log-likelihood by which labels must fit better than mirrored ones.
_REMAINS, _AUDIBLE = 5.0, 3.0


def _outcome(fit: Fit, heard: Heard, blamed: bool) -> tuple[str, str | None]:
    """Return whether labels fit a recording; and why that is unclear, why nothing was heard, or what remains."""
    if not fit.intact:
        return "contradicted", "its channels look wrong"
    if blamed:
        return "contradicted", None
    labels = fit.label_frames
    if not heard.events:
        if not labels.active.any():
            return "not heard", "there are no labels within the recording"
        if labels.alone.any():
            return "not heard", "no clear direction where one source is alone: noise, reverberation or silence"
        if not len(fit.pieces):
            return "not heard", "no label frame has a single direction"
        return "unclear", "several sources are active in all label frames"
    if heard.seconds < _SECONDS:
        return "unclear", f"a single source is heard for {heard.seconds:g} s only"
    if heard.share is not None and heard.share < _SHARE:
        return "unclear", "the labels fit badly, but no cause is clear"
    if heard.places < _PLACES:
        return "unclear", "all sound comes from one direction"
    # by how much labels that fit are off, and what cannot be heard of them
    remarks = []
    sides = ((heard.azimuth, "to the left", "to the right"), (heard.elevation, "upwards", "downwards"))
    for mean, more, less in sides:
        if mean is not None and (mean.low > _REMAINS or mean.high < -_REMAINS):
            remarks.append(f"{abs(mean.value):.0f}° {more if mean.value > 0 else less} remain")
    flips = np.stack([np.eye(3), *(np.diag(np.where(np.arange(3) == axis, -1.0, 1.0)) for axis in range(3))])
    fits, *mirrored = fit.pieces.evidence(flips).sum(axis=1).tolist()
    for name, likelihood in zip(("front or back", "left or right", "elevation"), mirrored, strict=True):
        if fits - likelihood <= _AUDIBLE:
            remarks.append(f"{name} cannot be heard")
    return "fits", f"but {', and '.join(remarks)}" if remarks else None


DEEP_RULES = (
    azimuths_mirrored,
    elevations_upside_down,
    front_and_back_exchanged,
    azimuths_rotated,
    channels_exchanged,
    labels_shifted,
    labels_of_another_clip,
    labels_fit_badly,
)


def check_fit(collection: Collection, tree: Tree, lookup: Lookup, sink: Sink) -> list[Heard]:
    """Compare labels with the audio of their recordings; *lookup* finds recordings that are not in the source.

    Returns:
        What was heard in each recording, then in all recordings of a format together.
    """
    every = list(pairs_of(collection, tree, lookup))
    pairs = [pair for pair in every if isinstance(pair, Pair)]
    what, here = "comparing labels with the audio", packed(pair.entry for pair in pairs)
    results = list(parallel_map(compared, pairs, what=what, size=lambda pair: max(0, pair.entry.size), here=here))
    fits = Fits(collection, (fit for fit in results if isinstance(fit, Fit)))
    for finding in findings(DEEP_RULES, fits):
        sink(finding)
    return heard(fits, [result for result in (*every, *results) if isinstance(result, Heard)])


def check_clip(
    reading: LabelReading, recordings: Sequence[tuple[Entry, Format | None]], sink: Sink
) -> HeardClip | None:
    """Compare the labels of one clip with its recordings, at least one; their format is None if unknown.

    Returns:
        What was heard; None if there was nothing to compare (directions, and four channels).
    """
    collection = Collection(recordings[0][0].path, "file", tuple(entry for entry, _ in recordings), (reading,))
    clip, labelled = reading.parts[0].origin.clip, rows_of(collection).values()
    pairs = (Pair(clip, rows, entry, None, format) for rows in labelled for entry, format in recordings)
    fits = Fits(collection, (fit for fit in map(compared, pairs) if isinstance(fit, Fit)))
    for finding in findings(DEEP_RULES, fits):
        sink(finding)
    if not fits.all:
        return None
    first = fits.all[0]
    recorded = [result for result in heard(fits) if result.clip is not None]
    return HeardClip(recorded, first.sound_frames, float(first.rows.hop))
