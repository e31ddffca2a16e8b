"""The keys of a dataset file, as models: they check such a file, and its JSON Schema and page are made from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from seldio.errors import UsageError
from seldio.schema.own_columns import FIELDS, GIVEN, KINDS, UNITS, ZEROS
from seldio.text import clipped, meant


def _pattern(text: str) -> str:
    plain = text.replace("{fold}", "").replace("{room}", "").replace("{rooms}", "").replace("{mix}", "")
    try:
        re.compile(plain.replace("{validation}", ""))
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    return text


def _fraction(text: str | float) -> str:
    try:
        number = Fraction(text := str(text))
    except (ValueError, ZeroDivisionError):
        raise ValueError("is not a number such as 0.1 or 30000/1001") from None
    if number <= 0:
        raise ValueError("must be more than 0")
    return text


_RANGE = re.compile(r"-?[\d.]+\.\.(-?[\d.]+|inf)(/\d+)?")


def _columns(text: str) -> str:
    from seldio.schema.events import COLUMNS

    for word in text.split():
        field, mark, kind = word.partition(":")
        kind, _, declared = kind.partition(":")
        if not mark:
            raise ValueError(f"{word!r} has no kind: write field:kind, such as {word}:int")
        _one_of("field", COLUMNS, field)
        _one_of("kind", KINDS, kind)
        if declared and not _RANGE.fullmatch(declared):
            raise ValueError(f"{declared!r} is no range: write it like -180..180, or -180..180/10")
        if (field == "onscreen") is not (kind == "flag"):
            raise ValueError(f"{word!r} cannot be read: onscreen, and no other field, is of the kind flag (0 or 1)")
    return text


def _one_of(what: str, choices: Iterable[str], name: str) -> str:
    if name not in choices:
        raise ValueError(f"unknown {what} {name!r}{meant(name, choices)}; choose from {', '.join(choices)}")
    return name


def _enum(choices: Iterable[str]) -> WithJsonSchema:
    return WithJsonSchema({"enum": [*choices], "type": "string"})


def _name(text: str) -> str:
    if not re.fullmatch(r"[\w][\w .-]*", text):
        raise ValueError("must be letters, digits, dots, hyphens, underscores or spaces")
    return text


def _place(text: str) -> str:
    try:
        text.format(label="", clip="", name="")
    except (LookupError, ValueError):
        raise ValueError("must be a path in which {label}, {clip} or {name} may stand") from None
    return text


Pattern = Annotated[str, AfterValidator(_pattern)]
Number = Annotated[str | float, AfterValidator(_fraction)]
Name = Annotated[str, AfterValidator(_name)]
Place = Annotated[str, AfterValidator(_place)]
Lengths = Annotated[list[int], Field(min_length=2, max_length=2)] | None
FieldName = Annotated[str, AfterValidator(partial(_one_of, "field", FIELDS)), _enum(FIELDS)]
Unit = Annotated[str, AfterValidator(partial(_one_of, "unit", UNITS)), _enum(UNITS)]
Zero = Annotated[str, AfterValidator(partial(_one_of, "zero", ZEROS)), _enum(ZEROS)]
Kind = Annotated[str, AfterValidator(partial(_one_of, "kind", KINDS)), _enum(KINDS)]
Given = Annotated[str, AfterValidator(partial(_one_of, "field", GIVEN)), _enum(GIVEN)]


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class SignKeys(_Keys):
    """Evidence for the dataset in the path of a file."""

    path: Pattern = Field(description="a regular expression that the path holds; {rooms} stands for its rooms")
    weight: float = Field(description="how much one file counts for the dataset")
    says: str = Field(description="the evidence in words")
    rank: int = Field(0, description="signs of a lower rank are looked for first")


class FormatSignKeys(_Keys):
    """Evidence for formats in the paths of label files."""

    path: Pattern = Field(description="a regular expression that the path holds")
    formats: Pattern = Field(description="a regular expression for the names of the formats")
    says: str = Field(description="the evidence in words")
    rank: int = Field(0, description="lower ones are looked for first; 2: names that labels share with outputs")


class SplitKeys(_Keys):
    """A split of the development set."""

    folds: list[int] = Field(description="the folds that belong to it", min_length=1)
    rooms: dict[str, str] = Field({}, description='the recordings of each room: "1, 4-8"')
    seconds: Lengths = Field(None, description="about how long its shortest and its longest recording are")


class TopFolderKeys(_Keys):
    """The content of a top folder."""

    field: Literal["foa", "mic", "stereo", "audio", "metadata", "video"] = Field(description="what is in it")
    set: Literal["dev", "eval"] | None = Field(None, description="the part of the dataset; none if it has no parts")
    group: str = Field("", description="what separates files of one name that are not one clip")


class TreeKeys(_Keys):
    """How the folders and files of the dataset are arranged and named."""

    folders: list[str] = Field([], description="names of folders that people unpack it to")
    clip: Pattern | None = Field(
        None, description="names of development clips, such as {fold}_{room}_{mix}, or with groups of these names"
    )
    evaluation_clip: Pattern | None = Field(None, description="names of evaluation clips")
    example: str = Field("", description="the name of a clip")
    tops: Literal["challenge"] | dict[str, TopFolderKeys] = Field(
        {}, description='the top folders; "challenge" stands for foa_dev, mic_dev, metadata_dev and so on'
    )
    depth: int = Field(0, description="folders between a top folder and the development recordings")
    splits: dict[str, SplitKeys] = Field({}, description="the splits, called like their folders")
    splits_of: str | None = Field(None, description="a dataset that has the same splits")
    kinds: dict[str, str] = Field({}, description="the kind of split that each fold belongs to")
    synthetic: list[int] = Field([], description="folds that are not recorded, and may be in folders of any name")
    evaluation: str | None = Field(None, description="the clips of the evaluation set: mix001..mix079")
    evaluation_seconds: Lengths = Field(None, description="about how long its shortest and longest recording are")
    secret: bool = Field(False, description="whether labels of the evaluation set were never published")
    counted: bool = Field(False, description="whether the files are exactly the clips of the splits")
    without_video: str | None = Field(None, description="recordings that never had a video")
    signs: list[SignKeys] = Field([], description="what tells a tree of this dataset")
    label_signs: list[FormatSignKeys] = Field([], description="what the paths of label files tell of their format")


class PartOfKeys(_Keys):
    """The signs that tell a dataset from a newer one that contains it, such as STARSS22 from STARSS23."""

    name: str = Field(description="the whole")
    without: Pattern = Field(description="paths that only the whole has")
    without_says: str = Field(description="that, in words")
    said: Pattern = Field(description="what a path says that means the part")
    whole_said: Pattern = Field(description="what a path says that means the whole")
    splits: list[str] = Field(description="splits whose clips tell, where nothing else does")
    least: int = Field(description="how many of these clips mean the part")
    least_says: str = Field(description="that, in words")
    otherwise_says: str = Field(description="why it is the whole, where nothing tells")


class RecordingKeys(_Keys):
    """The format of the recordings."""

    arrays: list[Literal["foa", "mic", "stereo"]] = Field([], description="of which each clip has a recording")
    rate: int | None = Field(None, description="frames per second")
    subtype: str | None = Field(None, description="libsndfile's name of the sample format, such as PCM_16")


class VideoKeys(_Keys):
    """The format of the videos."""

    size: Annotated[list[int], Field(min_length=2, max_length=2)] | None = Field(None, description="width and height")
    rate: Number | None = Field(None, description='pictures per second, such as "30000/1001"')


class FormatKeys(_Keys):
    """A format of label files: a table of numbers."""

    name: str = Field(description="what people type")
    title: str = Field(description="one line for people")
    role: Literal["label", "output", "submission"] = Field(description="what its files are")
    columns: Annotated[str, AfterValidator(_columns)] = Field(
        description="field:kind:range of each column, in their order"
    )
    years: str = Field("", description="of the challenge, for people")
    header: str | None = Field(None, description="the first line, where there is one")
    metre: int | None = Field(None, description="what one metre is written as: 100 for centimetres")
    unknown_distance: int | None = Field(None, description="the number that stands for an unknown distance")
    vocabulary: str = Field("starss", description="the class list of its class numbers")
    hop: Number = Field("1/10", description="seconds between frames")
    clip_frames: int | None = Field(None, description="frames of every clip, where the dataset fixes them")
    folded: bool = Field(False, description="whether azimuth is folded into [-90, 90]")
    silence: str | None = Field(None, description="the class name of rows that only say that a frame is silent")
    newline: Literal["\n", "\r\n"] = Field("\n", description="the official line end")
    fills: dict[str, int] = Field({}, description="what is written for fields that labels do not have")
    aliases: list[str] = Field([], description="further names")
    alias_vocabularies: dict[str, str] = Field({}, description="the class list that an alias means")
    source: str = Field("", description="where the format is documented")
    note: str = Field("", description="what to know about it")


class ProfileKeys(_Keys):
    """A way of scoring labels."""

    name: str = Field(description="what people type")
    title: str = Field(description="one line for people")
    program: str = Field(description="what it agrees with")
    years: list[int] = Field([], description="of the challenge whose outputs it is for")
    measure: Literal["spherical", "cartesian", "folded"] = Field(description="the angular distance")
    counts: Literal["segments", "frames"] = Field(description="what is counted: seconds or label frames")
    scores: Literal["classic", "classic-2021", "with-distance", "without-distance", "stereo"] = Field(
        description="the scores made of the counts"
    )
    lead: str = Field("SELD", description="the score whose test decides which of two systems is better")
    averages: list[Literal["macro", "micro"]] = Field(["macro", "micro"], description="the first is the default")
    angle: float = Field(20.0, description="degrees that a well placed source is off at most")
    distance: float | None = Field(None, description="metres that it is off at most")
    relative: float | None = Field(None, description="the same as a part of the distance of the reference")
    horizon: int | None = Field(None, description="how many label frames count; by default up to the last labelled one")
    vocabulary: str = Field("starss", description="the classes")
    misplaced: float = Field(1.0, description="how much a misplaced source weighs in F")
    misread: dict[str, str] = Field({}, description="by format of the prediction, what the program makes of it")
    drops: list[str] = Field([], description="formats of a prediction none of whose rows the program reads")
    needs: list[str] = Field([], description="fields that both sides must have")
    metre: float = Field(1.0, description="units of distance in a metre")
    tracks: int = Field(0, description="how many sources of a class a frame can have; 0 for any number")


class PackageKeys(_Keys):
    """The content of a submission's zip; {label}, {clip} and {name} in paths stand for a system, a clip and a file."""

    year: int = Field(description="the year of the challenge")
    format: str = Field(description="the format of its outputs")
    profile: str = Field(description="the way of scoring whose numbers a meta file holds")
    tracks: list[str] = Field(description="what the third part of a label may be")
    meta: Place = Field(description="the path of the meta file of a system")
    output: Place = Field(description="the path of an output of a system")
    report: Place = Field(description="the path of the technical report")
    results: dict[str, str] = Field({}, description="for each result in a meta file, the score that it is")
    clips: str = Field("", description="what --reference calls the clips of the evaluation set, if they are known")


