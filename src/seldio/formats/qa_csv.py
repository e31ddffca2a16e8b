"""The csv files of JASCO, questions (``v0.csv``) and a model's outputs (``evaluation/example.csv``), and of ADQA.

JASCO's file of questions has no question in it: each recording is asked the same eight instructions. An item
read from it has the first of them, the plain joint question, as its ``question``, and no
``instruction``. Its recording is implied by its id (``dataset/v0/{audio_id}.wav``). Neither is written.

All cells are texts: NA, None and 007 stay what they are. An empty cell is an absent answer or output
(None), two quotes are an empty one.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from seldio.benchmarks import benchmark
from seldio.errors import UsageError
from seldio.findings import Sink
from seldio.formats.base import Place
from seldio.formats.csv_text import BOM, CsvLayout, read_table, row_at, written
from seldio.formats.items import ItemFormat, ItemReading, Row
from seldio.reader_rules import READER_RULES
from seldio.schema.qa import Extra, Item, Prediction
from seldio.text import clipped, listed

#: What JASCO asks about every recording, in its order.
INSTRUCTIONS = benchmark("jasco").instructions
QUESTION = INSTRUCTIONS[0]
KEYWORDS = "Correct Answer Keyword"
#: Columns of the prediction file, and those of the question file that they repeat.
_COPIED = {
    "audio_sound": "Audio", "spoken_text": "Speech", "audio_only_target": "Audio-Only Answer",
    "speech_only_target": "Speech-Only Answer",
}  # fmt: skip
_KEYWORD = re.compile(r"\s*([^,]*?)\s*(?:,|\Z)")
_LOOK = 8192  # bytes of a file that a guess at its format looks at


@dataclasses.dataclass(frozen=True, kw_only=True)
class CsvItems(ItemFormat):
    """A table whose cells are texts."""

    suffix: str = ".csv"
    columns: tuple[str, ...]  # in the published order
    fields: Mapping[str, str]  # of which they are the text
    nullable: str  # the column that is None where it is empty without quotes

    def values(self, cells: Mapping[str, str | None]) -> dict[str, Any]:
        """Return the fields of the row that *cells*, by column, make; further columns are in ``extra``."""
        values: dict[str, Any] = {field: cells[column] or "" for field, column in self.fields.items()}
        values |= {field: cells[column] for field, column in self.fields.items() if column == self.nullable}
        if "audio" in values:
            values["audio"] = [values["audio"]] if values["audio"] else []
        if "extra" in self.carries:
            taken = self.fields.values()
            values["extra"] = {name: cell or "" for name, cell in cells.items() if name not in taken}
        return values

    def cells(self, row: Row) -> dict[str, str | None]:
        """Return the cells of *row*, by column; further columns behind the format's own."""
        extra = (row.extra or {}) if "extra" in self.carries else {}
        texts = {column: getattr(row, field) for field, column in self.fields.items() if field != "audio"}
        texts |= {self.fields["audio"]: "".join(row.audio[:1])} if "audio" in self.fields else {}
        return {**_texts(extra, dict.fromkeys((*self.columns, *extra))), **texts}

    def likes(self, data: bytes, name: str) -> float:  # noqa: ARG002 - the name says nothing
        """See :meth:`Format.likes`."""
        if data[:1] in (b"{", b"["):  # JSON, whose first line can be the whole file
            return 0.0
        text = data[:_LOOK].decode(errors="replace").removeprefix(BOM)
        names = tuple(row_at(text, 0).values)
        if "extra" not in self.carries and names != self.columns:  # nothing but the names of columns that are common
            return 0.0
        return sum(column in names for column in self.columns) / len(self.columns)

    def read(self, data: bytes, path: str, sink: Sink) -> ItemReading | None:
        """See :meth:`ItemFormat.read`; further columns that the format has no place for are named as lost."""
        table = read_table(data, path, sink, self.columns)
        if table is None:
            return None
        rows: list[Row] = []
        numbers: list[int] = []  # of the rows, in the table
        id_column = table.header.index(self.columns[0])
        for number, values in enumerate(table.cells):
            if values[id_column]:
                rows.append(self.model.model_validate(self.values(dict(zip(table.header, values, strict=True)))))
                numbers.append(number)
            else:
                rule, hint = READER_RULES["SYN135"], "every row has an id: rows are joined by it"
                sink(table.place(number, id_column).finding(rule, path, f"{self.columns[0]} is empty", hint))

        def locate(row: int, field: str | None, number: int | None) -> Place:
            name = self.fields.get(field or "", field)
            column = table.header.index(name) if name in table.header else None
            if column is not None and name == KEYWORDS and number is not None:
                cell = table.cell(numbers[row], column)
                words = [match for match in _KEYWORD.finditer(table.source.text, cell.start, cell.end) if match[1]]
                if number < len(words):
                    return table.source.place(*words[number].span(1))
            return table.place(numbers[row], column)

        more = [] if "extra" in self.carries else [name for name in table.header if name not in self.columns]
        header = [name for name in table.header if name not in more]
        lost = {"extra": f"the columns {listed(more)}, which no submission has"} if more else {}
        origin: dict[str, object] = {"header": header, "layout": dataclasses.asdict(table.layout)}
        return ItemReading(self, path, rows, locate, origin, lost)

    def write(self, rows: Sequence[Row], origin: dict[str, object] | None = None) -> bytes:
        """See :meth:`ItemFormat.write`; with an origin, columns, quotes and line ends are those of the origin."""
        stored: Mapping[str, Any] = origin or {}
        table = [self.cells(row) for row in rows]
        header, layout = stored.get("header"), CsvLayout(**stored.get("layout", {}))
        names = dict.fromkeys(header if isinstance(header, list) else self.columns)
        for cells in table:
            names.update(dict.fromkeys(cells))
        explicit = {list(names).index(self.nullable)}
        lines = [list(names), *([cells.get(name, "") for name in names] for cells in table)]
        return written(lines, layout, explicit).encode()


