"""The documentation is in step with the code, and what it shows runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from releases import since

from seldio import vocabularies
from seldio.findings import DOCS
from seldio.formats import FORMATS
from seldio.rules import CATALOGUE
from seldio.schema.events import COLUMNS
from seldio.schemas import SCHEMAS
from seldio.scores.scorers import profile_titles
from seldio.tasks import REFUSED

ROOT = Path(__file__).parent.parent


@since("pydantic", "2.11", "writes the keys of schemas in another order")
@pytest.mark.parametrize("options", [["--quick"], pytest.param([], marks=pytest.mark.slow, id="all")])
def test_generated_pages_and_schemas_are_in_step(options: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs/generate.py", "--check", *options], capture_output=True, text=True, check=False
    )

    assert "all in step\n" == done.stdout, done.stdout + done.stderr


def written() -> list[Path]:
    """The pages that are in the repository; `docs/reference` is made by `make docs`."""
    return [
        path
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if path.relative_to(ROOT / "docs").parts[0] not in ("_build", "reference")
    ]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reference, as `make docs` makes it first; that takes a while, so the tests of it are slow ones."""
    folder = tmp_path_factory.mktemp("docs") / "reference"
    done = subprocess.run(
        [sys.executable, ROOT / "docs/generate.py", "--reference", "--to", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_every_link_between_pages_leads_somewhere(reference: Path) -> None:
    docs = ROOT / "docs"
    made = {docs / "reference" / path.relative_to(reference): path for path in reference.rglob("*.md")}
    pages = {path: path for path in (ROOT / "README.md", *written())} | made
    links = [
        (page, target)
        for page, path in pages.items()
        for target in re.findall(
            r"\]\(([^)#\s]+)[^)]*\)", re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text("utf-8"), flags=re.DOTALL)
        )
        if "://" not in target
    ]
    there = {os.path.normpath(path) for path in made}

    assert len(links) > 1000
    assert [] == [
        (page.name, target)
        for page, target in links
        if (place := os.path.normpath(page.parent / target)) not in there and not Path(place).exists()
    ]


def _entries(page: Path) -> list[str]:
    bodies = re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [entry for body in bodies for entry in body.splitlines() if entry and not entry.startswith(":")]


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = {
        Path(os.path.normpath(path))
        for page in written()
        for entry in _entries(page)
        for path in page.parent.glob(f"{entry.rpartition('<')[2].rstrip('>')}.md")
    }

    assert {ROOT / "docs/index.md", ROOT / "docs/404.md"} == set(written()) - listed


def test_the_sidebar_is_short() -> None:
    """The parts, and the pages of the part that is read: of parts that people have written, all of them."""
    docs = ROOT / "docs"
    of_reference = 10  # commands, datasets, events, formats, profiles, python, results, rules, schemas, tasks
    parts = _entries(docs / "index.md")

    assert "reference/*" in parts
    below = [len(_entries(docs / f"{part}.md")) for part in parts if part != "reference/*"]
    assert len(parts) - 1 + of_reference + max(below) <= 40


@pytest.mark.slow
def test_every_command_is_documented_with_all_its_options(reference: Path) -> None:
    import typer.main

    from seldio.cli import app

    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for name, command in commands.items():
        page = (reference / f"commands/{name}.md").read_text("utf-8")
        options = {option for each in command.params if each.param_type_name == "option" for option in each.opts}
        assert [] == [option for option in sorted(options) if f"`{option}`" not in page]
        assert f"$ seldio {name}" in page or f"seldio {name} " in page.split("## Example")[1]


@pytest.mark.slow
def test_every_rule_has_an_address_that_is_a_page(reference: Path) -> None:
    for code, rule in CATALOGUE.items():
        assert rule.url is not None
        page = reference / rule.url.removeprefix(f"{DOCS}reference/").replace(".html", ".md")
        text = page.read_text("utf-8")
        assert f"# {code}: " in text
        assert rule.summary.replace("``", "`") in text
        assert (reference.parent / "reference/rules.md").read_text("utf-8").count(f"](rules/{code}.md)") == 1


@pytest.mark.slow
def test_rules_show_their_examples_with_the_finding(reference: Path) -> None:
    codes = [folder.name for folder in sorted((ROOT / "tests/cases/rules").iterdir())]

    assert len(codes) > 90
    for code in codes:
        bad, good = (
            (reference / f"rules/{code}.md").read_text("utf-8").split("## Bad example")[1].split("## Good example")
        )
        assert code in bad
        assert f"{code} " not in good.replace(f"--select {code}", "")


@pytest.mark.slow
def test_most_other_rules_show_an_example_that_is_made(reference: Path) -> None:
    pages = {code: (reference / f"rules/{code}.md").read_text("utf-8") for code in CATALOGUE}
    without = {code for code, page in pages.items() if "## Bad example" not in page}
    rest = {
        "DAT204",
        "HUB102",
        "PRD122",
        "SUB113",
        "SUB120",
        "SUB121",
    }  # large, made by an export, with recordings, or with a reference

    assert without <= {code for code in CATALOGUE if code.startswith(("AUD3", "VID"))} | rest


@pytest.mark.slow
def test_every_format_is_documented_with_an_example(reference: Path) -> None:
    for format in FORMATS:
        page = (reference / f"formats/{format.name}.md").read_text("utf-8")
        assert page.count("## A file\n") + page.count("## A record\n") == 1, format.name
        assert "## How it is detected" in page, format.name
        assert "nothing" in page.split("## Conversions")[1]
        assert [] == [name for name in format.carries if f"`{name}`" not in page]


@pytest.mark.slow
def test_every_task_is_documented_with_a_question(reference: Path) -> None:
    from seldio.tasks import TASKS, russian

    index = (reference / "tasks.md").read_text("utf-8")
    for name in (*TASKS, *russian.TASKS):
        place = re.search(rf"\[{re.escape(name)}\]\((.*?)\)", index)
        assert place is not None
        page = (reference / place[1]).read_text("utf-8")
        assert "\n> " in page
        assert "Answer: **" in page
    for name in (*REFUSED, *russian.REFUSED):
        assert f"`{name}`" in index


@pytest.mark.slow
def test_every_profile_is_documented(reference: Path) -> None:
    page = (reference / "profiles.md").read_text("utf-8")

    assert [] == [name for name, _ in profile_titles() if f"### {name}\n" not in page and f"`{name}`" not in page]


@pytest.mark.slow
def test_every_public_name_and_every_result_is_in_the_reference(reference: Path) -> None:
    import seldio

    for name in seldio.__all__:
        assert f"# seldio.{name}\n" in (reference / f"python/{name}.md").read_text("utf-8")
    page = (reference / "results.md").read_text("utf-8")
    for result in ("Conversion", "Description", "Page", "Plotted", "Pulled", "Pushed", "ScoreReport"):
        assert f"## {result}\n" in page


@pytest.mark.slow
def test_columns_vocabularies_and_schemas_are_in_the_reference(reference: Path) -> None:
    events, schemas = ((reference / name).read_text("utf-8") for name in ("events.md", "schemas.md"))

    assert [] == [name for name in COLUMNS if f"| `{name}` |" not in events]
    assert [] == [name for name in vocabularies.names() if f"### {name}\n" not in events]
    for name, make in SCHEMAS.items():
        made = make()
        assert f"## {name}\n" in schemas
        copy = reference / "extra" / str(made["$id"]).removeprefix(DOCS)
        assert made == json.loads(copy.read_text("utf-8"))


@pytest.mark.slow
def test_llms_txt_has_every_page_with_a_sentence(reference: Path) -> None:
    text = (reference / "extra/llms.txt").read_text("utf-8")
    listed = dict(re.findall(rf"^- \[.+\]\({DOCS}(.+?)\.html\): (.+)$", text, re.MULTILINE))
    pages = {path.relative_to(reference.parent).with_suffix("").as_posix() for path in reference.rglob("*.md")}
    pages |= {path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in written()}

    assert pages == set(listed)
    assert text.startswith("# seldio\n\n> ")


def test_tests_that_pages_name_exist() -> None:
    pages = [*written(), ROOT / "CONTRIBUTING.md", ROOT / "README.md"]
    named = {
        (page.name, name) for page in pages for name in re.findall(r"\btests/[\w/]+\.py\b", page.read_text("utf-8"))
    }
    assert len(named) > 1
    assert [] == sorted(one for one in named if not (ROOT / one[1]).exists())
