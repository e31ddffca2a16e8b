"""PRD12: the archive of a submission to MERA, and the verdict of its validator, error for error.

Its quirks are kept: a task's file is found by its name without suffix, anywhere in the archive; of two
answers with the same id the last one silently counts; ids that no question has are ignored; any error
makes the whole task score 0. The scores that its server computes beyond that need the hidden answers.
"""

from __future__ import annotations

import dataclasses
import json
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from seldio.findings import Finding
from seldio.formats.mera import task_name
from seldio.rules.collection import Found
from seldio.rules.registry import ERROR, rule
from seldio.text import clipped, printable

Json = dict[str, Any]
#: The right output of each question of a task, by id; None if unknown: nothing is compared then.
Gold = Mapping[Any, Any] | None
#: A metric of a task, as ``metric(right, given)``; an exception is a ``doc_parse_output_error``.
Metric = Callable[[Any, Any], object]

#: The 14 errors by their names, with the server's messages about them.
ERRORS = {
    "unreadable_zip": "Нечитаемый zip архив.",
    "s3_error": "Невозможно скачать файл из s3.",
    "no_task": "Нет файла задачи внутри архива.",
    "extension": "Неправильное расширение файла задачи внутри архива.",
    "unreadable_file": "Невозможно прочитать файл.",
    "no_data_field": "Нет поля дата в файле задачи.",
    "no_split": "Нет поля test в файле задачи.",
    "no_outputs_field_for_doc": "Невозможно получить поле outputs из файла задачи для документа с порядковым номером "
    "(не id) example_number.",
    "no_meta_field_for_doc": "Невозможно получить поле meta из файла задачи для документа с порядковым номером "
    "(не id) example_number.",
    "no_id_field_for_doc": "Невозможно получить поле id из файла задачи для документа с порядковым номером "
    "(не id) example_number.",
    "no_id": "Нет документа с id в файле задачи.",
    "doc_output_type_error": "Тип поля outputs не соответствует ожидаемому типу.",
    "doc_parse_output_error": "Ошибка получения outputs для документа (поле есть, но распарсить его не получается).",
    "task_system_error": "Непредвиденная системная ошибка при валидации и оценке задачи.",
}
_SPLIT, _SUFFIX = "test", ".json"
_LOOKUP = (TypeError, KeyError, IndexError)


def mera_verdict(
    members: Mapping[str, bytes] | None, gold: Mapping[str, Gold], metric: Metric | None = None
) -> list[Json]:
    """The errors of a submission in the order of the tasks of *gold*: ``task``, ``type`` and details of the type.

    *members* are the files of the archive by name, None where it cannot be opened; *metric* is tried on every answer.
    """
    if members is None:
        return [{"task": "_all", "type": "unreadable_zip"}, *({"task": task, "type": "no_task"} for task in gold)]
    files = {task_name(name): name for name in members}
    return [
        {"task": task} | error
        for task, right in gold.items()
        for error in (_task(files[task], members[files[task]], right, metric) if task in files else [_error("no_task")])
    ]


def mera_response(verdict: list[Json]) -> Json:
    """A verdict in the shape of the server's response, without ``results`` and ``id``; tasks are sorted."""
    plain: dict[str, list[Json]] = {}
    for error in sorted(verdict, key=lambda error: str(error["task"])):
        plain.setdefault(error["task"], []).append({key: part for key, part in error.items() if key != "task"})
    public = {
        task: [
            {key: part for key, part in error.items() if key != "local_path"} | {"comment": ERRORS[error["type"]]}
            for error in errors
        ]
        for task, errors in plain.items()
    }
    everywhere, public_everywhere = plain.pop("_all", []), public.pop("_all", [])
    return {
        "_errors_reason": plain,
        "_global_errors_reason": everywhere,
        "error_reason": public,
        "errors": plain,
        "global_error_reason": public_everywhere,
        "status": "Failed" if verdict else "Ok",
    }


def _error(name: str, **more: Any) -> Json:
    return more | {"type": name}


