"""The ways of scoring: which ones there are, without loading any; those of labels are in the files of datasets."""

from __future__ import annotations

from seldio import plugins

#: The ways of scoring energy maps and answers, each with its title.
MAPS = {"dcase2026": "DCASE 2026 Task 3: AP of energy maps at IoU 0.25, 0.50 and 0.75, and Pearson r"}
ANSWERS = {
    "so-bench": "SO-Bench as its card and its scorer have it: 20° azimuth, 10° elevation, 1.0 m, 0.2 s",
    "so-bench-paper": "SO-Bench as Appendix D of its paper has it: 20° azimuth, 10° elevation, 0.5 m, 0.4 s",
    "so-bench-legacy": "SO-Bench with the limits of the first scorer: 20° azimuth, 10° elevation, "
    "30 % of the distance, 0.4 s",
    "jasco": "JASCO, the judge's texts read as they are meant",
    "jasco-eval.py": "JASCO, as its eval.py counts, with its faults",
    "ruenvaqa": "ruEnvAQA (MERA Multi): exact match, case and ASCII punctuation ignored",
    "mmau": "MMAU: string match, as evaluation.py counts it",
    "mmar": "MMAR: string match, as code/evaluation.py counts it",
    "dcase2026-task5": "DCASE 2026 Task 5 (ADQA): top-1 accuracy",
    "multiple-choice": "multiple choice: the words of the right option and of no wrong one, as MMAU and MMAR count it",
}


def profile_titles() -> list[tuple[str, str]]:
    """Return all ways of scoring: name and title."""
    if plugins.data_folders():
        import seldio.formats.datasets  # noqa: F401 - it checks the files in them
    profiles = (profile for record in plugins.datasets() for profile in record.get("profiles", ()))
    return [*((profile["name"], profile["title"]) for profile in profiles), *MAPS.items(), *ANSWERS.items()]
