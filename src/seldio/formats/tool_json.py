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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
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
    liking: Callable[[bytes, str], float]  # how much the head of a file, and its name, look like one of this format
    #: the annotations in a document; the name of the file is that of a recording that has none
    described: Callable[[JsonDocument, str, Report], Iterator[Described]]
    content: Callable[[Sequence[ToolLabel], str, Mapping[str, Any]], Any]  # the document of a clip

    def likes(self, data: bytes, name: str) -> float:
        """See :meth:`Format.likes`."""
        return self.liking(data[:_HEAD].lstrip(b"\xef\xbb\xbf \t\r\n"), name.lower())

    def parts(self, file: TextFile, sink: Sink) -> Iterator[ToolPart]:
        """See :meth:`ToolFormat.parts`."""
        origin = ClipFile(file.clip, file.name, newline_of(file.data), file.data.endswith(b"\n") or not file.data)
        document = parse(file.data, file.path, sink) if file.data.strip() else None
        if document is None:
            yield ToolPart(file, origin, lambda _: Place(1, 1, 1, "", ""), not file.data.strip())
            return

        def report(code: str, pointer: Any, message: str, hint: str | None) -> None:
            sink(document.finding(code, message, pointer, hint=hint))

        descriptions = list(self.described(document, file.clip, report))
        counts = Counter(description.clip for description in descriptions)
        numbers: Counter[str] = Counter()
        for description in descriptions:
            clip, name = description.clip, file.name
            if counts[clip] > 1:
                numbers[clip] += 1
                if numbers[clip] == 1:
                    message = f"{clipped(clip, 40)} was labelled {counts[clip]} times: each time is a clip of its own"
                    report("SYN507", description.pointer, message, "choose one of them, or mark it as ground truth")
                clip = clip if description.truth else f"{clip}_by{numbers[clip]}"
            if len(descriptions) > 1:
                name = posixpath.join(posixpath.dirname(name), clip.replace("/", "_") + self.suffix)
            extra = json.dumps(description.extra, ensure_ascii=False) if description.extra else None
            part = ToolPart(file, dataclasses.replace(origin, clip=clip, name=name, extra=extra), document.locate)
            part.labels = description.labels
            yield part
        if not descriptions:
            yield ToolPart(file, origin, document.locate)

    def text(self, labels: Sequence[ToolLabel], file: ClipFile) -> str:
        """See :meth:`ToolFormat.text`."""
        extra = json.loads(file.extra) if file.extra else {}
        text = json.dumps(self.content(labels, file.clip, extra), indent=2, ensure_ascii=False)
        return text + "\n" if file.final_newline else text


def _times(
    holder: Mapping[str, Any], first: str, last: str, pointer: Pointer, report: Report
) -> tuple[float, float] | None:
    times: list[float] = []
    for key in (first, last):
        value: Any = holder.get(key)
        if type(value) in (int, float) and abs(value) < 2**53:
            times.append(float(value))
        elif key not in holder:
            report("SYN211", pointer, f"{key} is missing", "times are in seconds")
        else:
            shown = clipped(json.dumps(value, ensure_ascii=False), 30)
            report("SYN501", (*pointer, key), f"{key} is {shown}, not a number", "times are in seconds")
    return (times[0], times[1]) if len(times) == 2 else None


def objects_in(value: Any, pointer: Pointer, what: str, report: Report) -> list[tuple[Pointer, dict[str, Any]]]:
    """Return the objects of a list, each with its pointer; what else there is becomes a finding."""
    members = [((*pointer, number), member) for number, member in enumerate(value)] if isinstance(value, list) else []
    others = [place for place, member in members if not isinstance(member, dict)]
    for place in others if isinstance(value, list) else [pointer]:
        report("SYN212", place, f"{what} must be an array of objects", None)
    return [(place, member) for place, member in members if isinstance(member, dict)]


# --- Label Studio --------------------------------------------------------------------------------------------------


def _studio_liked(head: bytes, _: str) -> float:
    keys = (b'"annotations"', b'"data"', b'"result"')
    likely = head[:1] in (b"[", b"{") and all(key in head for key in keys) and b'"namespace"' not in head
    return 0.95 if likely else 0.0


