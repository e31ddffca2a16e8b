"""Labels in JSON: what Label Studio exports, and JAMS.

Label Studio: a list of tasks, each a recording with the annotations of the people who labelled it; an annotation is a
list of results, of which those with one ``id`` belong to one region: its labels with ``start`` and ``end`` in seconds,
numbers and texts that were given for it.

JAMS: ``annotations``, each of a namespace and with observations: time, duration, value, confidence. Sound events are
those of the namespaces for tags, open segments and Scaper, and of any called ``sound_event…``; all others are kept.

Labels of one recording by several people are clips of their own, as two descriptions of one sound are not two sounds.
"""

from __future__ import annotations

import dataclasses
import json
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from seldio.findings import Sink
from seldio.formats.base import Place, TextFile, newline_of
from seldio.formats.json_text import JsonDocument, Pointer, parse, shorter
from seldio.formats.label_tools import VALUES, Report, ToolFormat, ToolLabel, ToolPart, field_named, json_value, text_of
from seldio.schema.column_names import column_of
from seldio.schema.events import ClipFile
from seldio.text import clipped, plural

_HEAD = 1 << 16
_SOUND = re.compile(r"(?i)\.(wav|flac|mp3|ogg|opus|m4a|aac|mp4|webm)($|[?#])")
_HASHED = re.compile(r"^[0-9a-f]{8}-(?=.)")


@dataclasses.dataclass
class Described:
    """The annotation of a recording by one person, or a program: a clip."""

    clip: str
    pointer: Pointer
    truth: bool = False
    labels: list[ToolLabel] = dataclasses.field(default_factory=list)
    extra: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True)
class JsonTool(ToolFormat):
    """A format of labels in JSON."""

    suffix: str = ".json"

    def described(self, document: JsonDocument, clip: str, report: Report) -> Iterator[Described]:
        """Yield the annotations in a document; *clip*: the name of the file, for a recording that has none."""
        raise NotImplementedError

    def parts(self, file: TextFile, sink: Sink) -> Iterator[ToolPart]:
        """See :meth:`ToolFormat.parts`."""
        origin = ClipFile(file.clip, file.name, newline_of(file.data), file.data.endswith(b"\n") or not file.data)
        document = parse(file.data, file.path, sink) if file.data.strip() else None
        if document is None:
            yield ToolPart(file, origin, lambda _: Place(1, 1, 1, "", ""), not file.data.strip())
            return

        def report(code: str, pointer: Any, message: str, hint: str | None) -> None:
            sink(document.finding(code, message, pointer, hint=hint))

        found = list(self.described(document, file.clip, report))
        several = Counter(one.clip for one in found)
        taken: Counter[str] = Counter()
        for one in found:
            name = one.clip
            if several[name] > 1:
                taken[name] += 1
                if taken[name] == 1:
                    message = f"{clipped(name, 40)} was labelled {several[name]} times: each time is a clip of its own"
                    report("SYN507", one.pointer, message, "choose one of them, or mark it as ground truth")
                name = name if one.truth else f"{name}_by{taken[name]}"
            own = file.name
            if len(found) > 1:
                own = posixpath.join(posixpath.dirname(file.name), name.replace("/", "_") + self.suffix)
            extra = json.dumps(one.extra, ensure_ascii=False) if one.extra else None
            part = ToolPart(file, dataclasses.replace(origin, clip=name, name=own, extra=extra), document.locate)
            part.labels = one.labels
            yield part
        if not found:
            yield ToolPart(file, origin, document.locate)

    def content(self, labels: Sequence[ToolLabel], clip: str, extra: Mapping[str, Any]) -> Any:
        """Return the document of a clip."""
        raise NotImplementedError

    def text(self, labels: Sequence[ToolLabel], file: ClipFile) -> str:
        """See :meth:`ToolFormat.text`."""
        extra = json.loads(file.extra) if file.extra else {}
        text = json.dumps(self.content(labels, file.clip, extra), indent=2, ensure_ascii=False)
        return text + "\n" if file.final_newline else text


def _times(
    holder: Mapping[str, Any], first: str, last: str, pointer: Pointer, report: Report
) -> tuple[float, float] | None:
    found: list[float] = []
    for key in (first, last):
        value: Any = holder.get(key)
        if type(value) in (int, float) and abs(value) < 2**53:
            found.append(float(value))
        elif key not in holder:
            report("SYN211", pointer, f"{key} is missing", "times are in seconds")
        else:
            shown = clipped(json.dumps(value, ensure_ascii=False), 30)
            report("SYN502", (*pointer, key), f"{key} is {shown}, not a number", "times are in seconds")
    return (found[0], found[1]) if len(found) == 2 else None


