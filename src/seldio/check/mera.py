"""Submissions to MERA: their files, as the rules for them see these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from seldio.catalogues.parts import NamedEntry, Part
from seldio.check.items import ZIPPED
from seldio.check.reference import RUENVAQA, AnyReference
from seldio.files import Source, read_entries
from seldio.files.names import suffix_of, written_suffix
from seldio.formats.mera import SUBMISSION, task_name
from seldio.rules.mera import MeraPackage
from seldio.rules.predictions import ItemReference

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
