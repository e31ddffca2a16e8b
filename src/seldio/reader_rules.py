"""The rules that readers report while they read: their records, from which their findings are made.

What they check is in the readers; their pages are ``rules/pages/CODE.md``. Rules with a check of their own are in
``seldio.rules``.
"""

from __future__ import annotations

from dataclasses import replace

from seldio.findings import Rule, Severity

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

_ROWS = (
    # what a dataset says of itself, and files that contradict it
    Rule("DAT101", "invalid-toml", ERROR),
    Rule("DAT102", "unfit-dataset-key", ERROR),
    Rule("DAT201", "labels-contradict-dataset", ERROR),
    Rule("DAT202", "column-without-description", INFO),
    # a whole file that cannot be what it is read as
    Rule("LAB310", "submission-of-another-year", ERROR),
    Rule("LAB316", "frames-in-seconds", ERROR, "unsafe"),
    Rule("LAB317", "class-names", ERROR),
    # submissions to MERA
    Rule("PRD111", "no-data-field", ERROR),
    Rule("PRD112", "no-split", ERROR),
    Rule("PRD113", "no-outputs-field", ERROR),
    Rule("PRD114", "no-meta-field", ERROR),
    Rule("PRD115", "no-id-field", ERROR),
    Rule("PRD116", "wrong-output-type", ERROR),
    Rule("PRD117", "bare-list", WARNING),
    # datasets of MERA
    Rule("QAI205", "access-value", WARNING),
    Rule("QAI211", "lacking-field", ERROR),
    Rule("QAI212", "unfit-value", ERROR),
    Rule("QAI213", "no-records", ERROR),
    # folders and archives, before any content is read
    Rule("SAF101", "path-traversal", ERROR),
    Rule("SAF102", "archive-link", ERROR),
    Rule("SAF103", "special-file", ERROR),
    Rule("SAF104", "duplicate-member", ERROR),
    Rule("SAF105", "over-limit", ERROR),
    Rule("SAF107", "damaged-archive", ERROR),
    Rule("SAF108", "link-not-followed", ERROR),
    Rule("SAF109", "awkward-name", WARNING),
    Rule("SAF111", "webdataset-key", WARNING),
    # cells
    Rule("SAF201", "control-character", ERROR),
    Rule("SAF202", "formula-cell", ERROR),
    # csv: bytes and lines
    Rule("SYN101", "not-utf8", ERROR),
    Rule("SYN102", "utf16", ERROR, "safe"),
    Rule("SYN103", "byte-order-mark", ERROR, "safe"),
    Rule("SYN104", "nul-bytes", ERROR),
    Rule("SYN105", "crlf-line-ends", INFO, "safe"),
    Rule("SYN106", "mixed-line-ends", WARNING, "safe"),
    Rule("SYN107", "bare-cr", WARNING, "safe"),
    Rule("SYN108", "torn-row", ERROR),
    # csv: header and index
    Rule("SYN110", "blank-lines", ERROR, "safe"),
    Rule("SYN111", "unexpected-header", ERROR, "safe"),
    Rule("SYN112", "missing-header", ERROR, "safe"),
    Rule("SYN113", "wrong-header", ERROR),
    Rule("SYN114", "row-index", ERROR, "unsafe"),
    Rule("SYN115", "not-text", ERROR),
    # csv: separators
    Rule("SYN120", "wrong-delimiter", ERROR, "safe"),
    Rule("SYN121", "ragged-row", ERROR),
    Rule("SYN122", "quoted-cell", ERROR, "safe"),
    Rule("SYN123", "stray-white-space", WARNING, "safe"),
    Rule("SYN124", "trailing-comma", ERROR, "safe"),
    Rule("SYN125", "decimal-comma", ERROR, "unsafe"),
    # csv: cells
    Rule("SYN130", "not-a-number", ERROR),
    Rule("SYN131", "no-plain-decimal", ERROR, "safe"),
    Rule("SYN132", "decimal-point", ERROR, "safe"),
    Rule("SYN133", "not-finite", ERROR),
    Rule("SYN134", "too-many-digits", ERROR),
    Rule("SYN135", "empty-cell", ERROR),
    Rule("SYN136", "not-a-flag", ERROR),
    Rule("SYN137", "plus-sign", WARNING, "safe"),
    Rule("SYN138", "typeset-number", ERROR, "safe"),
    # csv: columns that are none of the format, or not in their place
    Rule("SYN145", "confidence-column", ERROR, "unsafe"),
    Rule("SYN146", "surplus-column", ERROR),
    Rule("SYN147", "exchanged-columns", ERROR),
    # JSON
    Rule("SYN201", "invalid-json", ERROR),
    Rule("SYN202", "duplicate-key", ERROR),
    Rule("SYN203", "nan-in-json", ERROR),
    Rule("SYN204", "number-out-of-range", ERROR),
    Rule("SYN205", "half-surrogate", ERROR),
    Rule("SYN206", "nested-too-deep", ERROR),
    Rule("SYN207", "array-in-json-lines", ERROR),
    Rule("SYN211", "missing-key", ERROR),
    Rule("SYN212", "wrong-type", ERROR),
    Rule("SYN213", "no-annotations", ERROR),
    Rule("SYN214", "malformed-segmentation", ERROR),
    Rule("SYN215", "useful-key-missing", WARNING),
    Rule("SYN216", "numeric-id", WARNING),
    # Parquet
    Rule("SYN301", "damaged-parquet", ERROR),
    Rule("SYN302", "foreign-columns", ERROR),
    # YAML
    Rule("SYN401", "invalid-yaml", ERROR),
    Rule("SYN402", "unsafe-yaml-tag", ERROR),
    Rule("SYN403", "duplicate-yaml-key", ERROR),
    Rule("SYN404", "yaml-too-large", ERROR),
    # labels of tools that people mark sounds with
    Rule("SYN501", "malformed-label", ERROR),
    Rule("SYN502", "label-value", ERROR),
    Rule("SYN503", "comma-in-time", ERROR, "safe"),
    Rule("SYN504", "invalid-xml", ERROR),
    Rule("SYN505", "unknown-label-key", WARNING),
    Rule("SYN506", "unaligned-annotation", ERROR),
    Rule("SYN507", "several-annotators", INFO),
    Rule("SYN508", "several-recordings", ERROR),
    Rule("SYN509", "background-sound", INFO),
    # what a file as a whole seems to be
    Rule("SYN901", "unknown-format", ERROR),
    Rule("SYN902", "uncertain-format", INFO),
    Rule("SYN903", "ambiguous-format", ERROR),
)

#: Each record by its code. What is wrong with JSON is there with line and column: MERA needs not say it as well.
READER_RULES: dict[str, Rule] = {
    rule.code: replace(rule, explains=("PRD122",)) if rule.code.startswith("SYN") else rule for rule in _ROWS
}
#: What checks find as well, which carry its pages: readers say it of rows that a check never gets to see.
_SHARED = {code: Rule(code, "", ERROR) for code in ("LAB309", "LAB315", "SUB106")}


def reader_rule(code: str) -> Rule:
    """The record from which a reader makes its findings of rule *code*."""
    return READER_RULES.get(code) or _SHARED[code]
