"""Each reply with what was read in it and what that is worth: as JSON lines, CSV or a page, the doubtful ones first."""

from __future__ import annotations

import base64
import dataclasses
import html
import mimetypes
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import zip_longest
from string import Template
from typing import TYPE_CHECKING
from urllib.parse import quote

from seldio.errors import UsageError
from seldio.files import Entry, Source, input_at, write_bytes
from seldio.files.sources import Lookup, on_disk, reopened
from seldio.findings import raise_errors
from seldio.formats import stem_of
from seldio.formats.items import LETTERS
from seldio.reports.page import hashed, look, safe
from seldio.reports.spreadsheet import write_table
from seldio.reports.tables import Cell, Column, Table
from seldio.schema.qa import Item
from seldio.scores.replies import JUDGED, OPEN
from seldio.text import json_text, plural, printable

if TYPE_CHECKING:
    from seldio.scores.jasco import AnswerMarks, JascoCase
    from seldio.scores.multiple_choice import Joined, Measured
    from seldio.scores.so_bench import Scored

#: Why a verdict is in doubt, the most doubtful first; what is in none comes last.
DOUBTS = (
    "the official reading and ours differ", "unread", "refused to answer", "judged", "empty", "no prediction",
    "partly right", "wrong", "",
)  # fmt: skip
#: Bytes of recordings that a page holds; further ones are linked.
MOST_BYTES = 32 * 2**20
#: Bytes at the start of a page in which it says that it is about a clip.
_HEAD = 1 << 17
SUFFIXES = (".jsonl", ".csv", ".html")


@dataclasses.dataclass(frozen=True)
class ReplyVerdict:
    """One reply, and what became of it."""

    item: Item  # the question
    reply: str | None  # None where there is none
    read: str  # what was read in it
    layer: str  # what read it
    right: float  # what the profile counts, from 0 to 1
    doubt: str  # one of :data:`DOUBTS`
    marks: Mapping[str, Cell]  # each measure by its name

    @property
    def verdict(self) -> str:
        """In words."""
        if self.layer in OPEN.values():
            return self.layer
        return "right" if self.right == 1 else "wrong" if self.right == 0 else "partly right"

    def record(self) -> dict[str, Cell]:
        """What differs from system to system."""
        own = {"reply": self.reply, "read": self.read, "layer": self.layer, "verdict": self.verdict}
        return {**own, "doubt": self.doubt, **{f"by_{name}": mark for name, mark in self.marks.items()}}


def _of(
    item: Item, reply: str | None, read: str, state: str, right: float, marks: Mapping[str, Cell], other: bool = False
) -> ReplyVerdict:
    """A verdict with its doubt; *other*: whether another reading says something else."""
    layer = OPEN.get(state, state.removeprefix("read: "))
    doubt = DOUBTS[0] if other else layer if layer in DOUBTS else ""
    if not doubt and right < 1:
        doubt = "partly right" if right else "wrong"
    return ReplyVerdict(item, reply, read, layer, right, doubt, marks)


def of_choices(joined: Joined, measured: Measured) -> Iterator[ReplyVerdict]:
    """Those of questions with options; what counts is the first measure."""
    flags = [*measured.measures.values()]
    for number, (item, row) in enumerate(joined.pairs):
        marks = {column.name: bool(one[number]) for column, one in measured.measures.items()}
        reply = row.prediction if row is not None else None
        yield _of(item, reply, measured.said[number] or "", measured.states[number], float(flags[0][number]), marks,
                  bool(flags[0][number] != flags[-1][number]))  # fmt: skip


def of_scored(row: Scored, state: str) -> ReplyVerdict:
    """That of a question of SO-Bench."""
    said = (row.judgement or {}).get("prediction")
    said = {**(said if isinstance(said, Mapping) else {}), **((row.judgement or {}).get("semantic") or {})}
    read = ", ".join(f"{key}: {value}" for key, value in said.items() if value not in (None, "", [], {}, False))
    reply = None if row.how == "missing" else row.prediction
    return _of(row.item, reply, read, state, row.correct, {"accuracy": row.correct})


def of_jasco(case: JascoCase, marks: AnswerMarks) -> Iterator[ReplyVerdict]:
    """Those of the answers to JASCO's instructions: of 2 points, as the judge says."""
    from seldio.scores.jasco import key

    for number, (row, text) in enumerate(zip(case.rows, case.texts, strict=True)):
        target, points = (row.extra or {}).get("tgt_text"), marks.points.get(number, 0)
        answer = target if isinstance(target, str) else None
        asked = {"id": key(row), "audio": row.audio, "question": row.prompt or "", "answer": answer}
        item = Item.model_validate(asked)
        state = JUDGED if case.read[number].complete else "unread"
        worth = {"points": points, "orientation": marks.orientations.get(number)}
        yield _of(item, row.prediction, text, state, points / 2, worth)


