"""Submission packages: a clean one stays clean, and each fault gives its own rule, in its place, and no other."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from commands import laid
from effort import examples
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import seldio
from seldio.errors import InvalidData
from seldio.files import open_source
from seldio.findings import Finding, Severity
from seldio.formats.yaml_text import MAX_BYTES, parse
from seldio.rules.collection import Collection, Reference
from seldio.rules.package import Package, package_findings
from seldio.rules.submissions import is_package

A, B = "Politis_TAU_task3a_1", "Politis_TAU_task3a_2"
META = """\
submission:
  label: Politis_TAU_task3a_1
  name: Two-stage SELD
  abbreviation: TwoStage
  authors:
    - lastname: Politis
      firstname: Archontis
      email: name@example.org   # address
      corresponding: true   \t# Mark true for one of the authors
      affiliation:
        abbreviation: TAU
        institute: Tampere University
        department: Computing Sciences
        location: Tampere, Finland
    - lastname: Shimada
      firstname: Kazuki
      email: name@example.org
      affiliation: {abbreviation: Sony, institute: Sony AI, department: !!null , location: "Tokyo, Japan"}
system:
  description:
    input_format: Ambisonic
    input_sampling_rate: 24kHz
    acoustic_features: [mel spectra, intensity vector]
    data_augmentation: !!null
    machine_learning_method: CRNN
  complexity:
    total_parameters: 713511
  source_code: !!null
results:
  development_dataset:
    overall:
      ER_20: 0.57
      F_20: 29.9
      LE_CD: 22
      LR_CD: !!null
