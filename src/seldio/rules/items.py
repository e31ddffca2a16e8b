"""QAI and PRD: questions, their options, answers and instructions, and predictions, one file at a time.

What a benchmark has is data, see :mod:`seldio.benchmarks`.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from seldio import formats
from seldio.benchmarks import Benchmark, FieldValues, find
from seldio.files import name_fault
from seldio.files.names import plain_stem
from seldio.findings import Finding
from seldio.formats.about import with_address
from seldio.formats.items import ANSWERS, LETTERS, Answers, ItemFormat, option_letter, option_place
from seldio.rules import ERROR, WARNING
from seldio.rules.collection import MakeFinding
from seldio.rules.item_table import ABSOLUTE, ItemTable, Verdict, rows_where
from seldio.schema.arrays import pc
from seldio.text import clipped, listed, plural, printable

#: The benchmarks whose answers are public.
PUBLIC = ("so-bench", "so-dataset-qa")


def repeated_id(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    rows, first = table.repeated([table.table["id"]], table.known("id"))
    if len(rows):
        again = "the id {} already appears in line {}"
        yield finding(rows, "id", lambda row: again.format(table.cell(row, "id"), table.line(int(first[row]))))


def times_of_item(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    spans = table.column("answer_meta.time_span")
    columns = [*(table.column(name).cast(pa.float64()) for name in ("start", "end"))]
    columns += [pc.list_element(spans, place) for place in (0, 1)]
    start, end, first, last = (np.asarray(times.to_numpy(zero_copy_only=False), np.float64) for times in columns)
    reversed_ = end < start
    late = (last > end - start + 0.05) & ~reversed_  # where it is, the length of the clip is unknown
    for row in rows_where(reversed_ | (last < first) | late):
        if reversed_[row]:
            yield finding(row, "end", f"the end, {end[row]:g} s, is before the start, {start[row]:g} s")
        if last[row] < first[row]:
            yield finding(row, "answer_meta", f"time_span: {last[row]:g} s is before {first[row]:g} s")
        elif late[row]:
            message = f"time_span ends at {last[row]:g} s, but the clip at {end[row] - start[row]:g} s"
            yield finding(row, "answer_meta", message, "times count from the start of the clip")


def unsafe_audio_path(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    faults = [why if table.asks or why != ABSOLUTE else None for why in table.paths.unsafe]
    yield from _mentions(table, faults, "write paths relative to the root of the dataset", finding)


def _mentions(table: ItemTable, faults: Sequence[str | None], hint: str, finding: MakeFinding) -> Iterator[Finding]:
    paths = table.paths
    for mention in rows_where(np.array([fault is not None for fault in faults], bool)[paths.name]):
        name = paths.name[mention]
        message = f"the audio path {clipped(paths.names[name])} {faults[name]}"
        yield finding(int(paths.row[mention]), "audio", message, hint, int(paths.place[mention]))


def awkward_audio_path(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    spellings: dict[str, str] = {}
    faults: list[str | None] = []
    for path, why in zip(table.paths.names, table.paths.unsafe, strict=True):
        fault = None
        if why is None:
            fault = name_fault(path.removeprefix("./")) if "{" not in path else None
            composed = unicodedata.normalize("NFC", path)
            if composed != path:
                fault = "is written with separate accents (NFD)"
            if (other := spellings.setdefault(composed.casefold(), path)) != path:
                fault = f"differs from {printable(other)} only in case or accents"
        faults.append(fault)
    yield from _mentions(table, faults, "rename the recording", finding)


def empty_question(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    for row in rows_where(table.blank("question")):
        yield finding(row, "question", f"question {table.cell(row, 'id')} is empty")


def no_answer(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    if table.home in (*PUBLIC, "jasco"):
        for row in rows_where(table.blank("answer")):
            yield finding(row, "answer", f"question {table.cell(row, 'id')} has no answer")
        return
    missing = rows_where(pc.and_(table.blank("answer"), table.blank("canonical_answer")))
    if missing and 2 * len(missing) < len(table):
        ids = table.column("id").take(pa.array(missing)).to_pylist()
        has = "has" if len(missing) == 1 else "have"
        message = f"{len(missing):,} of {len(table):,} questions {has} no answer, while the others do: "
        message += listed([clipped(id, 40) for id in ids], 3)
        yield finding(missing[0], "answer", message, "write the answer, or leave the question out")


def same_question_twice(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    asked: list[Any] = [table.table[field] for field in ("question", "audio", "start", "end")]
    choices, groups = table.distinct("options")
    numbers: dict[tuple[str, ...], int] = {}
    in_any_order = [numbers.setdefault(tuple(sorted(options or ())), len(numbers)) for (options,) in choices]
    asked.append(np.array(in_any_order, np.int64)[groups.number])
    keys = sorted({key for format in formats.ITEM_FORMATS for key in format.recording})
    asked += [pa.array(map(str, table.further(key)), pa.string()) for key in keys]
    rows, first = table.repeated(asked, np.bincount(table.paths.row, minlength=len(table)) > 0, unless="id")

    def message(row: int) -> str:
        id = clipped(table.value(first[row], "id"), 40)
        return f"same question and recording as {id} in line {table.line(first[row])}"

    if len(rows):
        yield finding(rows, "question", message)


def audio_id_of_another(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    if table.home not in PUBLIC:
        return
    paths, names = table.paths, table.further("audio_id")
    stems = [plain_stem(path) for path in paths.names]
    whole = ~(table.known("start") | table.known("end")) & (np.bincount(paths.row, minlength=len(table)) == 1)
    for row, path in zip(paths.row.tolist(), paths.name.tolist(), strict=True):
        name = names[row]
        if isinstance(name, str) and stems[path] and stems[path] != name and whole[row]:
            message = f"the audio_id is {clipped(name)}, but the recording is {clipped(paths.names[path])}"
            yield finding(row, "audio_id", message)


def repeated_prediction(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    rows, first = table.repeated([table.table["id"], table.table["prompt"]], table.known("id"))
    if len(rows):
        second = "a second prediction for {}; the first is in line {}"
        yield finding(rows, "id", lambda row: second.format(table.cell(row, "id"), table.line(int(first[row]))))


def empty_prediction(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    for row in rows_where(table.blank("prediction")):
        yield finding(row, "prediction", f"no prediction for {table.cell(row, 'id')}")


PATH_RULES = (unsafe_audio_path, awkward_audio_path)
QUESTION_RULES = (
    repeated_id,
    times_of_item,
    empty_question,
    no_answer,
    same_question_twice,
    audio_id_of_another,
)
PREDICTION_RULES = (repeated_prediction, empty_prediction)


# --- options, and right answers in the form of their format -----------------------------------------

#: Letters that look Latin but are not: Cyrillic and Greek capitals.
HOMOGLYPHS = dict(zip("АВЕКМНОРСТХΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEKMHOPCTXABEZHIKMNOPTYX", strict=True))
#: For each letter of another alphabet that looks Latin the Latin one, small letters too.
_LOOKS = str.maketrans(HOMOGLYPHS | dict(zip("аеорсухіјѕԁһԛԝοѵ", "aeopcyxijsdhqwov", strict=True)))


def answer_not_among_options(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    form = _form(table)
    hint = f"the answer must be {ANSWERS[form] if form in ('letter', 'text') else 'the text or letter of an option'}"
    for row, message in _judged(table, _not_among):
        yield finding(row, "answer", message, hint)


def _not_among(answer: str | None, options: list[str]) -> str | None:
    letters = [option_letter(place) for place in range(len(options))]
    if not options or not answer or answer in options or HOMOGLYPHS.get(answer, answer) in letters:
        return None
    return f"the answer {clipped(answer)} is not one of the {len(options)} options"


def answer_in_another_form(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    if _form(table) == "text":
        yield from _misformed(table, finding)


def text_for_a_letter(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    if _form(table) == "letter":
        yield from _misformed(table, finding)


def _misformed(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    form, home = _form(table) or "text", formats.get(table.home, ItemFormat)
    for row, right in misformed(table):
        answer = table.value(row, "answer")
        written = f"the letter {answer}" if form == "text" else f'the text "{clipped(answer)}"'
        shown = f'"{clipped(right[0])}"' if form == "text" else " or ".join(right)
        message = f"the answer is {written}, but {home.name} holds {ANSWERS[form]}"
        hint = f"write {shown}" + f": {home.graded}" * bool(home.graded)
        severity = WARNING if home.letters else ERROR
        yield finding(row, "answer", message, hint, severity=severity, fixable=len(right) == 1)


def misformed(table: ItemTable) -> Iterator[tuple[int, list[str]]]:
    """Return the rows whose answer has another form than that of their format, with what may be meant in its form."""
    form = _form(table)

    def meant(answer: str | None, options: list[str]) -> list[str] | None:
        right = option_place(answer or "", len(options))
        if form == "text" and answer not in options and right is not None:
            return [options[right]]
        if form == "letter" and right is None and answer in options:
            return [option_letter(place) for place, option in enumerate(options) if option == answer]
        return None

    return _judged(table, meant)


def _form(table: ItemTable) -> Answers | None:
    home = formats.named(table.home, ItemFormat)
    return None if home is None else home.answers


def _judged(
    table: ItemTable, judge: Callable[[str | None, list[str]], Verdict | None]
) -> Iterator[tuple[int, Verdict]]:
    """Yield each row with a list of options whose answer and options have a fault, and the fault."""
    if table.column("options").null_count < len(table):
        yield from table.judged(("answer", "options"), lambda *choice: None if choice[1] is None else judge(*choice))


def repeated_option(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    for row, faults in _judged(table, lambda _, options: [*_repeated(options)] or None):
        for place, message, hint in faults:
            yield finding(row, "options", message, hint, number=place)


def _repeated(options: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the place of each option that another one is or looks like, what is wrong, and what to do."""
    first: dict[str, str] = {}
    seen: set[str] = set()
    for place, option in enumerate(options):
        if option in seen:
            yield place, f'option "{clipped(option)}" appears twice', "replace one of them"
        seen.add(option)
        other = first.setdefault(option.translate(_LOOKS), option)
        if option != other:
            message = f'option "{clipped(option)}" looks like option {option_letter(options.index(other))}, but has '
            latin, letter = next(pair for pair in zip(other, option, strict=True) if len({*pair}) > 1)
            yield place, message + f"{_named(letter)} for {_named(latin)}", "type both in one alphabet, or replace one"