# --- files ------------------------------------------------------------------------------------------


def checked(path: str | os.PathLike[str], inputs: Iterable[object] = ()) -> str:
    """The suffix that says how to write *path*.

    Raises:
        UsageError: no list of replies is written so, or it would take the place of one of the *inputs*.
    """
    name = os.fspath(path)
    if input_at(name, inputs) is not None:
        raise UsageError(f"--items {printable(name)} is one of the files that are scored: choose another name")
    suffix = next((one for one in SUFFIXES if name.lower().endswith(one)), None)
    if suffix is None:
        raise UsageError(f"--items {printable(name)}: choose a name that ends in {', '.join(SUFFIXES)}")
    return suffix


def write(
    path: str | os.PathLike[str], systems: Mapping[str, Iterable[ReplyVerdict]], profile: str,
    questions: str | os.PathLike[str] | Source | None,
) -> None:  # fmt: skip
    """Write the replies of one system, or of several the questions on which they differ.

    Args:
        path: what to write; its suffix says how.
        systems: what each of them answered.
        profile: by which they were scored.
        questions: where the questions are from; recordings are found by their paths from there.
    """
    suffix = checked(path)
    lists = [list(one) for one in systems.values()]
    rows = _parting(lists) if len(lists) > 1 else [(one,) for one in lists[0]]
    rows.sort(key=lambda row: min(DOUBTS.index(one.doubt) for one in row))
    records = [_record(row, profile, [*systems]) for row in rows]
    if suffix == ".jsonl":
        text = "".join(f"{json_text(record)}\n" for record in records)
    elif suffix == ".csv":
        names = list(dict.fromkeys(name for record in records for name in record))
        cells = tuple(tuple(_cell(record.get(name)) for name in names) for record in records)
        text = write_table(Table("items", "items", tuple(Column(name, name) for name in names), cells))
    else:
        text = _page(rows, [*systems], profile, questions, os.path.dirname(os.path.abspath(path)))  # noqa: PTH100, PTH120
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def _parting(lists: Sequence[Sequence[ReplyVerdict]]) -> list[tuple[ReplyVerdict, ...]]:
    """The questions for which systems were given other marks."""
    first, *others = [{one.item.id: one for one in each} for each in lists]
    rows = (tuple(each[id] for each in (first, *others)) for id in first if all(id in each for each in others))
    return [row for row in rows if len({one.right for one in row}) > 1]


def _record(row: Sequence[ReplyVerdict], profile: str, systems: Sequence[str]) -> dict[str, object]:
    item = row[0].item
    record: dict[str, object] = {
        "id": item.id, "audio": item.audio, "task": item.task, "question": item.question, "options": item.options,
        "answer": item.answer, "profile": profile,
    }  # fmt: skip
    if len(row) == 1:
        return record | row[0].record()
    for number, (one, system) in enumerate(zip(row, systems, strict=True), 1):
        record |= {f"{name}_{number}": value for name, value in {"system": system, **one.record()}.items()}
    return record


def _cell(value: object) -> Cell:
    if isinstance(value, list):
        return " | ".join(map(str, value))
    return int(value) if isinstance(value, bool) else value if isinstance(value, str | int | float) else None


def _page(
    rows: Sequence[Sequence[ReplyVerdict]], systems: Sequence[str], profile: str,
    questions: str | os.PathLike[str] | Source | None, folder: str,
) -> str:  # fmt: skip
    """All rows as one page, with the recordings that can be found."""
    with reopened(Source("", "file", ()) if questions is None else questions, raise_errors) as source:
        sounds, left, linked = _sounds(rows, source, folder)
        pages = dict(_clip_pages(rows, source, folder))
    kinds = Counter(one.verdict for row in rows for one in row)
    tasks = sorted({row[0].item.task or "" for row in rows} - {""})
    shown = "".join(_row(row, systems, sounds, pages) for row in rows)
    page = files(__package__ or "").joinpath("verdicts.html").read_text("utf-8")
    style, script = (page.partition(f"<{name}>")[2].partition(f"</{name}>")[0] for name in ("style", "script"))
    style = style.replace("$look", look())
    media = "data: file: 'self'" if linked else "data:"
    policy = (
        f"default-src 'none'; script-src '{hashed(script)}'; style-src '{hashed(style)}'; media-src {media}; "
        "base-uri 'none'; form-action 'none'"
    )
    asked, order = plural(len(rows), "question"), ""
    verdict = f"{asked} on which the systems differ."
    if len(systems) == 1:
        verdict = f"{', '.join(f'{count:,} {kind}' for kind, count in kinds.most_common())} of {asked}."
        order = "the most doubtful first; "
    heads = "".join(f'<th scope="col">{safe(name)}</th>' for name in systems)
    missing = f"; {plural(left, 'recording')} not found" if left else ""
    said = f"{order}profile {profile}{missing}"
    return Template(page).substitute(
        policy=html.escape(policy, quote=True), look=look(), title=safe(" and ".join(systems)),
        verdict=safe(verdict), said=safe(said), heads=heads,
        verdicts=_options(kinds), tasks=_options(dict.fromkeys(tasks)), rows=shown,
        sounds="".join(f'<audio id="s{number}" preload="none" src="{address}"></audio>\n'
                       for number, address in enumerate(dict.fromkeys(sounds.values()))),
    )  # fmt: skip