def _studio_described(document: JsonDocument, clip: str, report: Report) -> Iterator[Described]:
    """Yield the annotations of tasks; predictions count where nobody has labelled a task."""
    value = document.value
    single: list[tuple[Pointer, Any]] = [((), value)]
    tasks = single if isinstance(value, dict) else objects_in(value, (), "tasks", report)
    whole_at: Pointer | None = None  # the first results about all of a recording
    timed = False
    for at, task in tasks:
        if not {"data", "annotations"} & task.keys():
            report("SYN213", at, "the task has no annotations", None)
            continue
        data: dict[str, Any] = task["data"] if isinstance(task.get("data"), dict) else {}
        texts = [key for key, value in data.items() if isinstance(value, str)]
        audio = next((key for key in texts if _SOUND.search(data[key])), "audio" if "audio" in texts else None)
        name = clip if audio is None else _clip_of(data[audio])
        name = clip if posixpath.basename(clip) == name else name  # with the folder that tells it from another
        task_keys = {} if audio is None or data[audio] == f"{name}.wav" else {"audio": data[audio]}
        task_keys |= {key: value for key, value in data.items() if key != audio}
        annotations = objects_in(task.get("annotations", []), (*at, "annotations"), "annotations", report)
        chosen = [(place, annotation) for place, annotation in annotations if not annotation.get("was_cancelled")]
        guesses = task.get("predictions")
        if not chosen and isinstance(guesses, list):
            chosen = objects_in(guesses, (*at, "predictions"), "predictions", lambda *_: None)
        elif guesses:
            task_keys["predictions"] = guesses
        for place, annotation in chosen or [(at, {})]:
            description = Described(name, place, bool(annotation.get("ground_truth")))
            regions: dict[Any, Region] = {}
            for pointer, result in objects_in(annotation.get("result", []), (*place, "result"), "results", report):
                id = result.get("id")
                regions.setdefault(id if isinstance(id, (str, int)) else pointer, []).append((pointer, result))
            timed_regions = [region for region in regions.values() if _is_timed(region)]
            untimed = [result for region in regions.values() if not _is_timed(region) for _, result in region]
            description.extra = ({"task": task_keys} if task_keys else {}) | ({"results": untimed} if untimed else {})
            for region in timed_regions:
                description.labels += _region_labels(region, report)
            timed |= bool(timed_regions)
            whole_at = (*place, "result") if untimed and whole_at is None else whole_at
            yield description
    if whole_at is not None and not timed:
        message = "the annotations are about whole recordings, and none about a part of one: there are no labels"
        report("SYN213", whole_at, message, "give the labels a start and an end")


def _studio_content(labels: Sequence[ToolLabel], clip: str, extra: Mapping[str, Any]) -> Any:
    task = dict(extra.get("task") or {})
    guesses = task.pop("predictions", None)
    results: list[dict[str, Any]] = []
    for number, label in enumerate(labels, 1):
        further = dict(label.extra)
        numbered = type(further.get("channel")) is int and further["channel"] != 0
        channel = further.pop("channel") if numbered else 0
        region: dict[str, Any] = {"start": label.onset, "end": label.offset, "channel": channel}
        common = {"id": f"region{number}", "to_name": "audio"}
        score = {"score": label.values["score"]} if "score" in label.values else {}
        bare = dataclasses.replace(label, values={}, extra={})
        names = [text_of(bare)] if label.name else []
        results.append(
            {**common, "from_name": "label", "type": "labels", "value": {**region, "labels": names}, **score}
        )
        for field in VALUES:
            if field != "score" and field in label.values:
                value = {**region, "number": shorter(label.values[field])}
                results.append({**common, "from_name": field, "type": "number", "value": value})
        if further:
            value = {**region, "text": [json.dumps(further, ensure_ascii=False)]}
            results.append({**common, "from_name": "extra", "type": "textarea", "value": value})
    results += extra.get("results") or []
    data = {"audio": task.pop("audio", f"{clip}.wav"), **task}
    whole = {"data": data, "annotations": [{"result": results}]}
    return [whole | ({"predictions": guesses} if guesses else {})]


def _clip_of(url: str) -> str:
    """Return the name of a recording in an address; Label Studio puts a hash before the names of uploads."""
    parts = None
    with suppress(ValueError):  # what only looks like an address is a path
        parts = urlsplit(url) if "://" in url or url.startswith("/data/") else None
    path = url.replace("\\", "/") if parts is None else unquote(parts.path)
    if parts is not None and (local := parse_qs(parts.query).get("d")):
        path = local[0]
    name = posixpath.basename(path)
    name = _HASHED.sub("", name) if "/upload/" in path else name
    return name.rpartition(".")[0] or name or "recording"


#: Results about one stretch of a recording, each with its pointer.
Region = list[tuple[Pointer, dict[str, Any]]]