class ColumnKeys(_Keys):
    """A column of your own label files."""

    header: str | None = Field(None, description="its name in the first line; no column has one in files without it")
    field: FieldName | None = Field(None, description="what it holds; a column without a field is passed over")
    unit: Unit | None = Field(None, description="of its numbers; frames, s for onset and offset, degrees or m if none")
    direction: Literal["counter-clockwise", "clockwise"] = Field(
        "counter-clockwise", description="of azimuths, seen from above"
    )
    zero: Zero = Field("front", description="where azimuth 0 is")
    kind: Kind | None = Field(None, description="what its cells may be, where the field does not say enough")


class LabelKeys(_Keys):
    """How labels are written: in formats that are known, or in your own columns."""

    formats: list[str] = Field([], description="the formats of label files, where they have names")
    columns: list[ColumnKeys] = Field([], description="the columns of tables with commas, in any order if named")
    actors: list[int] = Field([], description="classes of sounds that actors make, whose source numbers are not 0")
    things: list[int] = Field([], description="classes of sounds that no actor makes, with source 0")
    hop: Number = Field("1/10", description="seconds between label frames")
    clip_frames: int | None = Field(None, description="frames of every clip, where the dataset fixes them")
    nearest: int = Field(0, description="the least distance that labels have, in the unit of their format")
    given: dict[Given, float] = Field(
        {},
        description="a value that all rows share and no column holds: elevation = 0",
        json_schema_extra={"propertyNames": {"enum": [*GIVEN]}},  # pydantic before 2.10 does not say it
    )


