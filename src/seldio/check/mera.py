"""Submissions to MERA: what is one, the rules for its files, and the verdict that MERA's server will give, as json."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from seldio.catalogues.parts import NamedEntry, Part
from seldio.check.items import ZIPPED
from seldio.check.reference import RUENVAQA, AnyReference
from seldio.errors import InvalidData, UsageError
from seldio.files import Source, open_source, read_entries
from seldio.files.names import suffix_of, written_suffix
from seldio.findings import Finding, raise_errors
from seldio.formats.mera import task_name
from seldio.formats.mera_submission import SUBMISSION
from seldio.rules.mera_verdict import MeraPackage, mera_response, mera_verdict
from seldio.rules.predictions import ItemReference
from seldio.text import json_text, printable

#: Files whose content counts.
_TEXTS = ("json", "jsonl", "csv")


class Submission(NamedTuple):
    """A zip or folder that goes to MERA, as MERA's rules see it, and its files with answers."""

    package: MeraPackage
    answers: tuple[Part, ...]

    @staticmethod
    def of(source: Source, found: Sequence[Part], reference: AnyReference) -> Submission:
        """The submission that a source is (:func:`seldio.check.items.is_submission`); *found* are its parts."""
        known = tuple(reference.tasks) if isinstance(reference, ItemReference) else ()
        chosen = {file.entry.name for part in found if part.questions is not None for file in part.files}
        tasks = known or (RUENVAQA,)
        texts = read_entries((entry for entry in source if suffix_of(entry.name) in _TEXTS), lambda _: None)
        members = dict.fromkeys((entry.name for entry in source), b"") | {entry.name: data for entry, data in texts}
        paths = {entry.name: entry.path for entry in source}
        # what is no zip, or folder to be zipped, cannot be opened
        package = MeraPackage(source.path, members if source.kind in ZIPPED else None, tasks, paths)
        files = tuple(
            NamedEntry(entry, entry.name, "") for entry in source
            if written_suffix(entry.name) == "json" and (task_name(entry.name) in tasks or entry.name in chosen)
        )  # fmt: skip
        return Submission(package, (Part(files, SUBMISSION.name),) if files else ())


def response(path: str | os.PathLike[str], reference: AnyReference = None) -> dict[str, Any]:
    """The response of MERA's server to a zip, without its ``id`` and ``results`` (the scores).

    A folder, or a single json file, is taken for what will be zipped. Without a reference ruEnvAQA is asked for, and
    nothing is said about ids and types of outputs.
    """
    if reference is not None and not (isinstance(reference, ItemReference) and reference.tasks):
        raise UsageError(f"{printable(reference.path)} holds no MERA questions, such as ruenvaqa files hold")
    tasks = reference.tasks if isinstance(reference, ItemReference) else {RUENVAQA: None}
    return mera_response(mera_verdict(_members(path), tasks))


def as_json(answer: dict[str, Any]) -> str:
    """A response as the server writes it."""
    return json_text(answer, indent=4, sort_keys=True)


def _members(path: str | os.PathLike[str]) -> dict[str, bytes] | None:
    """The files of a submission by name; None where it cannot be opened as a zip."""

    def damage(finding: Finding) -> None:
        if finding.code == "SAF107":  # it cannot be read to its end; other oddities are none to the server
            raise InvalidData(finding)

    try:
        with open_source(path, damage) as source:
            if source.kind in ZIPPED:
                return {entry.name: data for entry, data in read_entries(source, raise_errors)}
            if source.kind == "file" and suffix_of(source.path) == "json":
                return {entry.name: entry.read() for entry in source.entries}
            return None
    except InvalidData:
        return None
