"""Recognize a package of a submission to DCASE by the names of its files alone."""

from __future__ import annotations

import re

from seldio.files import Source
from seldio.rules.collection import Collection

#: Folders of tasks, and common variants of their names.
TASK = re.compile(r"(?i)task[ _-]*([0-9]{1,4})[ _-]*[a-z]?")
_LABEL_FOLDER = re.compile(r"(?i).+_task[0-9]+[a-z]*_[0-9]+")
_OUTPUT = re.compile(r"(?i)mix[0-9]{3}\.csv")
META_NAME = re.compile(r"(?i)\.meta\.ya?ml$")


def is_package(collection: Source | Collection) -> bool:
    """Return whether a source looks like a package or a part of one.

    It has a meta file, or folders ``taskN/LABEL/``, or several folders ``LABEL/`` of outputs.
    """
    prefix, names = prefix_of(collection), [entry.name for entry in collection.entries]
    placed = any(META_NAME.search(name) or _is_labelled(prefix + name) for name in names)
    return (
        placed or len({label_folder(name) for name in names if _OUTPUT.fullmatch(name.rpartition("/")[2])} - {""}) > 1
    )


def prefix_of(collection: Source | Collection) -> str:
    """Return the prefix of names if the source is the folder of a task or system inside a package."""
    names = [entry.name for entry in collection.entries]
    if collection.kind != "folder" or any(task_of(name) is not None for name in names):
        return ""
    parts = collection.path.replace("\\", "/").rstrip("/").split("/")
    levels = {name.count("/") for name in names if META_NAME.search(name)}
    for depth in (1, 2):  # taskN, and taskN/LABEL
        prefix = "/".join(parts[-depth:]) + "/"
        placed = 2 - depth in levels or any(_is_labelled(prefix + name) for name in names)
        if len(parts) >= depth and TASK.fullmatch(parts[-depth]) and placed:
            return prefix
    return ""


def task_of(name: str) -> str | None:
    """Return the innermost folder of a task on the way to a file."""
    folders = name.split("/")[:-1]
    places = [place for place, part in enumerate(folders, 1) if TASK.fullmatch(part)]
    return "/".join(folders[: places[-1]]) if places else None


def label_folder(name: str) -> str:
    """Return the outermost folder on the way to a file that is called like a label; empty if none is."""
    folders = name.split("/")[:-1]
    at = next((place for place, part in enumerate(folders, 1) if _LABEL_FOLDER.fullmatch(part)), 0)
    return "/".join(folders[:at])


def _is_labelled(name: str) -> bool:
    """Return whether a file is in the folder of a label, inside that of a task."""
    task = task_of(name)
    label, slash, _ = name[len(task) + 1 :].partition("/") if task is not None else ("", "", "")
    return bool(slash) and _LABEL_FOLDER.fullmatch(label) is not None