def _texts(extra: Mapping[str, object] | None, names: Iterable[str]) -> dict[str, str | None]:
    values = extra or {}
    return {name: value if isinstance(value := values.get(name), str) else "" for name in names}


def keywords_of(cell: str) -> list[str]:
    """Return the keywords that are joined by commas in *cell*."""
    return [word.strip() for word in cell.split(",") if word.strip()]


def keyword_cell(item: Item) -> str:
    """Return the cell with the keywords of *item*, as its file has it if the keywords are the same."""
    words = (item.answer_meta.keywords if item.answer_meta else None) or []
    cell = (item.extra or {}).get(KEYWORDS)
    return cell if isinstance(cell, str) and keywords_of(cell) == words else ",".join(words)


#: The answers of somebody who heard the sound alone, or the speech alone.
_ONE_SIDED = ("Audio-Only Answer", "Speech-Only Answer")


def _choices(row: Item) -> list[str] | None:
    """Return the right answer and the two of somebody who heard sound alone or speech alone, shuffled by the id."""
    answers = {str(text) for text in map((row.extra or {}).get, _ONE_SIDED) if text}
    if row.answer is None or len(answers - {row.answer}) != len(_ONE_SIDED):
        return None
    return sorted({row.answer, *answers}, key=lambda text: sha256(f"{row.id} {text}".encode()).digest())


class Jasco(CsvItems):
    """JASCO's questions; the descriptions of sound and speech and the single-modality answers are in ``extra``."""

    def values(self, cells: Mapping[str, str | None]) -> dict[str, Any]:
        """Return the fields of an item with the plain joint question."""
        id, answer, words = cells["audio_id"], cells["Correct Answer"], keywords_of(cells[KEYWORDS] or "")
        extra = {name: cell or "" for name, cell in cells.items() if name not in ("audio_id", "Correct Answer")}
        meta = {"keywords": words} if words else None
        fields = {"id": id, "audio": [implied_path(str(id))], "question": QUESTION, "answer": answer}
        return {**fields, "answer_meta": meta, "extra": extra}

    def cells(self, row: Row) -> dict[str, str | None]:
        """See :meth:`CsvItems.cells`."""
        assert isinstance(row, Item)
        cells = _texts(row.extra, dict.fromkeys((*self.columns, *(row.extra or {}))))
        return {**cells, "audio_id": row.id, "Correct Answer": row.answer, KEYWORDS: keyword_cell(row)}