def objects_in(value: Any, pointer: Pointer, what: str, report: Report) -> list[tuple[Pointer, dict[str, Any]]]:
    """Return the objects of a list, each with its pointer; what else there is becomes a finding."""
    members = [((*pointer, number), member) for number, member in enumerate(value)] if isinstance(value, list) else []
    others = [place for place, member in members if not isinstance(member, dict)]
    for place in others if isinstance(value, list) else [pointer]:
        report("SYN212", place, f"{what} must be an array of objects", None)
    return [(place, member) for place, member in members if isinstance(member, dict)]


# --- Label Studio --------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, kw_only=True)
class LabelStudioFormat(JsonTool):
    """The tasks that Label Studio exports as JSON."""

    def likes(self, data: bytes, name: str) -> float:  # noqa: ARG002 - the keys tell it
        """Return 0.95 if it begins with tasks."""
        head = data[:_HEAD]
        if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"[", b"{"):
            return 0.0
        keys = (b'"annotations"', b'"data"', b'"result"')
        return 0.95 if all(key in head for key in keys) and b'"namespace"' not in head else 0.0

    def described(self, document: JsonDocument, clip: str, report: Report) -> Iterator[Described]:
        """See :meth:`JsonTool.described`; predictions count where nobody has labelled a task."""
        value = document.value
        single: list[tuple[Pointer, Any]] = [((), value)]
        tasks = single if isinstance(value, dict) else objects_in(value, (), "tasks", report)
        about: Pointer | None = None  # the first results about all of a recording
        timed = False
        for at, task in tasks:
            if not {"data", "annotations"} & task.keys():
                report("SYN213", at, "the task has no annotations", None)
                continue
            data: dict[str, Any] = task["data"] if isinstance(task.get("data"), dict) else {}
            audio = _audio(data)
            name = clip if audio is None else _clip_of(data[audio])
            name = clip if posixpath.basename(clip) == name else name  # with the folder that tells it from another
            rest = {} if audio is None or data[audio] == f"{name}.wav" else {"audio": data[audio]}
            rest |= {key: value for key, value in data.items() if key != audio}
            given = objects_in(task.get("annotations", []), (*at, "annotations"), "annotations", report)
            chosen = [(place, one) for place, one in given if not one.get("was_cancelled")]
            guesses = task.get("predictions")
            if not chosen and isinstance(guesses, list):
                chosen = objects_in(guesses, (*at, "predictions"), "predictions", lambda *_: None)
            elif guesses:
                rest["predictions"] = guesses
            for place, one in chosen or [(at, {})]:
                found = Described(name, place, bool(one.get("ground_truth")))
                regions, whole = _regions(one.get("result", []), (*place, "result"), report)
                found.extra = ({"task": rest} if rest else {}) | ({"results": whole} if whole else {})
                for region in regions:
                    found.labels += region.labels(report)
                timed |= bool(regions)
                about = (*place, "result") if whole and about is None else about
                yield found
        if about is not None and not timed:
            message = "the annotations are about whole recordings, and none about a part of one: there are no labels"
            report("SYN213", about, message, "give the labels a start and an end")

    def content(self, labels: Sequence[ToolLabel], clip: str, extra: Mapping[str, Any]) -> Any:
        """See :meth:`JsonTool.content`."""
        task = dict(extra.get("task") or {})
        guesses = task.pop("predictions", None)
        result: list[dict[str, Any]] = []
        for number, label in enumerate(labels, 1):
            rest = dict(label.extra)
            kept = type(rest.get("channel")) is int and rest["channel"] != 0
            channel = rest.pop("channel") if kept else 0
            given: dict[str, Any] = {"start": label.onset, "end": label.offset, "channel": channel}
            common = {"id": f"region{number}", "to_name": "audio"}
            score = {"score": label.values["score"]} if "score" in label.values else {}
            bare = dataclasses.replace(label, values={}, extra={})
            names = [text_of(bare)] if label.name else []
            result.append(
                {**common, "from_name": "label", "type": "labels", "value": {**given, "labels": names}, **score}
            )
            for field in VALUES:
                if field != "score" and field in label.values:
                    value = {**given, "number": shorter(label.values[field])}
                    result.append({**common, "from_name": field, "type": "number", "value": value})
            if rest:
                value = {**given, "text": [json.dumps(rest, ensure_ascii=False)]}
                result.append({**common, "from_name": "extra", "type": "textarea", "value": value})
        result += extra.get("results") or []
        data = {"audio": task.pop("audio", f"{clip}.wav"), **task}
        whole = {"data": data, "annotations": [{"result": result}]}
        return [whole | ({"predictions": guesses} if guesses else {})]


