"""What a report says first: grave notices above the tables, once for one cause; the lead measure in the first table."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import seldio
from seldio.cli import app
from seldio.cli.printing import clip_page
from seldio.reports import Options, render
from seldio.reports.tables import Column, Interval, Notice, ScoreReport, Table


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


@pytest.fixture
def scored(tmp_path: Path) -> tuple[Path, Path]:
    """Three clips with two classes; the predictions of ``c`` are all wrong, one of ``b`` is."""
    sides = tmp_path / "labels of all", tmp_path / "out"
    for folder in sides:
        folder.mkdir()
        for clip in "abc":
            bad = folder.name == "out"
            rows = [(frame, number, 0, 120 if bad and (clip == "c" or (clip == "b" and number)) else 10, 0, 100)
                    for number in (0, 1) for frame in range(20 * number, 20 * number + 20)]  # fmt: skip
            (folder / f"{clip}.csv").write_text("".join(f"{','.join(map(str, row))}\n" for row in rows))
    return sides


def run(*given: object) -> str:
    result = CliRunner().invoke(app, [str(each) for each in given], env={"COLUMNS": "80"})
    assert result.exit_code in (0, 1), result.output  # differences are no failure
    return result.stdout


def test_score_ends_with_the_worst_clips_and_commands_that_show_them(scored: tuple[Path, Path]) -> None:
    labels, out = scored
    shown = run("score", out, "-r", labels, "--average", "micro")
    worst = shown[shown.index("worst clips by SELD") :]
    assert [line.split()[0] for line in worst.splitlines()[3:6]] == ["c", "b", "a"]
    commands = [line[line.index("seldio view") :] for line in worst.splitlines() if "seldio view" in line]
    assert len(commands) == 3
    page = labels.parent / "c.html"
    run(*shlex.split(commands[0])[1:], "-o", page)
    assert page.exists()
    table = seldio.score(out, labels, average="micro").table("worst")
    assert [row[0] for row in table.rows] == ["c", "b", "a"]
    rows = json.loads(run("score", out, "-r", labels, "--json"))["reports"][0]["tables"][-1]["rows"]
    assert rows[0]["command"] == commands[0]


def test_tables_are_sorted_by_a_measure(scored: tuple[Path, Path]) -> None:
    labels, out = scored
    report = seldio.score(out, labels, table="clips", sort="f")
    assert [row[0] for row in report.table("clips").rows] == ["c", "b", "a"]
    table = report.table("classes")
    f, held = (
        next(at for at, column in enumerate(table.columns) if column.name == name) for name in ("F", "references")
    )
    present = [row[f] for row in table if row[held]]
    assert present == sorted(present)
    assert [row[held] for row in table][len(present) :] == [0] * (len(table.rows) - len(present)), "absent classes last"
    assert report.table("worst").title == "worst clips by F"
    with pytest.raises(seldio.UsageError, match='sort="what": choose from ER, F, LE, LR, SELD'):
        seldio.score(out, labels, sort="what")


def test_the_page_of_a_clip_is_of_labels_without_their_split(scored: tuple[Path, Path], tmp_path: Path) -> None:
    labels, out = scored
    page = tmp_path / "scores.html"
    run("score", out, "-r", labels, "--table", "all", "--output", "html", "-o", page, "-f", "starss23")
    shown = page.read_text("utf-8")
    assert "--predictions-format starss23" in shown
    assert (command := clip_page(page, f"{labels}:dev-test", str(out))) is not None
    assert command("a")[0].startswith(f"seldio view '{labels}' --clip a --predictions {out}")
    assert clip_page(page, None, str(out)) is None


def test_no_page_has_a_dead_link_and_worst_classes_come_first(scored: tuple[Path, Path], tmp_path: Path) -> None:
    labels, out = scored
    names = [tmp_path / f"{name}.html" for name in ("scores", "comparison", "versions", "a")]

    def write() -> list[list[str]]:
        run("score", out, "-r", labels, "--table", "all", "--output", "html", "-o", names[0])
        run("compare", out, labels, "-r", labels, "--output", "html", "-o", names[1])
        run("diff", labels, out, "--details", "--output", "html", "-o", names[2])
        run("view", labels, "--clip", "a", "--predictions", out, "-o", names[3])
        pages = [page.read_text("utf-8").partition("<main>") for page in names]
        return [
            [each for each in re.findall(r'(?:href|src)="([^"]+)"', "".join(page)) if ":" not in each] for page in pages
        ]

    assert not any(write()[:1]), "links to pages that nobody has written"
    links = write()
    assert "./a.html" in links[0]
    assert all((tmp_path / link).is_file() for each in links for link in each)
    page = names[0].read_text("utf-8")
    assert len(re.findall("<dd>", page.partition("</header>")[0])) == 5, "five large figures"
    classes = re.findall(r'<th scope="row">[^<]*</th><td class="n">[1-9][\d,]*</td>.*?<td class="n">([\d.]+)</td></tr>',
                         page.partition("<span>by class<")[2].partition("</table>")[0])  # fmt: skip
    assert len(classes) > 1
    assert [*map(float, classes)] == sorted(map(float, classes), reverse=True), "the greatest SELD first"
