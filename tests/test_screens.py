"""What a report says first: grave notices above the tables, once for one cause; the lead measure in the first table."""

from __future__ import annotations

import dataclasses
import json

from seldio.reports import Options, render
from seldio.reports.json_report import reports
from seldio.reports.tables import Column, Interval, Notice, ScoreReport, Table, UnreliableInterval


def report(system: str, *notices: Notice) -> ScoreReport:
    columns = (Column("system", "system"), Column("F", "F", "%", 1, "higher"))
    return ScoreReport(
        system, "plain", "a profile", "3 clips", (Table("overall", "overall", columns, ((system, 0.5),)),), notices
    )


def text(*reports: ScoreReport, width: int = 80, details: bool = False) -> str:
    return "".join(render(reports, "text", Options(width=width, details=details)))


def test_grave_notices_are_above_the_tables_and_others_below() -> None:
    shown = text(report("a", Notice("note", "harmless"), Notice("bad", "the numbers mislead", True)), details=True)
    assert shown.index("mislead") < shown.index("overall") < shown.index("harmless")
    assert "harmless" not in text(report("a", Notice("note", "harmless")))
    page = "".join(render([report("a", Notice("bad", "the numbers mislead", True))], "markdown"))
    assert page.index("mislead") < page.index("overall")


def test_one_notice_for_one_cause_names_the_systems() -> None:
    same = [report(name, Notice("misread", "no row is read", True)) for name in "abc"]
    assert text(*same).count("misread") == 1
    assert "misread: no row is read" in text(*same)
    two = [*same[:2], report("c")]
    assert "misread: a, b: no row is read" in text(*two)


def test_numbers_of_one_cause_become_a_range() -> None:
    counts = (1_300, 900, 2_000)
    rows = [report(f"s{count}", Notice("rows", f"{count:,} of 4,000 rows of mix001 lost (s. 2-b)", True))
            for count in counts]  # fmt: skip
    assert "rows: 900 to 2,000 of 4,000 rows of mix001 lost (s. 2-b)" in text(*rows)
    other = report("x", Notice("rows", "nothing of this is read", True))
    assert text(*rows, other).count("rows: ") == 2


def test_two_notices_of_one_system_stay_two() -> None:
    shown = text(report("a", *(Notice("forced", f"line {n} is wrong", True) for n in (3, 7))), report("b"))
    assert "a: line 3 is wrong" in shown
    assert "a: line 7 is wrong" in shown


NARROW = ("ER", "F", "LE", "LR", "SELD")


def wide(lead: str = "SELD", digits: int = 3) -> ScoreReport:
    columns = (Column("system", "system"), *(Column(name, name, "", digits, "lower") for name in NARROW))
    row = ("output", *(Interval(0.3, 0.2, 0.4) for _ in NARROW))
    return ScoreReport("output", "plain", "a profile", "3 clips", (Table("overall", "overall", columns, (row,)),),
                       lead=lead)  # fmt: skip


def heads(shown: str) -> list[list[str]]:
    return [line.replace("↓", "").split() for line in shown.splitlines() if line.startswith("system ")]


def test_the_lead_measure_is_in_the_first_part_of_a_table() -> None:
    assert heads(text(wide())) == [["system", "ER", "F", "SELD"], ["system", "LE", "LR"]]
    assert heads(text(wide(lead=""))) == [["system", "ER", "F", "LE"], ["system", "LR", "SELD"]]
    assert heads(text(wide(), width=120)) == [["system", *NARROW]]  # in the usual order, as all of them fit


def test_columns_have_no_room_for_intervals_that_are_not_shown() -> None:
    one = wide()
    row = ("output", *(UnreliableInterval(0.3, 0.2, 0.4) for _ in NARROW))
    table = dataclasses.replace(one.tables[0], rows=(row,))
    shown = text(dataclasses.replace(one, tables=(table,)), width=50)
    assert heads(shown) == [["system", *NARROW]]


def test_the_lead_measure_is_in_json_and_read_back() -> None:
    (again,) = reports(json.loads(wide().to_json()))
    assert again.lead == "SELD"