def _audio(data: Mapping[str, Any]) -> str | None:
    texts = [key for key, value in data.items() if isinstance(value, str)]
    return next((key for key in texts if _SOUND.search(data[key])), "audio" if "audio" in texts else None)


def _clip_of(url: str) -> str:
    """Return the name of a recording in an address; Label Studio puts a hash before the names of uploads."""
    parts = urlsplit(url) if "://" in url or url.startswith("/data/") else None
    path = url.replace("\\", "/") if parts is None else unquote(parts.path)
    if parts is not None and (local := parse_qs(parts.query).get("d")):
        path = local[0]
    name = posixpath.basename(path)
    name = _HASHED.sub("", name) if "/upload/" in path else name
    stem = name.rpartition(".")[0] or name
    return stem or "recording"


@dataclasses.dataclass
class _Region:
    """Results about one stretch of a recording, each with its pointer."""

    results: list[tuple[Pointer, dict[str, Any]]] = dataclasses.field(default_factory=list)

    @property
    def timed(self) -> bool:
        values = [result.get("value") for _, result in self.results]
        keys = {key for value in values if isinstance(value, dict) for key in value}
        return bool({"start", "end", "labels"} & keys) or any(r.get("type") == "labels" for _, r in self.results)

    def labels(self, report: Report) -> list[ToolLabel]:
        times, names, good = None, [], True
        first = self.results[0][0]
        label = ToolLabel(0.0, 0.0, "", {"": first})
        for pointer, result in self.results:
            value, name = result.get("value"), str(result.get("from_name", ""))
            kind = str(result.get("type", "labels"))
            if not isinstance(value, dict):
                report("SYN212", pointer, "value must be an object", None)
                return []
            at = (*pointer, "value")
            if times is None and ({"start", "end"} & value.keys() or kind == "labels"):
                times = _times(value, "start", "end", at, report)
                if times is None:
                    return []
                label.at |= {"": at, "onset": (*at, "start"), "offset": (*at, "end")}
                if value.get("channel") not in (None, 0):
                    label.extra["channel"] = value["channel"]
            if type(result.get("score")) in (int, float):
                good &= label.set("score", result["score"], (*pointer, "score"), report)
            if kind == "labels" or "labels" in value:
                names = [str(one) for one in value.get("labels") or []]
                label.at["class_name"] = (*at, "labels") if "labels" in value else at
            elif kind == "number":
                good &= _put(label, name, value.get("number"), (*at, "number") if "number" in value else at, report)
            elif kind == "textarea":
                given = value.get("text")
                text = " ".join(map(str, given)) if isinstance(given, list) else str(given)
                good &= _noted(label, name, text, (*at, "text") if "text" in value else at, report)
            else:
                given = value.get(kind, value)
                label.extra[name or kind] = given[0] if isinstance(given, list) and len(given) == 1 else given
        if times is None or not good:
            return []
        label.onset, label.offset = times
        every = [
            dataclasses.replace(label, at=dict(label.at), values=dict(label.values), extra=dict(label.extra))
            for _ in names or [""]
        ]
        return [one for one, name in zip(every, names or [""], strict=True) if one.read_text(name, None, report)]


def _put(label: ToolLabel, name: str, value: Any, at: Pointer, report: Report) -> bool:
    field = field_named(name)
    if field is None:
        label.extra[name] = value
        return True
    return label.set(field, value, at, report)


def _noted(label: ToolLabel, name: str, text: str, at: Pointer, report: Report) -> bool:
    """Give a label what was written about it; False after a finding."""
    if field_named(name) is not None:
        return _put(label, name, text, at, report)
    if name == "extra" and isinstance(value := json_value(text), dict):
        label.extra |= value
        return True
    note = ToolLabel(0.0, 0.0, "", {"": at})
    good = note.read_text(text, None, report)
    label.values |= note.values
    label.at |= dict.fromkeys(note.values, at)
    label.extra |= note.extra | ({name or "text": note.name} if note.name else {})
    return good