def _named(letter: str) -> str:
    return f"a {unicodedata.name(letter, 'letter').title()}"


def homoglyph_letter(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    for row in rows_where(pc.is_in(table.column("answer"), value_set=pa.array(list(HOMOGLYPHS)))):
        answer, options = (table.value(row, field) for field in ("answer", "options"))
        right, place = HOMOGLYPHS[answer], LETTERS.find(HOMOGLYPHS[answer])
        if _form(table) == "text" and 0 <= place < len(options or ()):
            right = f'"{clipped(options[place])}"'
        yield finding(row, "answer", f"the answer {answer} is {_named(answer)}", f"write {right}")

    def labelling(text: str | None) -> str | None:
        letters = re.findall(r"(?m)^\s*(\w)[.)]\s", text or "")
        letters += map("".join, _NAMED.findall(text or "") if table.format == "ruenvaqa" else ())
        return next((letter for letter in letters if letter in HOMOGLYPHS), None)

    for row, letter in table.judged(("instruction",), labelling):
        message = f"the instruction labels an option with {_named(letter)}, but answers are Latin"
        yield finding(row, "instruction", message, f"write the Latin {HOMOGLYPHS[letter]}")


def no_options(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    for row, faults in _judged(table, lambda _, options: [*_lacking(options)] or None):
        for place, message, hint in faults:
            yield finding(row, "options", message, hint, number=place, severity=ERROR if place is None else WARNING)


def _lacking(options: Sequence[str]) -> Iterator[tuple[int | None, str, str]]:
    if not options:
        yield None, "the list of options is empty", "add the options"
    elif len(options) == 1:
        yield None, "there is one option only", "add the other options"
    if empty := [place for place, option in enumerate(options) if not option.strip()]:
        yield empty[0], f"option {empty[0] + 1} is empty", "write it, or leave it out"


OPTION_RULES = (
    answer_not_among_options,
    answer_in_another_form,
    text_for_a_letter,
    repeated_option,
    homoglyph_letter,
    no_options,
)


# --- the instructions of MERA, which programs fill in ----------------------------------------------------

_NAMED = re.compile(r"(?:литер|букв)\w*\W{1,3}([АВСЕ])\b|[(\s]([АВСЕ])(?=,\s*[A-F]\b)")
_OPTION = re.compile(r"option_[a-z]")


def _in_instruction(table: ItemTable, judge: Callable[[str, Any], str | None]) -> Iterator[tuple[int, str]]:
    """Yield each row of MERA's formats whose instruction *judge* finds wrong, and what it says."""
    if table.format == "ruenvaqa":
        fields = ("instruction", "options")
        yield from table.judged(fields, lambda text, options: None if text is None else judge(text, options))


def _fields(instruction: str) -> list[str] | None:
    try:
        return [name for _, name, _, _ in string.Formatter().parse(instruction) if name is not None]
    except ValueError:
        return None


def options_of_instruction(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    for row, message in _in_instruction(table, _of_other_options):
        yield finding(row, "instruction", message)


def _of_other_options(instruction: str, options: Sequence[str] | None) -> str | None:
    fields = _fields(instruction)
    asked = {name for name in fields or () if _OPTION.fullmatch(name)}
    given = {f"option_{letter}" for letter in string.ascii_lowercase[: len(options or ())]}
    if fields is None or asked == given:
        return None
    return f"the instruction is for {plural(len(asked), 'option')}, but the question has {len(given)}"


def instruction_placeholders(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    for number, instruction in _in_instruction(table, lambda text, _: text):
        fields, audio = _fields(instruction), table.value(number, "audio")
        if fields is None or not all(map(str.isidentifier, fields)):
            message = "braces in the instruction that are not a placeholder"
            yield finding(number, "instruction", message, "write {{ and }}")
        further = table.extra(number).get("inputs")
        filled = {"question", *(further if isinstance(further, dict) else ())}
        filled |= {f"audio_{n}" for n in range(1, len(audio) + 1)} if len(audio) > 1 else {"audio"}
        for name in fields or ():
            if name not in filled and not _OPTION.fullmatch(name) and name.isidentifier():
                message = f"no value for the placeholder {clipped(name)}"
                yield finding(number, "instruction", message, "use question, audio and the options")
        lacking = [] if fields is None or "question" in fields else ["{question}"]
        lacking += [] if "<audio" in instruction or "audio" in (fields or ()) else ["<audio>"]
        if lacking:
            message = f"the instruction has no placeholder for {' and '.join(lacking)}"
            yield finding(number, "instruction", message, "add it")


INSTRUCTION_RULES = (options_of_instruction, instruction_placeholders)


# --- questions of a benchmark: how many, of which tasks, with which values and options --------------

#: How far the share of a value may be from that of the benchmark: its counts are not published.
_SHARE = 0.05


def not_the_whole_benchmark(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    if (subset := _subset_of(table)) is None:
        return
    benchmark = subset.benchmark
    if subset.most and subset.cut:
        hint = with_address("the file seems to be cut off: download it again", benchmark.format)
        yield finding(0, "id", subset.message, hint)
    if abs(len(table) - benchmark.sizes[0]) >= benchmark.near:
        return
    again = with_address("download the benchmark again", benchmark.format)
    wrong: list[tuple[str, list[str]]] = []
    weights = {name: task["weight"] for name, task in benchmark.tasks.items() if "weight" in task}
    counts = _counts(table.column("task"))
    if weights and counts != weights:
        other = {name: n for name, n in weights.items() if counts.get(name) != n}
        differences = [f"{name}: {counts.get(name, 0)} instead of {n}" for name, n in other.items()]
        differences += [f"{printable(str(name))} is not one of its tasks" for name in counts if name not in weights]
        wrong.append(("task", differences))
    for field in benchmark.fields:
        counts, differences = _counts(table.field(field)) if field.shares else {}, []
        for name, share in field.shares.items():
            actual = counts.get(name, 0) / len(table)
            if abs(actual - share) > _SHARE:
                differences.append(f"{actual:.0%} are {name} instead of {share:.0%}")
        wrong += [(field.field, differences)] if differences else []
    for name, differences in wrong:
        message = f"the {name} counts are not those of {benchmark.title}: {'; '.join(differences[:4])}"
        yield finding(0, name, message, again)
    if len(table) not in benchmark.sizes and not weights:
        message = f"{len(table):,} questions, but {benchmark.title} has {' or '.join(map(str, benchmark.sizes))}"
        yield finding(0, "id", message, again)


def subset_of_a_benchmark(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    if (subset := _subset_of(table)) is None:
        return
    benchmark = subset.benchmark
    many = subset.most and not benchmark.numbered and len(table) <= benchmark.sizes[0] - benchmark.near
    if (subset.missing and not (subset.most and subset.cut)) or many:
        hint = f"a score of them is not a score of {benchmark.title}"
        yield finding(0, "id", subset.message, hint)


class _Subset(NamedTuple):
    """The questions of a file as a part of those of its benchmark."""

    benchmark: Benchmark
    message: str  # how many they are, and which are missing
    missing: list[int]  # the numbers of the missing ones, where questions are numbered
    most: bool  # whether it has more than half of them
    cut: bool  # whether just the last ones are missing


def _subset_of(table: ItemTable) -> _Subset | None:
    benchmark = find(table.format)
    if benchmark is None or not benchmark.sizes:
        return None
    if any(table.field(field).null_count == len(table) for field in benchmark.fields if field.unless):
        return None  # all are other questions than those of the benchmark, such as questions made of labels
    size, ids = benchmark.sizes[0], table.values("id") if benchmark.numbered else []
    numbers = {int(id) if id is not None and re.fullmatch("[1-9][0-9]{0,9}", id) else 0 for id in ids}
    whole = range(1, size + 1) if numbers and numbers <= {*range(1, size + 1)} else ()
    missing = [number for number in whole if number not in numbers]
    runs = [run.tolist() for run in np.split(missing, np.flatnonzero(np.diff(missing) > 1) + 1) if len(run)]
    names = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    which = f": {listed(names, 4)} missing" if names else ""
    message = f"{len(table):,} of the {size:,} questions of {benchmark.title}{which}"
    cut = len(runs) == 1 and missing[-1] == size
    return _Subset(benchmark, message, missing, 2 * len(table) > size, cut)


def _counts(column: pa.Array) -> dict[str, int]:
    return {each["values"].as_py(): each["counts"].as_py() for each in pc.value_counts(column)}


def _plain(text: str) -> str:
    return re.sub(r"[\W_]", "", text.lower())


def value_of_another_benchmark(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    if (benchmark := find(table.home)) is None:
        return
    tasks = FieldValues(name="task", values=(*benchmark.tasks,), column="task", needed=True)
    for field in (*([tasks] if benchmark.tasks else []), *benchmark.fields):
        yield from _strange(benchmark, field, table, finding)


def _strange(benchmark: Benchmark, field: FieldValues, table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    """Yield a finding for each value that a field of a benchmark does not allow, once for the file."""
    column = table.field(field)
    has = field.has or listed([*field.values], 6) or "one for each question"
    if field.needed and (field.values or field.wrong):  # else an empty one is told of elsewhere
        column = pc.if_else(pc.equal(pc.utf8_trim_whitespace(column), ""), None, column)
    if field.needed and (missing := rows_where(column.is_null())):
        message = f"the question has no {field.name}{_in(len(missing))}"
        yield finding(missing[0], field.field, message, f"write it: {benchmark.title} has {has}")
    if not field.values and not field.wrong:
        return
    values = column.drop_null()
    allowed = pc.is_in(values, value_set=pa.array(field.values, pa.string()))
    strange = pc.invert(allowed) if field.values else pc.match_substring_regex(values, field.wrong)
    plain = {_plain(value): value for value in field.values}  # the same but for case and signs
    for value, count in _counts(values.filter(strange)).items():
        meant = plain.get(_plain(value))
        message = f"{field.name} is {clipped(value) or 'empty'}{_in(count)}, but {benchmark.title} has {has}"
        hint = f"choose from {', '.join(field.values)}" if field.values else "correct it"
        hint = f"write {meant}" if meant else hint
        yield finding(pc.index(column, value).as_py(), field.field, message, hint)


def _in(count: int) -> str:
    return f", in {count:,} questions" if count > 1 else ""


def field_of_another_task(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    benchmark = find(table.home)
    if benchmark is None or not benchmark.tasks:
        return
    for field in benchmark.fields:
        right = benchmark.of_tasks[field.name]

        def other(task: str, value: str, field: FieldValues = field, right: Mapping[str, str] = right) -> str | None:
            wrong = value in field.values and value != right.get(task, value)
            return f"{field.name} is {value}, but that of {task} is {right[task]}" if wrong else None

        for row, message in table.judged(("task", field), other) if right else ():
            yield finding(row, field.field, message, f"correct the task, or write {right[table.value(row, 'task')]}")
    tasks = benchmark.tasks
    for row, wrong in table.judged(("task", "options"), lambda task, given: _options(tasks.get(task, {}), given or ())):
        where = "options" if table.value(row, "options") else "question"
        yield finding(row, where, f"{table.value(row, 'task')} has {wrong}", "correct the task or the options")


def _options(task: Mapping[str, Any], options: Sequence[str]) -> str | None:
    """Return the options of a task that a question lacks; None where both agree."""
    wanted, count = task.get("options"), task.get("count")
    if wanted is not None and sorted(option.lower() for option in options) != sorted(wanted):
        shown = listed([clipped(option, 20) for option in options], 4) if options else "none"
        return f"the options {' and '.join(wanted)}, but this question has {shown}"
    if count is not None and len(options) != count:
        return f"{count} options, but this question has {plural(len(options), 'option')}"
    return None


BENCHMARK_RULES = (
    not_the_whole_benchmark,
    subset_of_a_benchmark,
    value_of_another_benchmark,
    field_of_another_task,
)