class JascoPredictions(CsvItems):
    """A model's outputs for JASCO, eight rows per item; the columns between are in ``extra``."""

    def template(self, items: Sequence[Item]) -> list[Prediction]:
        """See :meth:`ItemFormat.template`: each of JASCO's items with each of the eight instructions."""
        rows = []
        for item in items:
            if lacking := [name for name in _COPIED.values() if name not in (item.extra or {})]:
                what = f"question {clipped(item.id, 30)} has no {' and no '.join(lacking)}"
                raise UsageError(f"only JASCO's questions can be answered in {self.name}: {what}")
            cells = {new: _texts(item.extra, (name,))[name] for new, name in _COPIED.items()}
            cells |= {"with_speech": "True", "target_keywords": keyword_cell(item), "tgt_text": item.answer or ""}
            extra: Extra = {name: cells.get(name, "") for name in self.columns if name in cells or name == "n_frames"}
            path = "{data_folder}/" + (item.audio[0] if item.audio else implied_path(item.id))
            asked = {"id": item.id, "audio": [path], "extra": extra}
            rows += [Prediction.model_validate({**asked, "prompt": instruction}) for instruction in INSTRUCTIONS]
        return rows


def implied_path(id: str) -> str:
    """Return the path of a JASCO item's recording, below the folder of the dataset."""
    return f"dataset/v0/{id}.wav"


_SOURCE = "https://github.com/BenoitWang/What_Are_They_Doing"
JASCO = Jasco(
    name="jasco",
    title="JASCO questions (v0.csv)",
    holds="items",
    carries=("id", "audio", "question", "answer", "answer_meta", "extra"),
    needs=("id", "answer"),
    answers="free",
    columns=("audio_id", "Audio", "Speech", "Audio-Only Answer", "Speech-Only Answer", "Correct Answer", KEYWORDS),
    fields={"id": "audio_id", "audio": "audio_id", "answer": "Correct Answer", "answer_meta": KEYWORDS},
    nullable="Correct Answer",
    choices=_choices,
    source=_SOURCE,
    note="The question and the path of the recording are implied; every item is asked with all eight instructions.",
)
JASCO_PREDICTIONS = JascoPredictions(
    name="jasco-predictions",
    title="JASCO model outputs, eight rows per item (example.csv)",
    holds="predictions",
    carries=("id", "audio", "prompt", "prediction", "extra"),
    needs=("id", "prompt"),
    columns=(
        "id",
        "audio",
        "n_frames",
        "audio_sound",
        "spoken_text",
        "prompt",
        "with_speech",
        "audio_only_target",
        "speech_only_target",
        "target_keywords",
        "tgt_text",
        "allm_output",
    ),
    fields={"id": "id", "audio": "audio", "prompt": "prompt", "prediction": "allm_output"},
    nullable="allm_output",
    source=_SOURCE,
    note="The judge's answers go in a further column, llama3_extract, whichever model judges.",
)
ADQA_SUBMISSION = CsvItems(
    name="adqa-submission",
    title="DCASE 2026 Task 5 (ADQA) output: question, answer",
    holds="predictions",
    carries=("id", "prediction"),
    needs=("id", "prediction"),
    columns=("question", "answer"),
    fields={"id": "question", "prediction": "answer"},
    nullable="answer",
    source="https://dcase.community/challenge2026/task-audio-dependent-question-answering",
    note="The column question holds the id of the question, and answer the text of the chosen option.",
)
FORMATS: tuple[ItemFormat, ...] = (JASCO, JASCO_PREDICTIONS, ADQA_SUBMISSION)