def _regions(results: Any, at: Pointer, report: Report) -> tuple[list[_Region], list[dict[str, Any]]]:
    found: dict[Any, _Region] = {}
    for pointer, result in objects_in(results, at, "results", report):
        key = result.get("id")
        found.setdefault(key if isinstance(key, (str, int)) else pointer, _Region()).results.append((pointer, result))
    timed = [region for region in found.values() if region.timed]
    return timed, [result for region in found.values() if not region.timed for _, result in region.results]


# --- JAMS ------------------------------------------------------------------------------------------------------------

_EVENTS = re.compile(r"tag_.*|segment_open|scaper|sound_event.*")


@dataclasses.dataclass(frozen=True, kw_only=True)
class JamsFormat(JsonTool):
    """The JSON of JAMS."""

    suffix: str = ".jams"

    def likes(self, data: bytes, name: str) -> float:
        """Return 1 if it begins with annotations that have a namespace or metadata, or is called like one."""
        head = data[:_HEAD]
        if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{":
            return float(name.lower().endswith(".jams"))
        keys = b'"namespace"' in head or b'"annotation_metadata"' in head or b'"file_metadata"' in head
        return 1.0 if name.lower().endswith(".jams") or (b'"annotations"' in head and keys) else 0.0

    def described(self, document: JsonDocument, clip: str, report: Report) -> Iterator[Described]:
        """See :meth:`JsonTool.described`; an annotation of sound events is one description."""
        value = document.value
        if not isinstance(value, dict) or "annotations" not in value:
            report("SYN213", (), "the key annotations is missing, which every JAMS has", None)
            return
        objects = objects_in(value["annotations"], ("annotations",), "annotations", report)
        events = {at: one for at, one in objects if _EVENTS.fullmatch(str(one.get("namespace", "")))}
        given = value["annotations"] if isinstance(value["annotations"], list) else []
        others = [one for number, one in enumerate(given) if ("annotations", number) not in events]
        top = {key: one for key, one in value.items() if key != "annotations" and one}
        top |= {"other_annotations": others} if others else {}
        if not events and others:
            names = sorted({clipped(str(one.get("namespace")), 30) for _, one in objects})
            message = f"no annotation of sound events: the namespaces are {', '.join(names[:6])}"
            hint = "those of sound events are tag_…, segment_open, scaper and sound_event…"
            report("SYN213", ("annotations",), message, hint)
        for at, annotation in events.items():
            found = Described(clip, at)
            found.extra = dict(top) | _about(annotation)
            if background := _background(annotation):
                found.extra["background"] = background
                sounds = plural(len(background), "sound")
                message = f"{sounds} of the background: passed over, as Scaper's own tables do"
                report("SYN509", at, message, None)
            found.labels = list(_observed(annotation, at, report))
            if found.extra.get("file_metadata") == _length_of(found.labels):
                del found.extra["file_metadata"]
            yield found

    def content(self, labels: Sequence[ToolLabel], clip: str, extra: Mapping[str, Any]) -> Any:  # noqa: ARG002
        """See :meth:`JsonTool.content`; directions are lists in the sandbox of the annotation."""
        top = {key: value for key, value in extra.items() if key not in ("other_annotations", "background")}
        data: list[dict[str, Any]] = []
        beside: dict[str, list[Any]] = {}
        for label in labels:
            bare = dataclasses.replace(label, values={}, extra={})
            length = label.offset - label.onset
            exact = (digits for digits in (9, 12) if round(label.onset + round(length, digits), 12) == label.offset)
            length = round(length, next(exact, 17))
            confidence = label.values.get("score")
            data.append({"time": label.onset, "duration": length, "value": text_of(bare), "confidence": confidence})
        for field in ("azimuth", "elevation", "distance", "source"):
            if any(field in label.values for label in labels):
                beside[field] = [shorter(v) if (v := label.values.get(field)) is not None else None for label in labels]
        if any(label.extra for label in labels):
            beside["extra"] = [label.extra or None for label in labels]
        beside |= {"background": extra["background"]} if extra.get("background") else {}
        given = top.pop("annotation", {})
        annotation = {"annotation_metadata": {}, "namespace": "tag_open", "data": data, **given}
        annotation["sandbox"] = {**given.get("sandbox", {}), **beside}
        others = extra.get("other_annotations") or []
        about = top.pop("file_metadata", _length_of(labels))
        return {"annotations": [annotation, *others], "file_metadata": about, **top}


def _length_of(labels: Sequence[ToolLabel]) -> dict[str, Any]:
    """Return the duration that JAMS requires: if nothing else is known, the recording ends with its last label."""
    return {"duration": max((label.offset for label in labels), default=0.0)}


def _about(annotation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an annotation besides its observations and what belongs to each of them."""
    about = {key: value for key, value in annotation.items() if key not in ("data", "sandbox") and value}
    if about.get("namespace") in ("tag_open", "scaper"):  # what seldio writes, and what holds objects
        del about["namespace"]
    beside = annotation.get("sandbox")
    rest = {
        key: value
        for key, value in (beside if isinstance(beside, dict) else {}).items()
        if not (isinstance(value, list) and (field_named(key) or key in ("extra", "background")))
    }
    about |= {"sandbox": rest} if rest else {}
    return {"annotation": about} if about else {}


def _background(annotation: Mapping[str, Any]) -> list[Any]:
    data, beside = annotation.get("data"), annotation.get("sandbox")
    aside = beside.get("background") if isinstance(beside, dict) else None
    rows = [row for row in data if isinstance(row, dict) and _of_background(row)] if isinstance(data, list) else []
    return [*(aside if isinstance(aside, list) else ()), *rows]


def _of_background(observation: Mapping[str, Any]) -> bool:
    value = observation.get("value")
    return isinstance(value, dict) and value.get("role") == "background"


def _observed(annotation: Mapping[str, Any], at: Pointer, report: Report) -> Iterator[ToolLabel]:
    data, beside = annotation.get("data", []), annotation.get("sandbox")
    dense = isinstance(data, dict)
    if dense:  # columns instead of rows
        columns = {key: value for key, value in data.items() if isinstance(value, list)}
        data = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=False)]
    lists = {
        key: value
        for key, value in (beside if isinstance(beside, dict) else {}).items()
        if isinstance(value, list) and len(value) == len(data) and (field_named(key) or key == "extra")
    }
    for place, one in objects_in(data, (*at, "data"), "data", report):
        if _of_background(one):
            continue
        spot, number = (*at, "data") if dense else place, int(place[-1])
        take = _at(spot, report) if dense else report
        times = _times(one, "time", "duration", spot, take)
        if times is None:
            continue
        places = {"": spot, "onset": (*spot, "time"), "offset": (*spot, "duration"), "class_name": spot}
        label = ToolLabel(times[0], round(times[0] + times[1], 12), "", places)
        good, value = True, one.get("value")
        if isinstance(value, dict):
            name = column_of("class_name", (key for key, given in value.items() if isinstance(given, str)))
            for key, given in value.items():
                if key != name and given is not None:
                    good &= _put(label, key, given, (*spot, "value", key), take)
            value = value.get(name) if name is not None else None
        if one.get("confidence") is not None:
            good &= label.set("score", one["confidence"], (*spot, "confidence"), take)
        for key, given in lists.items():
            if key == "extra" and isinstance(given[number], dict):
                label.extra |= given[number]
            elif key != "extra" and given[number] is not None:
                good &= _put(label, key, given[number], (*at, "sandbox", key, number), take)
        if value is not None:
            label.at["class_name"] = (*spot, "value")
            good &= label.read_text(value if isinstance(value, str) else json.dumps(value), None, take)
        if dense:  # a value of a column has no place of its own
            label.at = dict.fromkeys(label.at, spot)
        if good:
            yield label


def _at(spot: Pointer, report: Report) -> Report:
    return lambda code, _, message, hint: report(code, spot, message, hint)


LABEL_STUDIO = LabelStudioFormat(
    name="label-studio",
    title="Label Studio export (JSON): regions with start, end and labels; directions in number controls or texts",
    clips_by="rows",
    source="https://labelstud.io/guide/export",
    note="Number controls called azimuth, elevation, distance or source give the direction; texts may hold "
    "az=30 el=10 dist=2. Each person's annotation of a recording is a clip of its own, unless one is ground truth.",
)
JAMS = JamsFormat(
    name="jams",
    clips_by="rows",
    title="JAMS: observations with time, duration, value and confidence; directions in values, texts or the sandbox",
    source="https://jams.readthedocs.io/en/stable/jams_structure.html",
    note="Sound events are annotations of tag_…, segment_open, scaper and sound_event…; others are kept as they are.",
)
FORMATS = (LABEL_STUDIO, JAMS)
