"""Which tests need which wings: those whose modules a test file imports, and those that it asks for in other ways.

``hidden.py`` leaves out what needs a hidden wing, and ``test_wings.py`` runs the rest: the core, and all other wings.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from functools import cache
from pathlib import Path

from seldio import wings

TESTS = Path(__file__).parent
#: Test files of the core that take little time.
CORE = (
    "arrays", "clock", "dataset", "dcase2026", "decoding", "detect", "encoding", "faults", "files", "gate", "geometry",
    "labels", "schema", "trees", "windows",
)  # fmt: skip
#: Of each wing, test files that take little time.
OF_WINGS = {
    "scoring": ("ranking",),
    "seld": ("causes",),
    "imaging": ("imaging",),
    "answers": ("answers_read", "replies"),
    "mera": ("ruenvaqa",),
    "compare": ("compare_answers",),
    "diff": ("diff",),
    "ask": ("clip_audio", "even"),
    "importers": (),
    "harnesses": ("adqa",),
    "challenge": ("package",),
    "listening": (),
    "video": ("video",),
    "viewer": ("pictures",),
    "synth": ("synth_labels",),
    "hub": (),
    "cluster": (),
}
#: What a file, or a test of it, needs besides what the file imports.
ASKED: dict[str, tuple[str, ...]] = {
    "test_compare_answers.py": ("answers", "compare"),
    "test_imaging.py::test_a_packed_map_is_the_map": ("viewer",),
    "test_imaging.py::test_a_page_and_a_picture_have_maps": ("viewer",),
    "test_causes.py::test_the_folder_task3_holds_both_tracks": ("challenge",),
    "test_video.py::test_the_samples_in_a_container_of_videos_are_checked": ("listening",),
    "test_dataset.py::test_pictures_are_those_of_the_label_frames": ("video",),
    "test_labels.py::test_every_folder_of_examples_is_a_format": ("importers",),
    "test_adqa.py::test_top_1_accuracy": ("answers",),
    "test_adqa.py::test_missing_answers_are_wrong": ("answers",),
}
#: Tests that take long, and do not depend on what is there.
SLOW = {
    "test_files.py::test_mutated_archives_end_in_findings_only",
    "test_imaging.py::test_systems_are_compared",
    "test_imaging.py::test_every_version_scores_files_with_any_number_of_workers",
    "test_trees.py::test_no_file_is_lost_and_nothing_raises",
    "test_faults.py::test_writers_at_the_same_time",
    "test_causes.py::test_the_header_of_a_row_index_goes_with_it",
    "test_diff.py::test_one_rotation_in_real_labels_is_one_line",
    "test_imaging.py::test_a_resample_scores_as_its_clips_would",
    "test_imaging.py::test_random_sets_score_as_by_each_version",
    "test_pictures.py::test_a_set_is_counted_where_no_clip_is_named",
    "test_synth_labels.py::test_noise_is_as_loud_as_asked_in_every_block_and_has_no_seams",
    "test_synth_labels.py::test_nothing_is_cut_off_and_both_formats_are_one_scene",
}


@cache
def imported(file: str) -> frozenset[str]:
    """The wings whose modules a file of this folder imports, by itself or through others of this folder."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((TESTS / file).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            wing = wings.owner(name)
            found |= {wing.name} if wing else set()
            found |= imported(f"{name}.py") if (TESTS / f"{name}.py").is_file() else set()
    return frozenset(found)


def needs(test: str) -> frozenset[str]:
    """The wings that a test needs, by its address such as ``test_labels.py::test_x[1]``, or a whole file."""
    file, _, function = test.partition("::")
    asked = {*ASKED.get(file, ()), *ASKED.get(f"{file}::{function.partition('[')[0]}", ()), *ASKED.get(test, ())}
    return imported(file) | asked


def files(gone: Collection[str]) -> list[str]:
    """The names of the test files that are tried without some wings."""
    named = dict.fromkeys((*CORE, *(name for names in OF_WINGS.values() for name in names)))
    return [file for name in named if not needs(file := f"test_{name}.py") & {*gone}]