def _is_timed(region: Region) -> bool:
    keys = {key for _, result in region if isinstance(result.get("value"), dict) for key in result["value"]}
    return bool({"start", "end", "labels"} & keys) or any(result.get("type") == "labels" for _, result in region)


def _region_labels(region: Region, report: Report) -> list[ToolLabel]:
    times, good = None, True
    names: Any = []
    label = ToolLabel(0.0, 0.0, "", {"": region[0][0]})
    for pointer, result in region:
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
            names = value.get("labels") or []
            label.at["class_name"] = (*at, "labels") if "labels" in value else at
            if not isinstance(names, list):
                report("SYN212", label.at["class_name"], "labels must be an array", None)
                return []
        elif kind == "number":
            good &= _put(label, name, value.get("number"), (*at, "number") if "number" in value else at, report)
        elif kind == "textarea":
            written = value.get("text")
            text = " ".join(map(str, written)) if isinstance(written, list) else str(written)
            good &= _noted(label, name, text, (*at, "text") if "text" in value else at, report)
        else:
            chosen = value.get(kind, value)
            label.extra[name or kind] = chosen[0] if isinstance(chosen, list) and len(chosen) == 1 else chosen
    if times is None or not good:
        return []
    label.onset, label.offset = times
    labels = []
    for name in names or [""]:
        named = dataclasses.replace(label, at=dict(label.at), values=dict(label.values), extra=dict(label.extra))
        if named.read_text(str(name), None, report):
            labels.append(named)
    return labels


def _put(label: ToolLabel, name: str, value: Any, at: Pointer, report: Report) -> bool:
    if (field := field_named(name)) is not None:
        return label.set(field, value, at, report)
    label.extra[name] = value
    return True


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


# --- JAMS ------------------------------------------------------------------------------------------------------------

_EVENTS = re.compile(r"tag_.*|segment_open|scaper|sound_event.*")


def _jams_liked(head: bytes, name: str) -> float:
    """Return 1 if a file begins with annotations that have a namespace or metadata, or is called like one."""
    keys = b'"namespace"' in head or b'"annotation_metadata"' in head or b'"file_metadata"' in head
    return float(name.endswith(".jams") or (head[:1] == b"{" and b'"annotations"' in head and keys))


def _jams_described(document: JsonDocument, clip: str, report: Report) -> Iterator[Described]:
    """Yield the annotations of sound events, each a description."""
    value = document.value
    if not isinstance(value, dict) or "annotations" not in value:
        report("SYN213", (), "the key annotations is missing, which every JAMS has", None)
        return
    objects = objects_in(value["annotations"], ("annotations",), "annotations", report)
    events = {at: annotation for at, annotation in objects if _EVENTS.fullmatch(str(annotation.get("namespace", "")))}
    listed = value["annotations"] if isinstance(value["annotations"], list) else []
    others = [annotation for number, annotation in enumerate(listed) if ("annotations", number) not in events]
    top = {key: member for key, member in value.items() if key != "annotations" and member}
    top |= {"other_annotations": others} if others else {}
    if not events and others:
        names = sorted({clipped(str(annotation.get("namespace")), 30) for _, annotation in objects})
        message = f"no annotation of sound events: the namespaces are {', '.join(names[:6])}"
        hint = "those of sound events are tag_…, segment_open, scaper and sound_event…"
        report("SYN213", ("annotations",), message, hint)
    for at, annotation in events.items():
        data, beside = annotation.get("data"), annotation.get("sandbox")
        beside = beside if isinstance(beside, dict) else {}
        description = Described(clip, at, extra=dict(top) | _about(annotation, beside))
        background = beside["background"] if isinstance(beside.get("background"), list) else []
        rows = [row for row in data if isinstance(row, dict)] if isinstance(data, list) else []
        background = [*background, *filter(_is_of_background, rows)]
        if background:
            description.extra["background"] = background
            sounds = plural(len(background), "background sound")
            message = f"{sounds} ignored, as in Scaper's own tables"
            report("SYN509", at, message, None)
        description.labels = list(_observed(annotation, at, report))
        if description.extra.get("file_metadata") == _length_of(description.labels):
            del description.extra["file_metadata"]
        yield description


def _jams_content(labels: Sequence[ToolLabel], _: str, extra: Mapping[str, Any]) -> Any:
    """Return the document of a clip; directions are lists in the sandbox of the annotation."""
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
    about = top.pop("annotation", {})
    annotation = {"annotation_metadata": {}, "namespace": "tag_open", "data": data, **about}
    annotation["sandbox"] = {**about.get("sandbox", {}), **beside}
    others = extra.get("other_annotations") or []
    return {
        "annotations": [annotation, *others],
        "file_metadata": top.pop("file_metadata", _length_of(labels)),
        **top,
    }


