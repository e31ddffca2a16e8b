"""AUD1: the recordings of a dataset tree or folder, judged by their headers; AUD2: their content.

:func:`check_recordings` opens each recording once. It reads the samples only on request, since that takes time: each
recording is read once, block by block, in constant memory. Videos are judged by :mod:`seldio.rules.video`.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial, wraps
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from seldio.catalogues.trees import AUDIO, Tree, TreePlace
from seldio.clock import onset
from seldio.errors import InvalidData, SeldioError
from seldio.files import Entry
from seldio.files.entries import packed
from seldio.files.names import MEDIA, media_type, suffix_of
from seldio.findings import Finding, Rule, Severity, Sink
from seldio.formats.datasets import ABOUT, DatasetSpec
from seldio.media.arrays import RATES
from seldio.parallel import parallel_map
from seldio.rules import INFO, WARNING, Check, findings
from seldio.rules.collection import MANY, Collection, MakeFinding, by_folder, grouped, probed
from seldio.text import listed, plural, printable

if TYPE_CHECKING:
    from seldio.media.audio import Probe
    from seldio.media.contents import SoundSurvey

Facts = TypeVar("Facts")

#: Channels by the type of a folder.
CHANNELS = {"foa": 4, "mic": 4, "stereo": 2}
#: libsndfile's names of the formats of files with this suffix.
CONTAINERS = {
    "wav": ("WAV", "WAVEX", "RF64"), "flac": ("FLAC",), "ogg": ("OGG",), "opus": ("OGG",),
    "mp3": ("MP3", "MPEG"), "aif": ("AIFF",), "aiff": ("AIFF",), "w64": ("W64",),
}  # fmt: skip
assert set(CONTAINERS) < set(MEDIA)


def is_video(name: str) -> bool:
    """Return whether a file is a video by its suffix, or a recording in a container of videos, such as ``.m4a``."""
    return media_type(name) is not None and suffix_of(name) not in CONTAINERS


class TreeFile(Generic[Facts]):
    """A recording or video of a tree, with the facts from its header or packets; None and a *fault* if unreadable."""

    def __init__(
        self, entry: Entry, place: TreePlace, facts: Facts | None = None, fault: str | None = None, *, dataset: str = ""
    ) -> None:
        self.entry, self.place, self.facts, self.fault = entry, place, facts, fault
        #: as shown to people, and the name of the file alone, printable
        self.path, self.file = entry.path, printable(place.file)
        #: the dataset that its tree is, and whether its folder is one of those whose recordings that prescribes
        self.dataset = dataset
        self.expected = place.inside and place.top is not None and place.field in AUDIO

    @property
    def again(self) -> str:
        """Return the hint for a damaged file."""
        from seldio.formats.about import with_address  # which reads files

        return with_address("download or unpack it again", self.dataset)

    def finding(self, rule: Rule, message: str, hint: str | None = None, severity: Severity | None = None) -> Finding:
        """Return a finding of *rule* about it."""
        return rule.at(self.path, message, hint, severity=severity)


AnyFile = TypeVar("AnyFile", bound=TreeFile[Any])


class TreeMedia(Generic[AnyFile, Facts]):
    """All recordings or videos of a tree."""

    noun: str
    all: list[AnyFile]
    readable: list[tuple[AnyFile, Facts]]  # those that can be read, with their facts

    def __init__(self, collection: Collection, tree: Tree, wanted: Callable[[str], bool]) -> None:
        self.collection, self.tree, self.finding = collection, tree, collection.finding
        self.entries = {entry.name: entry for entry in collection.entries}
        self.places = [place for place in tree.places if wanted(place.name) and place.name in self.entries]

    def check(self, of_tree: Iterable[Check], of_file: Iterable[Check], of_facts: Iterable[Check], sink: Sink) -> int:
        """Pass to *sink* what rules find in the tree, in each file, and in what is known of it; return how many."""
        judged = [findings(of_tree, self), *(findings(of_file, file) for file in self.all)]
        judged += [findings(of_facts, file, facts) for file, facts in self.readable]
        for finding in chain.from_iterable(judged):
            sink(finding)
        return len(self.all)


class TreeAudio(TreeMedia["TreeFile[Probe]", "Probe"]):
    """The recordings that rules check: those that libsndfile can read, by their suffix."""

    noun = "recording"

    def __init__(self, collection: Collection, tree: Tree) -> None:
        super().__init__(collection, tree, lambda name: suffix_of(name) in CONTAINERS)
        entries = [self.entries[place.name] for place in self.places]
        headers = parallel_map(probed, entries, batch=64, what="reading headers", here=packed(entries))
        files = zip(entries, self.places, headers, strict=True)
        self.all = [TreeFile(entry, place, *header, dataset=tree.layout) for entry, place, header in files]
        opened = [(recording, recording.facts) for recording in self.all]
        self.readable = [(recording, header) for recording, header in opened if header is not None and header.frames]
        #: those with all the samples that their headers declare, by name
        self.whole = {
            recording.place.name: (recording, header) for recording, header in self.readable if not header.cut_off
        }


def prescribed(wrong: Callable[[DatasetSpec, Any, Any], str | None]) -> Callable[..., Iterator[Finding]]:
    """Make a rule of *wrong*, which says in words after "has" what is wrong with a file and its facts.

    It yields a finding for each file that is not as its dataset prescribes, or one for a folder of files all alike.
    """

    @wraps(wrong)
    def rule(media: TreeMedia[Any, Any], finding: MakeFinding) -> Iterator[Finding]:
        for inside in by_folder((file for file, _ in media.readable), attrgetter("place.name")):
            for value, files in grouped(inside, lambda file: wrong(media.tree.row, file, file.facts)).items():
                if len(files) == len(inside) >= MANY:
                    names = listed([file.file for file in files], 3)
                    message = f"all {len(files):,} {media.noun}s in the folder have {value}: {names}"
                    yield finding([file.place for file in files], message)
                else:
                    yield from (finding(file.path, f"{file.file} has {value}") for file in files)

    return rule


# --- headers ----------------------------------------------------------------------------------------------


def recording_unreadable(recording: TreeFile[Probe], finding: MakeFinding) -> Iterator[Finding]:
    if recording.facts is None:
        from seldio.media.audio import first_bytes

        head = first_bytes(recording.entry)
        is_audio = head[:4] in (b"RIFF", b"RIFX", b"RF64", b"fLaC", b"OggS")
        # the first bytes of a file that is not audio often reveal what it is
        start = f" (it begins with {printable(head.decode('latin-1'))})" if head and not is_audio else ""
        fault = printable(recording.fault or "") if recording.entry.size else "it is empty (0 bytes)"
        yield finding(f"{recording.file} cannot be read as audio: {fault}{start}", recording.again)
    elif not recording.facts.frames:
        header = recording.facts.header
        following = header.rest if header is not None and header.promised is None else 0
        more = f": its header was never completed, and {following:,} bytes follow it" if following else ""
        yield finding(f"{recording.file} has no samples{more}", recording.again)
    else:
        wanted, container = CONTAINERS.get(recording.place.suffix.lower()), recording.facts.container
        if wanted is not None and container not in wanted:
            message = f"{recording.file} contains {container}, but its suffix is .{printable(recording.place.suffix)}"
            yield finding(message, "convert it, or rename it")


def recording_cut_off(recording: TreeFile[Probe], header: Probe, finding: MakeFinding) -> Iterator[Finding]:
    if header.cut_off:
        yield finding(f"{recording.file} ends at {header.seconds:.3f} s: {header.cut_off}", recording.again)
    if (wav := header.header) is None:
        return
    message, hint = "", "write it again"
    if wav.promised is None:
        message = f"the header of {recording.file} has no length"
    elif wav.block and (spare := wav.there % wav.block) and not header.missing:
        message = f"{recording.file}: the last sample frame has only {spare} of {wav.block} bytes"
        hint = "compare its length with the original"
    if message:
        yield finding(message, hint, severity=WARNING)


def recording_rate(audio: TreeAudio, finding: MakeFinding) -> Iterator[Finding]:
    yield from _other_rate(audio, finding)
    hint = "write it as 16-bit PCM, or use the original"
    yield from _other_depth(audio, partial(finding, hint=hint, severity=WARNING))


@prescribed
def _other_rate(row: DatasetSpec, recording: TreeFile[Probe], header: Probe) -> str | None:
    if recording.expected and row.rate is not None:
        return f"a rate of {header.rate:,} Hz instead of {row.rate:,} Hz" if header.rate != row.rate else None
    return f"an impossible rate of {header.rate:,} Hz" if header.rate not in RATES else None


@prescribed
def recording_channels(_: DatasetSpec, recording: TreeFile[Probe], header: Probe) -> str | None:
    field = recording.place.field if recording.expected else None
    wanted = CHANNELS.get(field or "")
    if wanted is None or field is None or header.channels == wanted:
        return None
    return f"{plural(header.channels, 'channel')}, but {field if field == 'stereo' else field.upper()} has {wanted}"


@prescribed
def _other_depth(row: DatasetSpec, recording: TreeFile[Probe], header: Probe) -> str | None:
    wrong = row.subtype is not None and recording.expected and header.subtype != row.subtype
    return f"{header.subtype} samples instead of {row.subtype}" if wrong else None


def recording_length(audio: TreeAudio, finding: MakeFinding) -> Iterator[Finding]:
    odd = []
    for recording, header in audio.readable:
        usual = audio.tree.row.lengths(recording.place.stem) if recording.expected and not header.cut_off else None
        if usual is not None:
            split, low, high = usual
            if not low * (1 - ABOUT) <= header.seconds <= high * (1 + ABOUT):
                length = f"{header.seconds:g} s, but recordings of {split} have about {low} s to {high} s"
                odd.append((recording, length))
    if MANY <= len(odd) == len(audio.readable):
        example = f"{odd[0][0].file} has {odd[0][1]}"
        message = f"all {len(odd):,} recordings are shorter or longer than those of their split: {example}"
        places = [recording.place for recording, _ in odd]
        yield finding(places, message, "fine if they are synthetic or were cut, else use the originals", severity=INFO)
        return
    for recording, length in odd:
        yield finding(recording.path, f"{recording.file} has {length}", "compare it with the original")


def labels_behind_end(audio: TreeAudio, finding: MakeFinding) -> Iterator[Finding]:
    # the longest recording of each label file, by the name of that, unless a recording is incomplete
    ends: dict[str, tuple[TreeFile[Probe], Probe]] = {}
    names = {place.name for place in audio.places}
    for files in audio.tree.clips if audio.whole else ():  # clips are models, which are slow to load
        recordings = [name for name in files.recordings.values() if name in names]
        if files.metadata is not None and recordings and all(name in audio.whole for name in recordings):
            ends[files.metadata] = max((audio.whole[name] for name in recordings), key=lambda pair: pair[1].seconds)
    for clip in (clip for clip in audio.collection.framed if clip.part.file.name in ends):
        recording, header = ends[clip.part.file.name]
        late = np.flatnonzero(clip.frames >= header.label_frames(clip.hop))
        if len(late):
            frame, place = int(clip.frames[late[0]]), clip.part.place(int(late[0]), "frame")
            message = f"frame {frame} begins at {onset(frame, clip.hop):g} s, but {recording.file} ends at "
            message += f"{header.seconds:.3f} s: {plural(len(late), 'row')} past its end"
            yield finding(clip.part.file.path, message, **place._asdict())


def formats_differ(audio: TreeAudio, finding: MakeFinding) -> Iterator[Finding]:
    for clip in audio.tree.clips if audio.whole else ():
        pair = [audio.whole.get(name or "") for name in (clip.foa, clip.mic)]
        if pair[0] is None or pair[1] is None:
            continue
        (recording, foa), (other, mic) = pair[0], pair[1]
        # with the same number of samples, only a rate is wrong
        if foa.frames != mic.frames and Fraction(foa.frames, foa.rate) != Fraction(mic.frames, mic.rate):
            message = f"{recording.file} ends at {foa.seconds:.3f} s ({plural(foa.frames, 'sample')}), but its MIC "
            message += f"recording at {mic.seconds:.3f} s ({mic.frames:,})"
            yield finding(recording.path, message, f"compare with {printable(other.place.name)}")


def recording_unlike_others(audio: TreeAudio, finding: MakeFinding) -> Iterator[Finding]:
    others = (recording for recording, _ in audio.whole.values() if not recording.expected)
    for inside in by_folder(others, attrgetter("place.name")):
        headers = [audio.whole[recording.place.name][1] for recording in inside]
        kinds = Counter((header.rate, header.channels) for header in headers)
        (rate, channels), most = kinds.most_common(1)[0]
        if len(inside) < MANY or most == len(inside) or most < 0.75 * len(inside):
            continue
        for recording, header in zip(inside, headers, strict=True):
            if (header.rate, header.channels) != (rate, channels):
                mine = f"{header.rate:,} Hz and {plural(header.channels, 'channel')}"
                message = f"{recording.file} has {mine}, but {most:,} others here have {rate:,} Hz and {channels}"
                yield finding(recording.path, message)


def check_recordings(collection: Collection, tree: Tree, sink: Sink, *, deep: bool = False) -> int:
    """Check the recordings of a tree or folder; return how many there are.

    With *deep* their samples are read as well, which takes about a second for a few minutes of audio.
    """
    audio = TreeAudio(collection, tree)
    count = audio.check(TREE_RULES, FILE_RULES, HEADER_RULES, sink)
    if deep:
        check_sounds([recording for recording, _ in audio.readable], sink)
    return count


# --- the content of recordings -----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class SurveyedSound:
    """A recording and a survey of its content."""

    entry: Entry
    name: str
    channels: int
    sound: SoundSurvey

    def finding(self, rule: Rule, message: str) -> Finding:
        """Return a finding of *rule* about it."""
        return rule.at(self.entry.path, f"{self.name}: {message}")

    def named(self, channels: list[int]) -> str:
        """Return some of its channels in words, counted from 1."""
        if len(channels) == self.channels:
            return "all channels" if len(channels) > 1 else "the channel"
        return f"channel{'s' if len(channels) > 1 else ''} {', '.join(str(channel + 1) for channel in channels)}"


def silent_channel(file: SurveyedSound, finding: MakeFinding) -> Iterator[Finding]:
    sound, silent = file.sound, file.sound.silent
    dead = [channel for channel in sound.dead if channel not in silent]
    if sound.frames > 1 and silent:
        yield finding(f"{file.named(silent)} {'is' if len(silent) == 1 else 'are'} silent")
    if sound.frames > 1 and dead:
        verb, level = "has" if len(dead) == 1 else "have", sound.levels[dead].max()
        message = f"{file.named(dead)} {verb} only noise at {level:.0f} dB"
        if len(dead) + len(silent) < file.channels:
            message += f", while the loudest channel is at {sound.levels.max():.0f} dB"
        yield finding(message)


def channels_alike(file: SurveyedSound, finding: MakeFinding) -> Iterator[Finding]:
    sound, silent = file.sound, set(file.sound.silent)
    for pairs, what in ((sound.same, "identical"), (sound.opposite, "identical with the sign inverted")):
        audible = [pair for pair in pairs if not silent & set(pair)] if sound.frames > 1 else []
        every = len(audible) == math.comb(file.channels, 2) > 1
        named = listed([f"{a + 1} and {b + 1}" for a, b in audible])
        if audible:
            which = f"all {file.channels} channels" if every else f"channels {named}"
            yield finding(f"{which} are {what}")


def samples_not_numbers(file: SurveyedSound, finding: MakeFinding) -> Iterator[Finding]:
    if count := int(file.sound.broken.sum()):
        channels = file.named(np.flatnonzero(file.sound.broken).tolist())
        yield finding(f"{plural(count, 'NaN or infinite sample')} in {channels}")


def sound_breaks_off(file: SurveyedSound, finding: MakeFinding) -> Iterator[Finding]:
    if file.sound.fault is not None:
        yield finding(printable(file.sound.fault))


def same_recording(recordings: Sequence[SurveyedSound], finding: MakeFinding) -> Iterator[Finding]:
    audible = [file for file in recordings if file.sound.fault is None and len(file.sound.silent) < file.channels]
    for first, *others in grouped(audible, lambda file: file.sound.digest).values():
        for other in others:
            message = f"{other.name} has the same audio as {printable(first.entry.path)}"
            yield finding(other.entry.path, message)


def recordings_contradict(media: TreeAudio, finding: MakeFinding) -> Iterator[Finding]:
    for described in media.collection.own.datasets if media.collection.own else ():
        stated = described.record.get("recordings", {})
        channels = {CHANNELS[array] for array in stated.get("arrays", ())}
        wrong: dict[str, list[str]] = {}
        for recording, header in media.readable:
            if not recording.place.name.startswith(described.folder):
                continue
            faults = (
                (header.rate, {stated.get("rate", header.rate)}, "{:,} Hz"),
                (header.subtype, {stated.get("subtype", header.subtype)}, "{} samples"),
                (header.channels, channels or {header.channels}, "{} channels"),
            )
            for fact, wanted, words in faults:
                if fact not in wanted:
                    expected = " or ".join(words.format(value) for value in sorted(wanted, key=str))
                    wrong.setdefault(f"{words.format(fact)} instead of {expected}", []).append(recording.path)
        for fault, paths in wrong.items():
            names = f", and {plural(len(paths) - 1, 'more recording')} as well" if len(paths) > 1 else ""
            yield finding(paths[0], f"{fault}, which {described.path} says{names}")


TREE_RULES = (
    recording_rate,
    recording_channels,
    recording_length,
    labels_behind_end,
    formats_differ,
    recording_unlike_others,
    recordings_contradict,
)
FILE_RULES = (recording_unreadable,)
HEADER_RULES = (recording_cut_off,)
SET_RULES = (same_recording,)
SOUND_RULES = (silent_channel, channels_alike, samples_not_numbers, sound_breaks_off)


def check_sounds(files: Sequence[TreeFile[Any]], sink: Sink) -> list[SurveyedSound]:
    """Read the samples of recordings, each block by block, and compare them with each other.

    Those that cannot be opened are skipped: rules about headers report them.
    """
    entries = [file.entry for file in files]
    what, here = "listening to recordings", packed(entries)
    levels = parallel_map(_levels, entries, what=what, size=attrgetter("size"), here=here)
    sounds: list[SurveyedSound] = []
    for file, level in zip(files, levels, strict=True):
        if isinstance(level, Finding):
            sink(level)
        elif level is not None:
            sounds.append(SurveyedSound(file.entry, file.file, *level))
    judged = [findings(SET_RULES, sounds), *(findings(SOUND_RULES, sound) for sound in sounds)]
    for finding in chain.from_iterable(judged):
        sink(finding)
    return sounds


def _levels(entry: Entry) -> tuple[int, SoundSurvey] | Finding | None:
    """Return channels and levels of a recording, or a finding about it; None if it cannot be opened."""
    from seldio.media.contents import listen
    from seldio.media.recording import Recording

    try:
        with Recording(entry) as recording:
            return recording.channels, listen(recording)
    except InvalidData as error:
        return error.finding
    except SeldioError:
        return None
