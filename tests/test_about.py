"""What people look up: every record is complete, has the numbers that were published, and is found where it is asked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import soundfile
from commands import laid
from pages import in_process
from starss_tree import write
from videos import make

import seldio
from seldio.formats.about import Results, about, every
from seldio.formats.datasets import COUNTED
from seldio.tasks.specs import COUNTS

NAMES = [known.name for known in every()]


def seed(shared: Path, name: str) -> str:
    return (shared / "seeds" / name).read_text("utf-8")


def results(name: str, table: str) -> Results:
    return next(one for one in about(name).results if one.name == table)


def test_citations_are_bibtex_with_what_their_kind_requires() -> None:
    titles = {"misc": (), "article": ("journal",), "inproceedings": ("booktitle",)}
    found = re.findall(r"^@(\w+)\{([\w:-]+),\n(.*?)^\}$", seldio.cite(*NAMES), re.MULTILINE | re.DOTALL)
    assert len(found) == len({key for _, key, _ in found}) == 8
    for kind, key, fields in found:
        for field in ("author", "title", "year", *titles[kind]):
            assert re.search(rf"^  {field} *= \{{.+\}},$", fields, re.MULTILINE), (key, field)
        assert fields.count("{") == fields.count("}")
        assert re.search(r"^  year *= \{\d{4}\},$", fields, re.MULTILINE)


def test_baselines_of_2023_are_those_of_the_task_page(shared: Path) -> None:
    text = seed(shared, "starss23-dcase2023-task3.txt")
    published = {
        "Track A, FOA": "Ambisonic ", "Track A, MIC (GCC)": "Microphone array (GCC) ",
        "Track B, FOA, audio and video": "Ambisonic (Audio + Video) ",
        "Track B, FOA, without video": "Ambisonic (Audio-only) ",
        "Track B, MIC, audio and video": "Microphone array (Audio + Video) ",
        "Track B, MIC, without video": "Microphone array (Audio-only) ",
    }  # fmt: skip
    rows = {row["system"]: row for row in results("starss23", "baselines").rows}
    assert rows.keys() == published.keys()
    for system, head in published.items():
        numbers = re.search(rf"^{re.escape(head)}([\d.]+) ([\d.]+) % ([\d.]+) % (\d+)° ([\d.]+) %$", text, re.MULTILINE)
        assert numbers, head
        assert [rows[system][name] for name in ("ER", "F_micro", "F", "LE", "LR")] == [*map(float, numbers.groups())]
    assert [row["system"] for row in rows.values() if row.get("baseline")] == [
        "Track A, FOA", "Track A, MIC (GCC)", "Track B, FOA, audio and video", "Track B, MIC, audio and video"
    ]  # fmt: skip


@pytest.mark.parametrize(("table", "systems"), [("track-a", 12), ("track-b", 5)])
def test_rankings_of_2023_are_those_of_the_task_page(table: str, systems: int, shared: Path) -> None:
    text = seed(shared, "starss23-dcase2023-task3.txt").replace("’", "'")
    published = results("starss23", table)
    assert len(published.rows) == systems
    for row in published.rows:
        line = f"{row['rank']} {row['system']} {row['by'].replace(', ', ' ', 1)} "
        shown = [("{:.2f} ({:.2f} - {:.2f})" if name == "ER" else "{:.1f} ({:.1f} - {:.1f})").format(*row[name])
                 for name in ("ER", "F", "LE", "LR")]  # fmt: skip
        assert line + " ".join(shown) in text


def test_scores_of_jasco_are_those_of_its_page(shared: Path) -> None:
    text = seed(shared, "jasco.txt")
    for row in results("jasco", "published").rows:
        assert f"| {row['system']} | {row['best_mean']:.2f} |" in text
        assert f"| {row['system']} | {row['audio']} | {row['both']} | {row['speech']} |" in text
    assert "Data%20License-CC%20By%20NC%204.0" in text
    assert "Code%20License-Apache_2.0" in text
    assert about("jasco").record["license"] == "CC-BY-NC-4.0"
    assert about("jasco").record["code_license"] == "Apache-2.0"


def test_tasks_of_so_bench_are_those_of_its_card(shared: Path) -> None:
    text = seed(shared, "so-bench.txt")
    counts = {row["task"]: row["questions"] for row in next(about("so-bench").lists)["rows"]}
    assert counts == COUNTS
    assert (sum(counts.values()),) == about("so-bench").sizes
    assert all(f"{task} |\n{count:,} |" in text for task, count in counts.items())
    assert seldio.cite("so-bench").count("2606.10738") == text.count("2606.10738") == 2
    assert about("so-bench").record.get("license", "") == ""  # the card states none


def test_the_record_of_ruenvaqa_has_what_its_page_and_metadata_say(shared: Path) -> None:
    text = seed(shared, "ruenvaqa.txt")
    meta = json.loads((shared / "data/ruenvaqa/dataset_meta.json").read_text("utf-8"))
    record = about("ruenvaqa").record
    assert about("ruenvaqa").sizes[0] == meta["dataset_size"]
    assert record["facts"]["skills"].split(", ") == meta["skills"]
    assert ", ".join(meta["skills"]) in text
    assert "CC BY-NC 4.0" in meta["license"]
    assert record["license"] == "CC-BY-NC-4.0"
    assert results("ruenvaqa", "people").rows[0]["exact_match"] == meta["human_benchmark"]["Exact match"]
    for figure in ("Llama-3.2-3B-Instruct", "DeepL", "22 разных инструмента", "от 5 до 20 секунд", "перекрытием 3",
                   "перекрытием 5", "Дэвида-Скина", "majority vote", "0.95", "2204.09634", "2203.14072"):  # fmt: skip
        assert figure in text


@pytest.mark.parametrize("name", NAMES)
def test_info_of_a_name_prints_the_record(name: str) -> None:
    text, code = in_process(["info", name])
    record = about(name).record
    assert code == 0
    assert record["download"] in text
    assert f"seldio cite {name}" in text
    for row in (row for table in about(name).results for row in table.rows):
        assert row["system"] in text
    assert seldio.info(name.upper())["about"] == [record]


def test_info_of_a_tree_says_licence_citation_and_where_the_rest_is(tmp_path: Path) -> None:
    root = write(tmp_path / "STARSS23")
    found = seldio.info(root)["about"][0]
    assert (found["name"], found["license"], found["complete"]) == ("starss23", "MIT", False)
    text = str(seldio.info(root))
    assert "by its names, and only if its files are the published ones" in text
    assert "seldio cite starss23" in text
    assert "https://zenodo.org/records/7880637" in text
    lacking = {top: f"{top}.zip" for top in about("starss23").record["archives"] if not (root / top).exists()}
    assert found.get("lacking", {}) == lacking
    assert all(f"{top} ({name})" in text for top, name in lacking.items())


def whole(folder: Path) -> Path:
    """Labels of all clips of the development set of STARSS23."""
    clips = [f"{split.name}/{clip}.csv" for split in COUNTED["starss23"].splits for clip in split.clips]
    laid(folder / "STARSS23/metadata_dev", dict.fromkeys(clips, "0,1,0,-50,30,200\n"))
    return folder / "STARSS23"


def test_a_tree_with_all_clips_is_complete_and_goes_into_cards_with_licence_and_citation(tmp_path: Path) -> None:
    from seldio.hub.card import About

    facts = seldio.info(whole(tmp_path))
    assert facts["about"][0]["complete"] is True
    assert "only if" not in str(facts)
    card = About().completed(facts)
    assert card.license == "mit"
    assert card.citation == seldio.cite("starss23")
    assert About(license="cc0-1.0", citation="@misc{me}").completed(facts) == About("cc0-1.0", (), None, "@misc{me}")
    (tmp_path / "STARSS23/dataset.toml").write_text('name = "mine"\ntitle = "Mine"\n')
    described = seldio.info(tmp_path / "STARSS23")
    assert About().completed(described) == About("mit", (), "Mine", seldio.cite("starss23"))
    (tmp_path / "STARSS23/dataset.toml").write_text('name = "mine"\nlicense = "CC0-1.0"\n')
    described = seldio.info(tmp_path / "STARSS23")  # which says itself what its licence is
    assert "about" not in described
    assert About().completed(described) == About("cc0-1.0")
    some = {**facts, "about": [{**facts["about"][0], "complete": False}]}
    assert About().completed(some) == About()  # a few files of such names may be anybody's


def test_questions_are_a_benchmark_where_all_of_them_are_here(shared: Path, tmp_path: Path) -> None:
    lines = (shared / "data/jasco/v0.csv").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "all.csv").write_text("".join(lines), "utf-8")
    (tmp_path / "cut.csv").write_text("".join(lines[:70]), "utf-8")
    found = seldio.info(tmp_path / "all.csv")
    assert [(one["name"], one["license"], one["complete"]) for one in found["about"]] == [
        ("jasco", "CC-BY-NC-4.0", False)
    ], "eighty questions may be anybody's"
    assert "code: Apache-2.0" in str(found)
    assert "about" not in seldio.info(tmp_path / "cut.csv")


def hints(path: Path) -> dict[str, str | None]:
    return {finding.code: finding.hint for finding in seldio.validate(path).findings}


def test_findings_about_missing_and_damaged_files_say_where_to_download_them(tmp_path: Path) -> None:
    root = whole(tmp_path)
    (root / "metadata_dev/dev-test-tau/fold4_room2_mix001.csv").unlink()
    laid(root / "foa_dev/dev-test-tau", {"fold4_room2_mix002.wav": b"", "fold4_room2_mix003.wav": b"no sound"})
    found, address = hints(root), "https://zenodo.org/records/7880637"
    assert found["LAY108"] == f"STARSS23 has 48: {address}"
    assert found["AUD101"] == f"download or unpack it again: {address}"
    mine = laid(tmp_path / "mine", {"a.wav": b"no sound"})
    assert hints(mine)["AUD101"] == "download or unpack it again"  # nobody knows from where


def test_a_recording_has_its_numbers(tmp_path: Path) -> None:
    """Four channels: peaks of 0, -6.02 and -20 dB, and one without sound."""
    wave = np.sin(2 * np.pi * 1000 * (np.arange(48_000) + 0.5) / 24_000) / np.sin(2 * np.pi * 5.5 / 24)
    soundfile.write(tmp_path / "a.wav", np.outer(wave, [0.999, 0.5, 0.1, 0.0]), 24_000, subtype="PCM_16")
    described = seldio.info(tmp_path / "a.wav")
    (found,) = described["media"]
    assert (found["kind"], found["type"]) == ("recording", "WAV PCM_16")
    assert (found["channels"], found["rate"], found["frames"], found["seconds"]) == (4, 24_000, 48_000, 2.0)
    assert [each["peak"] for each in found["by_channel"][:3]] == pytest.approx([0, -6.02, -20], abs=0.05)
    assert [each["level"] for each in found["by_channel"][:3]] == pytest.approx([-2.97, -8.99, -22.97], abs=0.05)
    assert found["by_channel"][3] == {"peak": None, "level": None}
    assert found["peak"] == found["by_channel"][0]["peak"]
    text = str(described)
    assert "recording  WAV PCM_16\n  channels    4 at 24,000 Hz" in text
    assert "length      2.000 s (48,000 frames)" in text
    assert "levels      channel 1: -2.9 dBFS, peak 0.0 dBFS" in text
    assert text.rstrip().endswith("channel 4: silence")


def test_a_video_has_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(make(30, sound=(1.0, 2)))
    described = seldio.info(tmp_path / "a.mp4")
    (found,) = described["media"]
    assert (found["kind"], found["width"], found["height"], found["pictures"]) == ("video", 192, 96, 30)
    assert found["rate"] == pytest.approx(29.97, abs=0.001)
    assert (found["start"], found["end"]) == pytest.approx((0, 1.001))
    assert "video  MP4 H264" in str(described)
    assert "frames      30 of 192 × 96 at 29.97 fps" in str(described)