def _length_of(labels: Sequence[ToolLabel]) -> dict[str, Any]:
    """Return the duration that JAMS requires: if nothing else is known, the recording ends with its last label."""
    return {"duration": max((label.offset for label in labels), default=0.0)}


def _about(annotation: Mapping[str, Any], beside: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an annotation besides its observations and what its sandbox has for each of them."""
    about = {key: value for key, value in annotation.items() if key not in ("data", "sandbox") and value}
    if about.get("namespace") in ("tag_open", "scaper"):  # what seldio writes, and what holds objects
        del about["namespace"]
    further = {
        key: value
        for key, value in beside.items()
        if not (isinstance(value, list) and (field_named(key) or key in ("extra", "background")))
    }
    about |= {"sandbox": further} if further else {}
    return {"annotation": about} if about else {}


def _is_of_background(observation: Mapping[str, Any]) -> bool:
    value = observation.get("value")
    return isinstance(value, dict) and value.get("role") == "background"


def _observed(annotation: Mapping[str, Any], at: Pointer, report: Report) -> Iterator[ToolLabel]:
    data, beside = annotation.get("data", []), annotation.get("sandbox")
    dense = isinstance(data, dict)
    if dense:  # columns instead of rows; a value of a column has no place of its own
        columns = {key: value for key, value in data.items() if isinstance(value, list)}
        data = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=False)]
    count = len(data) if isinstance(data, list) else 0
    lists = {
        key: value
        for key, value in (beside if isinstance(beside, dict) else {}).items()
        if isinstance(value, list) and len(value) == count and (field_named(key) or key == "extra")
    }

    def report_at(code: str, pointer: Any, message: str, hint: str | None) -> None:
        report(code, (*at, "data") if dense else pointer, message, hint)

    for place, observation in objects_in(data, (*at, "data"), "data", report):
        if _is_of_background(observation):
            continue
        spot, number = (*at, "data") if dense else place, int(place[-1])
        times = _times(observation, "time", "duration", spot, report_at)
        if times is None:
            continue
        places = {"": spot, "onset": (*spot, "time"), "offset": (*spot, "duration"), "class_name": spot}
        label = ToolLabel(times[0], round(times[0] + times[1], 12), "", places)
        good, value = True, observation.get("value")
        if isinstance(value, dict):
            name = column_of("class_name", (key for key, member in value.items() if isinstance(member, str)))
            for key, member in value.items():
                if key != name and member is not None:
                    good &= _put(label, key, member, (*spot, "value", key), report_at)
            value = value.get(name) if name is not None else None
        if observation.get("confidence") is not None:
            good &= label.set("score", observation["confidence"], (*spot, "confidence"), report_at)
        for key, values in lists.items():
            if key == "extra" and isinstance(values[number], dict):
                label.extra |= values[number]
            elif key != "extra" and values[number] is not None:
                good &= _put(label, key, values[number], (*at, "sandbox", key, number), report_at)
        if value is not None:
            label.at["class_name"] = (*spot, "value")
            good &= label.read_text(value if isinstance(value, str) else json.dumps(value), None, report_at)
        if dense:
            label.at = dict.fromkeys(label.at, spot)
        if good:
            yield label


LABEL_STUDIO = JsonTool(
    name="label-studio",
    title="Label Studio export (JSON): regions with start, end and labels; directions in number controls or texts",
    clips_by="rows",
    liking=_studio_liked,
    described=_studio_described,
    content=_studio_content,
    source="https://labelstud.io/guide/export",
    note="Number controls called azimuth, elevation, distance or source give the direction; texts may hold "
    "az=30 el=10 dist=2. Each person's annotation of a recording is a clip of its own, unless one is ground truth.",
)
JAMS = JsonTool(
    name="jams",
    suffix=".jams",
    clips_by="rows",
    title="JAMS: observations with time, duration, value and confidence; directions in values, texts or the sandbox",
    liking=_jams_liked,
    described=_jams_described,
    content=_jams_content,
    source="https://jams.readthedocs.io/en/stable/jams_structure.html",
    note="Sound events are annotations of tag_…, segment_open, scaper and sound_event…; others are kept as they are.",
)
FORMATS = (LABEL_STUDIO, JAMS)
