"""A page for each format of labels, questions and predictions, and their index."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pyarrow as pa

import seldio
from seldio.check.description import describe, format_record
from seldio.conversion.losses import carry_out
from seldio.errors import SeldioError
from seldio.formats import HOMES, ITEM_FORMATS, LABEL_FORMATS, Format, ItemFormat, LabelFormat, ListedFormat
from seldio.formats.base import UNITS
from seldio.formats.cells import KINDS
from seldio.formats.label_csv import Dialect
from seldio.schema.event_rows import Event
from seldio.schema.events import COLUMNS
from seldio.schema.qa import Item, Prediction
from seldio.synth.tree import write_tree
from seldio.vocabularies import vocabulary

from . import ROOT, cell, code, empty_folder, excerpt, facts, page, sentence, table

CASES = ROOT / "tests/cases"
#: What the files of a role hold.
ROLES = {"label": "labels", "output": "outputs of a system", "submission": "submissions", "table": "a table of events"}
_ASKED = "Based on both the audio sound and the spoken text, infer what the speakers are doing specifically?"
#: Examples of formats that no other can be converted to.
MADE_UP = {
    "jasco": "audio_id,Audio,Speech,Audio-Only Answer,Speech-Only Answer,Correct Answer,Correct Answer Keyword\n"
    '1,keys jingling,I hope nobody is home yet.,unlocking a door,visiting somebody,entering a house,"unlock, enter"\n',
    "jasco-predictions": "id,audio,n_frames,audio_sound,spoken_text,prompt,with_speech,audio_only_target,"
    "speech_only_target,target_keywords,tgt_text,allm_output\n"
    f'1,dataset/v0/1.wav,80000,keys jingling,I hope nobody is home yet.,"{_ASKED}",True,unlocking a door,'
    'visiting somebody,"unlock, enter",entering a house,They are unlocking the door of a house.\n',
    "ruenvaqa-submission": '{"data": {"test": [{"outputs": "B", "meta": {"id": 1}}]}}\n',
}
#: What the numbers of a column count.
UNITS_OF = {
    "frame": "label frames, from 0", "onset": "seconds", "offset": "seconds", "azimuth": "degrees, +90 is left",
    "elevation": "degrees, +90 is up", "x": "front", "y": "left", "z": "up", "class_id": "number of the class",
    "class_name": "name of the class", "source": "number of the source", "onscreen": "1: visible",
}  # fmt: skip


def index_file() -> dict[str, str]:
    """List the formats for those who do not load them, by file name, in the order of ``seldio formats``."""
    own = (ListedFormat.of(format, home.module) for home in HOMES for format in home.formats())
    rows = (json.dumps(one[: 6 if not any(one[6:]) else len(one)], ensure_ascii=False) for one in own)
    return {"src/seldio/formats/index.json": "[\n" + ",\n".join(rows) + "\n]\n"}


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of each page."""
    yield "formats.md", _index()
    with empty_folder() as folder:
        examples = {format.name: _example(format, folder) for format in (*LABEL_FORMATS, *ITEM_FORMATS)}
        tables = {
            format.name: seldio.read(path, format=format.name, force=True)
            for format in LABEL_FORMATS if (path := examples[format.name]) is not None
        }  # fmt: skip
        for label in LABEL_FORMATS:
            yield f"formats/{label.name}.md", _label_page(label, examples[label.name], tables)
        for item in ITEM_FORMATS:
            yield f"formats/{item.name}.md", _item_page(item, examples)


def _index() -> str:
    lines = [
        (
            f"The {len(LABEL_FORMATS)} formats of labels and the {len(ITEM_FORMATS)} formats of questions and "
            "predictions that seldio reads and writes. The format of a file is detected from its content; "
            "`--format NAME` names it where the content could be several. `seldio formats NAME` prints the page of one."
        ),
        "",
        "## Labels",
        "",
    ]
    with empty_folder() as folder:
        rows = [_label_row(format, folder) for format in LABEL_FORMATS]
    rows.sort(key=lambda row: (row[3] == "", row[3]))
    lines += table(("name", "also called", "years", "columns", "what they hold", "suffix", "first line"), rows)
    for holds, title in (("items", "Questions"), ("predictions", "Predictions")):
        chosen = [format for format in ITEM_FORMATS if format.holds == holds]
        lines += [f"## {title}", ""]
        lines += table(
            ("name", "what", "suffix"),
            [(f"[{each.name}](formats/{each.name}.md)", each.title, f"`{each.suffix}`") for each in chosen],
        )
    lines += ["```{toctree}", ":hidden:", ":glob:", "", "formats/*", "```"]
    return page("Formats", *lines)