"""
Files = dict[str, str]
Place = tuple[str, str, int | None, int | None, str | None]


def system(label: str, task: str = "task3a", clips: int = 3) -> Files:
    base = f"{task}/{label}"
    outputs = {f"{base}/{label}/mix{number:03}.csv": "0,1,20,-5\n" for number in range(1, clips + 1)}
    return {f"{base}/{label}.meta.yaml": META.replace(A, label), **outputs}


def clean() -> Files:
    return {"task3a/Politis_TAU_task3a.technical_report.pdf": "%PDF", **system(A), **system(B)}


def memory(name: str, data: bytes = b"") -> Any:
    """An entry that holds *data*."""
    return SimpleNamespace(name=name, path=f"x.zip!/{name}", size=len(data), read=lambda: data)


def with_entry(entry: Any) -> Package:
    """The clean package with an entry in the place of that of the same name."""
    entries = {name: memory(name, text.encode()) for name, text in clean().items()} | {entry.name: entry}
    return Package(Collection("x.zip", "zip", [*entries.values()], ()))


def checked(package: Package) -> list[Finding]:
    return sorted(package_findings(package), key=lambda finding: finding.code)


def in_memory(files: Files, kind: str = "zip", path: str = "x.zip", reference: Reference | None = None) -> Package:
    entries = [memory(name, text.encode()) for name, text in sorted(files.items())]
    return Package(Collection(path, kind, entries, (), reference))


def found(files: Files, **options: Any) -> list[Finding]:
    return checked(in_memory(files, **options))


def places(findings: list[Finding]) -> list[Place]:
    return [(f.code, f.path.removeprefix("x.zip!/"), f.line, f.column, f.value) for f in findings]


def with_meta(old: str, new: str) -> Files:
    assert old in META
    return {**clean(), f"task3a/{A}/{A}.meta.yaml": META.replace(old, new, 1)}


def moved(old: str, new: str) -> Files:
    return {name.replace(old, new): text.replace(old, new) for name, text in clean().items()}


def renamed(old: str, new: str) -> Files:
    return {name.replace(old, new): text for name, text in clean().items()}


def without(part: str) -> Files:
    return {name: text for name, text in clean().items() if part not in name}


def write_zip(root: Path, files: Files) -> Path:
    with zipfile.ZipFile(root / "package.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return root / "package.zip"


def on_disk(path: Path) -> tuple[Package, list[Finding]]:
    said: list[Finding] = []
    with open_source(path, said.append) as source:
        collection = Collection(source.path, source.kind, source.entries, ())
        assert is_package(collection)
        package = Package(collection)
        return package, [*said, *checked(package)]


@pytest.mark.parametrize("top", ["", "Politis_TAU/"])
@pytest.mark.parametrize("write", [laid, write_zip])
def test_a_clean_package_stays_clean(tmp_path: Path, write: Callable[[Path, Files], Path], top: str) -> None:
    package, findings = on_disk(write(tmp_path, {top + name: text for name, text in clean().items()}))
    assert findings == []
    assert [(s.label, s.track) for s in package.systems] == [(A, "task3a"), (B, "task3a")]
    assert [s.parts.number for s in package.systems if s.parts is not None] == ["1", "2"]
    places = [system.path.removeprefix(package.path).lstrip("!/") for system in package.systems]
    assert [f"{top}task3a/{A}", f"{top}task3a/{B}"] == places


@pytest.mark.parametrize("below", ["task3a", f"task3a/{A}"])
@pytest.mark.parametrize("codes", [[], ["SUB208"]], ids=["with its meta file", "without"])
def test_a_part_of_a_package_is_checked_as_such(tmp_path: Path, below: str, codes: list[str]) -> None:
    files = {name: text for name, text in system(A).items() if name.endswith(".csv") or not codes}
    package, findings = on_disk(laid(tmp_path, files) / below)
    assert [finding.code for finding in findings] == codes
    assert [(system.label, system.path) for system in package.systems] == [(A, f"{tmp_path}/task3a/{A}")]
    assert {finding.path for finding in findings} <= {f"{tmp_path}/task3a/{A}"}
    assert set(codes) <= set(seldio.validate(tmp_path / below).by_rule())


def test_a_single_meta_file_is_checked_for_what_it_says() -> None:
    files = {f"{A}.meta.yaml": META}
    assert found(files, kind="file") == []
    files = {f"{B}.meta.yaml": META.replace("22", "222")}
    expected = [("SUB206", f"{B}.meta.yaml", 2, 10, A), ("SUB223", f"{B}.meta.yaml", 34, 14, "222")]
    assert expected == places(found(files, kind="file"))


def test_bare_folders_of_outputs_are_the_systems_of_a_team(tmp_path: Path) -> None:
    labels = [f"{A[:-1]}{number}" for number in range(1, 6)]
    files = {f"runs/{label}/mix{n:03}.csv": f"{n},1,{n},{at}\n" for at, label in enumerate(labels) for n in range(1, 4)}

    package, found = on_disk(laid(tmp_path, files))
    assert labels == [one.label for one in package.systems]
    assert [("SUB203", str(tmp_path / "runs" / labels[4]))] == [(one.code, one.path) for one in found]
    assert ["SUB203"] == [one.code for one in checked_as_submission(tmp_path)]

    for path in (tmp_path / "runs" / labels[4]).iterdir():
        path.unlink()
    assert [] == on_disk(tmp_path)[1] == checked_as_submission(tmp_path)
    (tmp_path / "runs" / labels[3] / "mix002.csv").unlink()
    assert ["SUB213"] == [one.code for one in checked_as_submission(tmp_path)]


def checked_as_submission(path: Path) -> list[Finding]:
    return seldio.validate(path, format="dcase2023-submission").findings


FOLDER, SHEET = f"task3a/{A}", f"task3a/{A}/{A}.meta.yaml"
OUTPUT = f"{FOLDER}/{A}"
OUTPUTS = [name for name in clean() if name.endswith(".csv")]
ROWS = "".join(f"{n},1,{n},{n}\n" for n in range(20))

LAYOUT: list[tuple[str, Files, list[Place]]] = [
    ("underscore in a name", moved(A, "Po_litis_TAU_task3a_1"),
     [("SUB201", "task3a/Po_litis_TAU_task3a_1", None, None, None)]),
    ("index 0", moved(A, "Politis_TAU_task3a_0"), [("SUB201", "task3a/Politis_TAU_task3a_0", None, None, None)]),
    ("five systems", {**clean(), **system(A[:-1] + "3"), **system(A[:-1] + "4"), **system(A[:-1] + "5")},
     [("SUB203", "task3a/Politis_TAU_task3a_5", None, None, None)]),
    ("track c", moved("task3a", "task3c"), [("SUB204", "task3c", None, None, None)]),
    ("wrong folder of a track", {**without(B), **system(B, "task3b")}, [("SUB206", f"task3b/{B}", None, None, None)]),
    ("label of the other system", with_meta(A, B), [("SUB206", SHEET, 2, 10, B)]),
    ("meta file renamed", renamed(f"{A}.meta", f"{A[:-1]}3.meta"),
     [("SUB206", f"{FOLDER}/{A[:-1]}3.meta.yaml", None, None, None)]),
    ("output of another system", renamed(f"{OUTPUT}/mix", f"{FOLDER}/{B}/mix"),
     [("SUB206", f"{FOLDER}/{B}", None, None, None)]),
    ("same label twice", {**{f"a/{name}": text for name, text in clean().items()},
                          **{f"b/{name}": text for name, text in system(A).items()}},
     [("SUB206", f"b/task3a/{A}", None, None, None)]),
    ("no meta file", without(f"{A}.meta"), [("SUB208", FOLDER, None, None, None)]),
    ("no outputs", without(f"{A}/mix"), [("SUB213", FOLDER, None, None, None)]),
    ("meta file beside the folder", renamed(SHEET, f"task3a/{A}.meta.yaml"),
     [("SUB215", f"task3a/{A}.meta.yaml", None, None, None)]),
    ("recordings twice", {**clean(), f"{FOLDER}/old/mix002.csv": "", f"{FOLDER}/old/mix003.csv": ""},
     [("SUB214", f"{FOLDER}/old/mix002.csv", None, None, None)]),
    ("a recording missing", without(f"{B}/mix002"), [("SUB213", f"task3a/{B}/{B}", None, None, None)]),
    ("files nobody looks for", {**clean(), f"{OUTPUT}/mix004.txt": "", f"{OUTPUT}/mix005.txt": ""},
     [("SUB214", f"{OUTPUT}/mix004.txt", None, None, None)]),
    ("second meta file", {**clean(), f"{FOLDER}/{B}.meta.yaml": META.replace(A, B)},
     [("SUB214", f"{FOLDER}/{B}.meta.yaml", None, None, None)]),
    ("meta file as .yml", renamed(f"{A}.meta.yaml", f"{A}.meta.yml"), [("SUB215", f"{FOLDER}/{A}.meta.yml", None, None, None)]),
    ("output with a dot more", {**without(f"{A}/mix"), f"{OUTPUT}/{A}.output.v2.csv": ""},
     [("SUB215", f"{OUTPUT}/{A}.output.v2.csv", None, None, None)]),
    ("no report", without(".pdf"), [("SUB216", "x.zip", None, None, None)]),
    ("the same outputs", clean() | dict.fromkeys(OUTPUTS, ROWS), [("SUB224", f"task3a/{B}/{B}", None, None, None)]),
    ("nearly the same", clean() | dict.fromkeys(OUTPUTS, ROWS) | {OUTPUTS[0]: ROWS.replace("1", "2")}, []),
    ("for the development set", renamed("/mix", "/fold4_room23_mix"),
     [("SUB225", f"task3a/{label}/{label}", None, None, None) for label in (A, B)]),
    ("other teams, tracks and years", {"r.pdf": "", **system(A), **system("Shimada_Sony_task3a_1", clips=2),
     **system("Politis_TAU_task3b_1", "task3b", 1), **system("Politis_TAU_task3_1", "task3")}, []),
    ("in part for it", renamed("/mix001", "/fold4_room23_mix001"), []),
]  # fmt: skip


@pytest.mark.parametrize(("files", "expected"), [row[1:] for row in LAYOUT], ids=[row[0] for row in LAYOUT])
def test_a_fault_of_the_layout(files: Files, expected: list[Place]) -> None:
    assert expected == places(found(files))


CONTENT: list[tuple[str, str, str, list[tuple[str, int | None, int | None, str | None]]]] = [
    ("a second colon", "name: Two-stage", "name: Two: stage", [("SYN401", 3, 12, ":")]),
    ("a tab in front", "  name:", "\tname:", [("SYN401", 3, 1, "\t")]),
    ("code", "source_code: !!null", "source_code: !!python/object/apply:os.system ['id']",
     [("SYN402", 28, 16, "!!python/object/apply:os.system")]),
    ("key twice", "  name: Two-stage SELD\n", "  name: Two-stage SELD\n  name: One\n", [("SYN403", 4, 3, "name")]),
    ("deep", "TwoStage", "[" * 40 + "]" * 40, [("SYN401", 4, 47, "[")]),
    ("no label", f"  label: {A}\n", "", [("SUB217", 1, 1, "submission")]),
    ("blank name", "Two-stage SELD", '" "', [("SUB217", 3, 3, "name")]),
    ("no affiliation", META.split("\n")[17] + "\n", "", [("SUB217", 15, 7, "lastname: Shimada")]),
    ("no corresponding author", "      corresponding: true   \t# Mark true for one of the authors\n", "",
     [("SUB217", 5, 3, "authors")]),
    ("no email", "      email: name@example.org\n", "", [("SUB217", 15, 7, "lastname: Shimada")]),
    ("no results", META[META.index("results:") :], "", [("SUB217", 1, 1, None)]),
    ("a number for a label", A, "31", [("SUB219", 2, 10, "31")]),
    ("text for affiliation", META.split("\n")[17].strip(), "affiliation: Sony", [("SUB219", 18, 20, "Sony")]),
    ("parameters with a comma", "713511", "713,511", [("SUB219", 27, 23, "713,511")]),
    ("eleven characters", "TwoStage", "TwoStage123", [("SUB219", 4, 17, "TwoStage123")]),
    ("nobody corresponding", "corresponding: true ", "corresponding: false", [("SUB221", 5, 3, "authors")]),
    ("two corresponding", "      firstname: Kazuki\n", "      firstname: Kazuki\n      corresponding: yes\n",
     [("SUB221", 17, 22, "yes")]),
    ("a fraction", "29.9", "0.299", [("SUB223", 33, 13, "0.299")]),
    ("a template", "Two-stage SELD", "FILL IN", [("SUB217", 3, 9, "FILL IN")]),
    ("a negative error rate", "0.57", "-0.57", [("SUB223", 32, 14, "-0.57")]),
    ("an angle too wide", "LE_CD: 22", "LE_CD: 180.5", [("SUB223", 34, 14, "180.5")]),
    ("not a number", "29.9", ".nan", [("SUB223", 33, 13, ".nan")]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), [row[1:] for row in CONTENT], ids=[row[0] for row in CONTENT])
def test_a_fault_in_a_meta_file(old: str, new: str, expected: list[Any]) -> None:
    findings = found(with_meta(old, new))
    assert [(code, SHEET, *rest) for code, *rest in expected] == places(findings)
    for finding in findings:
        assert_pointed(finding)


def test_what_a_challenge_accepts_is_a_warning() -> None:
    faults = {name: files for name, files, _ in LAYOUT} | {name: with_meta(old, new) for name, old, new, _ in CONTENT}
    mild = {name for name, files in faults.items() if {each.severity for each in found(files)} == {Severity.WARNING}}
    assert mild == {"files nobody looks for", "second meta file", "no report", "no email", "no results", "a fraction"}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", [("SUB217", None, None)]),
        (b"just text\n", [("SUB219", 1, 1)]),
        (b"{}\n", [("SUB217", 1, 1), ("SUB217", 1, 1), ("SUB217", 1, 1)]),
        (META.encode().replace(b"Archontis", b"Archont\xe9s"), [("SYN101", 7, 25)]),
        (b"\xef\xbb\xbf" + META.encode(), [("SYN103", 1, 1)]),
        (META.encode().replace(b"Archontis", b"Archontis\0\0"), [("SYN104", 7, 27)]),
        (META.encode("utf-16"), [("SYN102", 1, 1)]),
        (META.encode() + b"#" * MAX_BYTES, [("SYN401", None, None)]),
        (META.encode().replace(b"\n", b"\r\n").replace(b"29.9", b"0.3"), [("SUB223", 33, 13)]),
        (META.encode().replace(b"Finland", "Suomi\u2028\x85".encode()).replace(b"29.9", b"0.3"), [("SUB223", 33, 13)]),
    ],
)
def test_a_fault_of_the_whole_meta_file(data: bytes, expected: list[Any]) -> None:
    findings = checked(with_entry(memory(SHEET, data)))
    assert expected == [(finding.code, finding.line, finding.column) for finding in findings]


def assert_pointed(finding: Finding) -> None:
    if finding.value is not None and finding.column is not None:
        assert finding.excerpt is not None
        assert finding.end_column is not None
        assert finding.value == finding.excerpt[finding.column - 1 : finding.end_column - 1]


def test_a_reference_names_the_recordings() -> None:
    reference = Reference("eval", dict.fromkeys(["mix001", "mix002", "mix003", "dev/mix004"]))
    findings = found(clean(), reference=reference)
    assert [("SUB213", f"task3a/{label}/{label}", None, None, None) for label in (A, B)] == places(findings)
    assert "1 of 4 recordings" in findings[0].message
    assert "mix004" in findings[0].message
    assert found(clean(), reference=Reference("eval", dict.fromkeys(["mix001"]))) == []


def test_an_unreadable_meta_file_is_a_finding() -> None:
    def read() -> bytes:
        raise InvalidData(Finding("SAF107", Severity.ERROR, "damaged", SHEET))

    damaged = SimpleNamespace(name=SHEET, path=f"x.zip!/{SHEET}", size=0, read=read)
    assert [finding.code for finding in checked(with_entry(damaged))] == ["SAF107"]


def parsed(text: str) -> tuple[Any, list[str]]:
    findings: list[Finding] = []
    document = parse(text.encode(errors="surrogatepass"), "f", findings.append)
    for finding in findings:
        assert_pointed(finding)
    return (None if document is None else document.value), [finding.code for finding in findings]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:\t1\t\nb: 'x'\t# c\nc: [1,\t2]\t#\nd: !!null \t#", {"a": 1, "b": "x", "c": [1, 2], "d": None}),
        ("a: 2022-06-01\nb: =\nc: <<", {"a": "2022-06-01", "b": "=", "c": "<<"}),
        ("x: &m {a: 1, b: 2}\ny: {<<: *m, b: 3}", {"x": {"a": 1, "b": 2}, "y": {"a": 1, "b": 3}}),
        ("a: !!str 1\nb: !!int '2'", {"a": "1", "b": 2}),
        ("a: 0" + "1" * 500, {"a": "0" + "1" * 500}),
        ("", None),
    ],
)
def test_values(text: str, expected: Any) -> None:
    assert (expected, []) == parsed(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: !!int x", "SYN401"),
        ('a: "\\UFFFFFFFF"', "SYN401"),
        ('a: "\\ud800"', "SYN401"),
        ("%YAML 1." + "9" * 5000 + "\n---\na", "SYN401"),
        ("a: *b", "SYN401"),
        ("? [a]\n: b", "SYN401"),
        ("a: 1\n---\nb: 2", "SYN401"),
        ("!!python/name:os.system ''", "SYN402"),
        ("a: &a [*a]", "SYN401"),
        ("[" * 100_000, "SYN401"),
        ("- a\n" * 30_000, "SYN401"),
    ],
)
def test_what_is_not_read(text: str, code: str) -> None:
    assert (None, [code]) == parsed(text)


FUZZ = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
SNIPPETS = st.sampled_from([
    "\t", ":", "- ", "[", "]", "{", "}", "'", '"', "&a ", "*a", "!!null ", "!!python/x ", "!x", "<<: *a", "|\n", "#", "\n",
    "\r", "---\n", "? ", "%YAML 9\n", "\\", "\x85", "\u2028", "\ufeff", "\x00", "@", "\U0001f600", "yes", ".nan",
])  # fmt: skip
TEXT = st.text(st.characters(codec="utf-8"), max_size=8) | SNIPPETS


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    text = META
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.integers(0, 30))
        text = text[:start] + draw(TEXT) + text[end:]
    return text.encode()


@FUZZ
@given(st.binary(max_size=200) | mutated())
@example(b"\xff\xfe")
def test_mutated_meta_files_never_raise(data: bytes) -> None:
    entries = [memory(SHEET, data), memory(f"{OUTPUT}/mix001.csv")]
    for finding in checked(Package(Collection("x.zip", "zip", entries, ()))):
        str(finding)
        if finding.code.startswith(("SUB", "SYN4")):
            assert_pointed(finding)


PARTS = st.sampled_from(
    ["task3a", "task3", "Task 4", "task03b", A, B, "Politis_TAU_task3b_1", "a b", "_", "", "x", ".."]
)
NAMES = st.sampled_from([f"{A}.meta.yaml", f"{B}.meta.yml", "meta.yaml", "mix001.csv", "mix002.CSV", "a.pdf", "x", f"{A}.output.csv"])  # fmt: skip
PATHS = st.builds(lambda folders, name: "/".join([*folders, name]), st.lists(PARTS, max_size=5), NAMES)


@FUZZ
@given(
    st.lists(PATHS, max_size=8, unique=True),
    st.sampled_from(["zip", "folder", "file", "stdin"]),
    st.sampled_from(["x.zip", ".", "", "a/task3a/", f"task3a/{A}"]),
)
def test_any_tree_is_taken_apart(names: list[str], kind: str, path: str) -> None:
    entries = [memory(name, META.encode()) for name in sorted(names)]
    package = Package(Collection(path, kind, entries, (), None))
    owned = [entry.name for system in package.systems for entry in system.outputs]
    assert len(set(owned)) == len(owned)
    for finding in checked(package):
        str(finding)
        assert finding.message
        assert finding.hint


def test_outputs_that_lie_deeper_are_an_error() -> None:
    deeper = renamed(f"{OUTPUT}/mix003", f"{OUTPUT}/sub/mix003")
    assert [one.severity for one in found(deeper) if one.path.endswith("sub/mix003.csv")] == ["error"]
