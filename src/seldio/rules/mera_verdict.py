"""What MERA's validator says about a submission, error for error.

Its quirks are kept: a task's file is found by its name without suffix, anywhere in the archive; of two
answers with one id the last counts and nobody is told; ids that no question has are ignored; any error
makes the whole task score 0. What its server does beyond that (the scores) needs the hidden answers.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Mapping
from typing import Any

Json = dict[str, Any]
#: The right output of each question of a task, by id; None where that is not known: nothing is compared then.
Gold = Mapping[Any, Any] | None
#: A metric of a task, as ``metric(right, given)``; what it raises is a ``doc_parse_output_error``.
Metric = Callable[[Any, Any], object]

#: The 14 errors by their names, with what the server tells people about them.
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
    """The errors of a submission in the order of the tasks of *gold*: ``task``, ``type`` and what the type needs.

    Args:
        members: the files of the archive by name; None where it cannot be opened.
        gold: every task that is asked for, with the right outputs; None instead of them where they are not known.
        metric: tried on every answer, where given.
    """
    if members is None:
        broken = [{"task": "_all", "type": "unreadable_zip"}]
        return broken + [{"task": task, "type": "no_task"} for task in gold]
    files = {posixpath.splitext(posixpath.basename(name))[0]: name for name in members}
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
    told = {
        task: [
            {key: part for key, part in error.items() if key != "local_path"} | {"comment": ERRORS[error["type"]]}
            for error in errors
        ]
        for task, errors in plain.items()
    }
    everywhere, told_everywhere = plain.pop("_all", []), told.pop("_all", [])
    return {
        "_errors_reason": plain,
        "_global_errors_reason": everywhere,
        "error_reason": told,
        "errors": plain,
        "global_error_reason": told_everywhere,
        "status": "Failed" if verdict else "Ok",
    }


def gold_of(data: bytes) -> dict[Any, Any] | None:
    """The outputs of a task's questions by id, from its file: records under data, or under a split of it.

    None where it is no such file.
    """
    try:
        records = json.loads(data.decode("utf-8-sig"))
        while isinstance(records, dict):
            records = records[next(key for key in ("data", _SPLIT) if key in records)]
        return {record["meta"]["id"]: record["outputs"] for record in records}
    except (ValueError, RecursionError, StopIteration, *_LOOKUP):
        return None


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
        examples, errors = _examples(document)
    except (*_LOOKUP, AttributeError):  # the server has no name for these, its worker stops
        return [_error("task_system_error")]
    return errors or list(_compared(examples, gold or {}, metric))


def _examples(document: Any) -> tuple[Json, list[Json]]:
    """The answers by id, the last one of each, and what is wrong with them."""
    if "data" not in document:
        return {}, [_error("no_data_field")]
    if _SPLIT not in document["data"]:
        return {}, [_error("no_split", split=_SPLIT)]
    examples: dict[Any, Any] = {}
    errors = []
    for number, example in enumerate(document["data"][_SPLIT]):
        wrong = _lacking(example)
        errors += [_error(name, example_number=number) for name in wrong]
        if not wrong or wrong == ["no_outputs_field_for_doc"]:
            examples[example["meta"]["id"]] = example
    return examples, errors


def _lacking(example: Any) -> list[str]:
    """The fields that an answer lacks, as errors."""
    errors = []
    for names, error in (
        (("outputs",), "no_outputs_field_for_doc"),
        (("meta",), "no_meta_field_for_doc"),
        (("meta", "id"), "no_id_field_for_doc"),
    ):
        try:
            part = example
            for name in names:
                part = part[name]
        except _LOOKUP:
            errors.append(error)
            if error == "no_meta_field_for_doc":
                break
    return errors


def _compared(examples: Json, gold: Mapping[Any, Any], metric: Metric | None) -> list[Json]:
    """What the right outputs tell about the answers."""
    errors = []
    for number, right in gold.items():
        if number not in examples:
            errors.append(_error("no_id", doc_id=number))
        elif not isinstance(examples[number]["outputs"], type(right)):
            errors.append(_error("doc_output_type_error", doc_id=number))
        elif metric is not None and not _works(metric, right, examples[number]["outputs"]):
            errors.append(_error("doc_parse_output_error", doc_id=number))
    return errors


def _works(metric: Metric, right: Any, given: Any) -> bool:
    try:
        metric(right, given)
    except Exception:  # noqa: BLE001 - the server catches whatever a metric raises
        return False
    return True