def _label_row(format: LabelFormat, folder: Path) -> tuple[str, ...]:
    """Return the row of a format of labels, with the first line of an example if it is CSV."""
    count, columns, first = "", format.title, ""
    if isinstance(format, Dialect):
        count, columns = str(len(format.columns)), ", ".join(part.field for part in format.columns)
        example = _example(format, folder)
        first = f"`{example.read_text('utf-8').splitlines()[0]}`" if example else ""
    link, also = f"[{format.name}](formats/{format.name}.md)", ", ".join(format.aliases)
    return link, also, format.years, count, columns, f"`{format.suffix}`", first


# --- examples ---------------------------------------------------------------------------------------------------


def _example(format: Format, folder: Path) -> Path | None:
    """A small file of the format: an example of the tests, else one that the format writes."""
    kind = "formats" if isinstance(format, LabelFormat) else "formats-items"
    stored = CASES / kind / format.name
    found = [path for path in sorted(stored.glob("*")) if path.name != "rows.jsonl"] if stored.is_dir() else []
    if found:
        return max(found, key=lambda path: path.stat().st_size)
    path = folder / f"example-{format.name}{format.suffix}"
    if format.name in MADE_UP:
        path.write_text(MADE_UP[format.name], "utf-8")
        return path
    if isinstance(format, LabelFormat):
        given = max((CASES / "formats/starss23").glob("fold*.csv"), key=lambda path: path.stat().st_size)
    elif format.name == "ruenvaqa":
        given = folder / "labels"
        write_tree(given, 7, media=())
    else:
        holds = cast(ItemFormat, format).holds
        given = CASES / "formats-items" / ("so-bench" if holds == "items" else "predictions")
        given = next(path for path in given.iterdir() if path.name != "rows.jsonl")
    seldio.convert(given, path, format.name, allow_loss="all", force=True)
    return path


def _shown(path: Path) -> list[str]:
    """The first lines of a file, JSON one key a line."""
    if path.suffix == ".parquet":
        rows = seldio.read(path, force=True).slice(0, 2).to_pylist()
        return code(json.dumps(rows, indent=1, ensure_ascii=False, default=str), "json")
    text = path.read_text("utf-8-sig")
    if path.suffix not in (".json", ".jsonl"):
        return code(excerpt(text, most=6))
    record = json.loads(text.split("\n")[0] if path.suffix == ".jsonl" else text)
    if isinstance(record, list):
        record = record[:1]
    shown = json.dumps(record, indent=2, ensure_ascii=False)
    return code(excerpt(shown, most=40, width=160), "json" if len(shown.split("\n")) <= 40 else "text")


def _detected(path: Path) -> list[str]:
    """Return the evidence for the format of an example."""
    try:
        described = describe(path)
    except SeldioError:
        described = {"groups": [], "doubts": []}
    groups = [*described["groups"], *described.get("items", ())]
    lines = [f"`seldio info` says of this file: **{each['format']}**, because {each['evidence']}." for each in groups]
    lines += [sentence(each) for each in described.get("doubts", ())]
    if path.suffix == ".parquet":
        lines.append("A Parquet file is recognised by the names and types of its columns.")
    return [*lines, ""] if lines else []


# --- labels -----------------------------------------------------------------------------------------------------


def _label_page(format: LabelFormat, path: Path | None, tables: dict[str, pa.Table]) -> str:
    record = format_record(format)
    lines = [sentence(format.title), "", cell(format.note), ""]
    names = vocabulary(format.vocabulary)
    lines += facts(
        ("Name", f"`--format {format.name}`"),
        ("Also called", _names(format.aliases)),
        ("Years", format.years),
        ("Files", f"`{format.suffix}`"),
        ("Holds", ROLES[format.role]),
        ("Label frames", f"{record['hop_seconds'] * 1000:g} ms"),
        ("Classes", f"{len(names)} of `{format.vocabulary}` ({names.title}), see [vocabularies](../events.md)"),
        ("Source", f"<{format.source}>" if format.source else ""),
    )
    if isinstance(format, Dialect):
        lines += ["## Columns", ""]
        header = f"The first line is `{format.header}`." if format.header else "There is no header line."
        lines += [header, ""]
        rows = [
            (n, part.field, KINDS[part.kind].says, _unit(format, part.field))
            for n, part in enumerate(format.columns, 1)
        ]
        lines += table(("column", "field", "written as", "unit"), rows)
    if path is not None:
        lines += ["## A file", "", f"`{path.name}`:" if not path.name.startswith("example-") else "For example:", ""]
        lines += _shown(path)
    lines += ["## What it carries", "", f"Carries {_names(format.carries)}.", ""]
    lacks = [name for name in COLUMNS if name not in format.carries]
    lines += [f"Cannot carry {_names(lacks)}." if lacks else "It carries every column there is.", ""]
    if format.needs:
        lines += [f"To be written it needs {_names(format.needs)}; `--fill FIELD=VALUE` fills in what is missing.", ""]
    if path is not None:
        lines += ["## How it is detected", "", *_detected(path)]
        lines += _conversions(format, tables)
    return page(format.name, *lines)