class ClipsKeys(_Keys):
    """The clips of a split; what is in any of these belongs to it."""

    folders: list[str] = Field([], description="names of folders, such as dev-train")
    pattern: Pattern | None = Field(None, description="a regular expression for names of clips")
    clips: list[str] = Field([], description="names of clips, or ranges such as mix001..mix079")


class RussianKeys(_Keys):
    """How the Russian name of a class is declined."""

    gender: Literal["m", "f", "n", "pl"] = Field(description="of the name; pl if it stands in the plural")
    forms: Annotated[list[str], Field(min_length=4, max_length=4)] = Field(
        description="the nominative, genitive, accusative, and what follows *with*: с лаем собаки"
    )


class DatasetFile(_Keys):
    """A challenge year or a dataset."""

    name: Name = Field(description="what people type")
    title: str | None = Field(None, description="for people; a file without it describes formats alone")
    order: int = Field(0, description="of two that fit alike, the lower is meant; those from outside come last")
    license: str | None = Field(None, description="its licence, as an identifier such as CC-BY-4.0")
    cite: str | None = Field(None, description="how to cite it")
    classes: dict[str, dict[str, str]] = Field(
        {},
        description='its classes by name, in the order of their numbers, with names in other languages: { ru = "…" }',
    )
    russian: dict[str, RussianKeys] = Field(
        {}, description="how Russian names of classes are declined, by class: questions in Russian need it"
    )
    labels: LabelKeys | None = Field(
        None,
        description="how its labels are written; by default in those formats of this file that have the role label",
    )
    splits: dict[str, ClipsKeys] = Field({}, description="the splits by name, where folders or names of clips tell")
    profile: str | None = Field(None, description="the way its labels are scored, where that is not the usual one")
    tree: TreeKeys | None = Field(None, description="folders and names")
    part_of: PartOfKeys | None = Field(None, description="the newer dataset that it is a part of")
    recordings: RecordingKeys | None = Field(None, description="its recordings")
    video: VideoKeys | None = Field(None, description="its videos")
    formats: list[FormatKeys] = Field([], description="its formats")
    profiles: list[ProfileKeys] = Field([], description="the ways in which its labels are scored")
    package: PackageKeys | None = Field(None, description="what the challenge takes for a submission to it")