def _task(name: str, data: bytes, gold: Gold, metric: Metric | None) -> list[Json]:
    """The errors of one task's file."""
    suffix = posixpath.splitext(name)[1]
    if suffix != _SUFFIX:
        return [_error("extension", extension=suffix)]
    try:
        document = json.loads(data.decode())
    except (ValueError, RecursionError):
        return [_error("unreadable_file", local_path=name)]
    try:
        if "data" not in document:
            return [_error("no_data_field")]
        if _SPLIT not in document["data"]:
            return [_error("no_split", split=_SPLIT)]
        examples: dict[Any, Any] = {}  # the answers by id, the last one of each
        errors = []
        for number, example in enumerate(document["data"][_SPLIT]):
            wrong = _lacking(example)
            errors += [_error(name, example_number=number) for name in wrong]
            if not wrong or wrong == ["no_outputs_field_for_doc"]:
                examples[example["meta"]["id"]] = example
    except (*_LOOKUP, AttributeError):  # the server has no name for these, its worker stops
        return [_error("task_system_error")]
    return errors or list(_compared(examples, gold or {}, metric))


def _lacking(example: Any) -> list[str]:
    """The fields that an answer lacks, as errors."""
    errors = []
    for names in (("outputs",), ("meta",), ("meta", "id")):
        try:
            part = example
            for name in names:
                part = part[name]
        except _LOOKUP:
            errors.append(f"no_{names[-1]}_field_for_doc")
            if names == ("meta",):
                break
    return errors


def _compared(examples: Json, gold: Mapping[Any, Any], metric: Metric | None) -> Iterator[Json]:
    """The errors of answers compared with the right outputs."""
    for number, right in gold.items():
        if number not in examples:
            yield _error("no_id", doc_id=number)
        elif not isinstance(examples[number]["outputs"], type(right)):
            yield _error("doc_output_type_error", doc_id=number)
        elif metric is not None:
            try:
                metric(right, examples[number]["outputs"])
            except Exception:  # noqa: BLE001 - the server catches whatever a metric raises
                yield _error("doc_parse_output_error", doc_id=number)


# --- the rules -------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class MeraPackage:
    """The archive of a submission."""

    path: str  # as shown to people
    members: Mapping[str, bytes] | None  # its files; None if it cannot be opened
    tasks: Sequence[str] = ("ruEnvAQA",)  # the expected tasks
    #: of the files as shown to people, by name; below *path* where that does not say
    paths: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def errors(self, kind: str) -> Iterator[tuple[str, str, dict[str, str]]]:
        """The validator's errors of one type: the task, the path of its file, and the error itself."""
        gold = dict.fromkeys(self.tasks)
        files = {task_name(member): member for member in self.members or ()}
        for error in mera_verdict(self.members, gold):
            if error["type"] == kind:
                task, name = error["task"], files.get(error["task"])
                path = self.path if name is None else self.paths.get(name, f"{self.path}!/{name}")
                yield task, path, error


@rule("PRD121", ERROR)
def unreadable_submission(package: MeraPackage, found: Found) -> Iterator[Finding]:
    """Submission that is not a valid zip archive."""
    for _, path, _ in package.errors("unreadable_zip"):
        yield found(path, "the archive cannot be opened as a zip", "compress the files with zip")


@rule("PRD122", ERROR)
def unreadable_task(package: MeraPackage, found: Found) -> Iterator[Finding]:
    """Task file that is not JSON in UTF-8."""
    for task, path, _ in package.errors("unreadable_file"):
        yield found(path, f"the file of {printable(task)} cannot be read as JSON", "write it again, in UTF-8")


@rule("PRD123", ERROR)
def wrong_extension(package: MeraPackage, found: Found) -> Iterator[Finding]:
    """Task file without the suffix .json."""
    for task, path, error in package.errors("extension"):
        message = f"the suffix is {clipped(error['extension'] or 'empty', 20)}, not .json"
        yield found(path, message, f"name it {printable(task)}.json")


@rule("PRD124", ERROR)
def task_missing(package: MeraPackage, found: Found) -> Iterator[Finding]:
    """Submission without the file of a task."""
    for task, path, _ in package.errors("no_task") if package.members is not None else ():
        alike = [name for name in package.members or () if task.lower() in name.lower()]
        hint = f"rename {printable(alike[0])}" if alike else "add it"
        yield found(path, f"{printable(task)}.json is missing", hint)