def _unit(format: Dialect, field: str) -> str:
    if field == "distance" and format.metre:
        return UNITS[format.metre][1]
    if field == "frame":
        return f"label frames of {float(format.hop) * 1000:g} ms, from 0"
    if field in UNITS_OF:
        return UNITS_OF[field]
    known = Event.model_fields.get(field)
    return (known.description or "") if known else ""


def _names(fields: object) -> str:
    return ", ".join(f"`{field}`" for field in fields)  # type: ignore[attr-defined]


def _conversions(format: LabelFormat, tables: dict[str, pa.Table]) -> Iterator[str]:
    """Say what is lost in converting the example, and what the target needs in addition."""
    lost: dict[str, list[str]] = {}
    needs: list[str] = []
    for target in LABEL_FORMATS:
        if target is format:
            continue
        try:
            found = carry_out(tables[format.name], format, target)
        except SeldioError as error:
            lost.setdefault(f"not possible: {error}", []).append(target.name)
            continue
        for loss in [f"`{name}`: {what}" for name, what in found.losses.items()] or [""]:
            lost.setdefault(loss, []).append(target.name)
        if found.missing:
            needs.append(f"{_link(target.name)} needs {_names(found.missing)}")
    yield from ("## Conversions", "")
    yield from ("What `seldio convert --to` loses of the file above. A loss has to be allowed with `--allow-loss`.", "")
    yield from _losses(lost)
    if needs:
        yield from (f"Fields that this file lacks are filled in with `--fill`: {'; '.join(needs)}.", "")


def _losses(lost: dict[str, list[str]]) -> Iterator[str]:
    """A row for each loss, with the formats that have it in common; those without any first."""
    if clean := lost.pop("", []):
        yield from (f"Converting to {', '.join(map(_link, clean))} loses nothing.", "")
    yield from table(("lost", "when converting to"), [(loss, ", ".join(map(_link, to))) for loss, to in lost.items()])


def _link(name: str) -> str:
    return f"[{name}]({name}.md)"


# --- questions and predictions ----------------------------------------------------------------------------------


def _item_page(format: ItemFormat, examples: dict[str, Path | None]) -> str:
    path = examples[format.name]
    lines = [sentence(format.title), "", cell(format.note), ""]
    source = f"<{format.source}>" if format.source.startswith("http") else format.source
    lines += facts(
        ("Name", f"`--format {format.name}`"),
        ("Also called", _names(format.aliases)),
        ("Holds", "questions" if format.holds == "items" else "predictions"),
        ("Files", f"`{format.suffix}`"),
        ("Source", source),
    )
    if path is not None:
        lines += ["## A record", "", *_shown(path)]
    model = Item if format.holds == "items" else Prediction
    fields = [
        (f"`{name}`", model.model_fields[name].description or "")
        for name in model.model_fields
        if name in format.carries
    ]
    lines += ["## What it carries", "", *table(("field", "what"), fields)]
    lacks = [name for name in model.model_fields if name not in format.carries]
    lines += [f"Cannot carry {_names(lacks)}." if lacks else "It carries every field there is.", ""]
    if path is not None:
        detected = _detected(path)
        lines += ["## How it is detected", "", *detected] if detected else []
        lines += _item_conversions(format, path)
    return page(format.name, *lines)


def _item_conversions(format: ItemFormat, path: Path) -> Iterator[str]:
    lost: dict[str, list[str]] = {}
    for target in ITEM_FORMATS:
        if target is format or target.holds != format.holds:
            continue
        try:
            done = seldio.convert(path, io.BytesIO(), target.name, format=format.name, allow_loss="all", force=True)
            losses = [f"`{name}`: {what}" for name, what in done.losses.items()] or [""]
        except SeldioError as error:
            losses = [f"not possible: {error}"]
        for loss in losses:
            lost.setdefault(loss, []).append(target.name)
    if lost:
        yield from ("## Conversions", "", "What `seldio convert --to` loses of the record above.", "")
        yield from _losses(lost)
