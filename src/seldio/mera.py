"""What MERA's server will answer to a submission: its validator's verdict, as json."""

from __future__ import annotations

import os
from typing import Any

from seldio.errors import InvalidData, UsageError
from seldio.files import open_source, read_entries
from seldio.findings import Finding, raise_errors
from seldio.item_validation import AnyReference
from seldio.reference import RUENVAQA
from seldio.rules.mera import mera_response, mera_verdict
from seldio.rules.predictions import ItemReference
from seldio.text import json_text, printable


def response(path: str | os.PathLike[str], reference: AnyReference = None) -> dict[str, Any]:
    """The response of MERA's server, without its ``id`` and ``results`` (the scores).

    Args:
        path: the zip; a folder, or a single json file, is taken for what will be zipped.
        reference: the questions of the tasks that are asked for, as :func:`seldio.reference.load` gives them.
            Without it ruEnvAQA is asked for, and nothing is said about ids and types of outputs.

    Raises:
        UsageError: nothing has that name, or the reference holds no questions of MERA.
        SeldioError: the disk fails.
    """
    if reference is not None and not (isinstance(reference, ItemReference) and reference.tasks):
        raise UsageError(f"{printable(reference.path)} holds no questions of MERA, as ruenvaqa files do")
    tasks = reference.tasks if isinstance(reference, ItemReference) else {RUENVAQA: None}
    return mera_response(mera_verdict(_members(path), tasks))


def as_json(answer: dict[str, Any]) -> str:
    """A response as the server writes it."""
    return json_text(answer, indent=4, sort_keys=True)


def _members(path: str | os.PathLike[str]) -> dict[str, bytes] | None:
    """The files of a submission by name; None where it cannot be opened as a zip."""
    try:
        with open_source(path, _damage) as source:
            if source.kind in ("folder", "zip"):
                return {entry.name: data for entry, data in read_entries(source, raise_errors)}
            if source.kind == "file" and source.path.lower().endswith(".json"):
                return {entry.name: entry.read() for entry in source.entries}
            return None
    except InvalidData:
        return None


def _damage(finding: Finding) -> None:
    """Stop at an archive that cannot be read to its end; other oddities are none to the server."""
    if finding.code == "SAF107":
        raise InvalidData(finding)