class KeyFault(NamedTuple):
    """A fault in a dataset file."""

    path: tuple[str | int, ...]  # the keys, and numbers in lists, that lead to it
    message: str

    @property
    def where(self) -> str:
        """The path as people write it."""
        parts = (f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in self.path)
        return "".join(parts).removeprefix(".")


def faults(record: Mapping[str, Any]) -> Iterator[KeyFault]:
    """Yield the faults in the keys of a dataset file."""
    try:
        DatasetFile.model_validate(record)
    except ValidationError as error:
        messages: dict[tuple[str | int, ...], str] = {}
        for fault in error.errors(include_url=False):  # kinds of a value that can be of several are no keys
            steps = (step for step in fault["loc"] if not f"{step}".startswith("function-"))
            messages.setdefault(tuple(step for step in steps if step not in ("str", "float")), _words(fault))
        yield from (KeyFault(path, message) for path, message in messages.items())


def check(record: Mapping[str, Any], ours: Iterable[Mapping[str, Any]]) -> None:
    """Raise UsageError if a file from outside (its ``place``) has a wrong key or value, or a name of *ours*."""
    for fault in faults({key: value for key, value in record.items() if key != "place"}):
        raise UsageError(f"{record['place']}: {fault.where}: {fault.message}")
    for kind in ("formats", "profiles"):
        taken = {row["name"] for own in ours for row in own.get(kind, ())}
        for name in (row["name"] for row in record.get(kind, ()) if row["name"] in taken):
            raise UsageError(f"{record['place']}: {kind}: seldio has {name!r} already; choose another name")


def _words(error: Any) -> str:
    """Translate pydantic's messages into seldio's wording."""
    sentences = {"extra_forbidden": "there is no such key", "missing": "the key is missing"}
    if error["type"] == "literal_error" and isinstance(error["input"], str):
        choices = re.findall(r"'([^']*)'", error["ctx"]["expected"])
        return f"unknown value {error['input']!r}{meant(error['input'], choices)}; choose from {', '.join(choices)}"
    if error["type"] in sentences or error["type"] in ("value_error", "assertion_error"):
        return sentences.get(error["type"], str(error["msg"]).removeprefix("Value error, "))
    from seldio.schema.qa import must  # only where something is wrong: it loads pyarrow

    wanted = {"an object": "a table", "an array": "a list"}.get(must(error), must(error))
    return f"must be {wanted}, not {clipped(str(error['input']), 40)}"