def _options(names: Mapping[str, int | None]) -> str:
    return "".join(
        f'<option value="{safe(name)}">{safe(name)}{f" ({count:,})" if count is not None else ""}</option>'
        for name, count in sorted(names.items())
    )


def _row(
    row: Sequence[ReplyVerdict], systems: Sequence[str], sounds: Mapping[str, str], pages: Mapping[str, str]
) -> str:
    item, order = row[0].item, list(dict.fromkeys(sounds.values()))
    texts = item.options or ()
    rights = texts if item.answer in texts else LETTERS  # the answer is the text of an option, or else its letter
    options = "".join(
        f"<li{' class=right' if right == item.answer else ''}>{safe(text)}</li>"
        for text, right in zip_longest(texts, rights[: len(texts)])
    )
    plays = "".join(
        f'<button data-sound="s{order.index(sounds[path])}" data-start="{item.start or 0:g}" '
        f'data-end="{"" if item.end is None else f"{item.end:g}"}" aria-label="Play {safe(path)}">▶</button> '
        for path in item.audio
        if path in sounds
    )
    about = " ".join(
        f'<a href="{safe(pages[path])}">{safe(path)}</a>' if path in pages else safe(path) for path in item.audio
    )
    said = "".join(
        f'<td class="{safe(one.verdict.split()[0])}" data-system="{safe(system)}">'
        f'<p class="reply" tabindex="0">{safe(one.reply or "")}</p>'
        f"<p><b>{safe(one.verdict)}</b>{f': read as {safe(one.read)}' if one.read else ''}"
        f"{f' ({safe(one.layer)})' if one.layer not in ('', one.verdict) else ''}</p>"
        f"{f'<p>{safe(one.doubt)}</p>' if one.doubt == DOUBTS[0] else ''}</td>"
        for one, system in zip(row, systems, strict=True)
    )
    return (
        f'<tr data-verdict="{safe("|".join(one.verdict for one in row))}" data-task="{safe(item.task or "")}">'
        f"<th scope=row>{plays}{safe(item.id)}<br><small>{about}</small></th>"
        f"<td><small>{safe(item.task or '')}</small><p>{safe(item.question)}</p><ol type=A>{options}</ol>"
        f"<p>Answer: <b>{safe(item.answer or '')}</b></p></td>{said}</tr>\n"
    )


def _sounds(
    rows: Sequence[Sequence[ReplyVerdict]], source: Source, folder: str
) -> tuple[dict[str, str], int, bool]:  # fmt: skip
    """The address of each recording, how many are not found, and whether some are links."""
    look, room, linked = Lookup(source), MOST_BYTES, False
    sounds, left = dict[str, str](), 0
    for path in dict.fromkeys(path for row in rows for path in row[0].item.audio):
        entry = look.find(path, source.entries[0].name if source.entries else "")
        if entry is None:
            left += 1
        elif entry.size <= room:
            room -= entry.size
            kind = mimetypes.guess_type(path)[0] or "audio/wav"
            sounds[path] = f"data:{kind};base64,{base64.b64encode(entry.read()).decode()}"
        elif (address := _link(entry, folder)) is not None:
            sounds[path], linked = address, True
        else:
            left += 1
    return sounds, left, linked


def _clip_pages(
    rows: Sequence[Sequence[ReplyVerdict]], source: Source, folder: str
) -> Iterator[tuple[str, str]]:  # fmt: skip
    """Recordings with the address of the page that ``seldio view`` has made of them, called like them.

    It lies next to the recording, or next to this list.
    """
    look, name = Lookup(source), source.entries[0].name if source.entries else ""
    for path in dict.fromkeys(path for row in rows for path in row[0].item.audio):
        page = f"{stem_of(path)}.html"
        entry = look.find(page, name) or on_disk(folder, page.rpartition("/")[2])
        address = _link(entry, folder) if entry is not None else None
        if entry is None or address is None:
            continue
        with entry.open() as stream:
            if b'<h1 id="clip">' in stream.read(_HEAD):
                yield path, address


def _link(entry: Entry, folder: str) -> str | None:
    if entry.local is None:
        return None
    path = os.path.relpath(entry.local, folder).replace(os.sep, "/")
    return "./" + quote(os.fsencode(path))
