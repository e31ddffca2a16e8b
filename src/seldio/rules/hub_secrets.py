"""HUB5: what must not become public: keys and tokens, private files, people's names in paths."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from seldio.files import Entry
from seldio.files.names import suffix_of
from seldio.findings import Finding
from seldio.rules.collection import Found
from seldio.rules.hub_folder import HubFolder, kind_of
from seldio.rules.registry import ERROR, WARNING, rule
from seldio.schema.arrays import pc
from seldio.text import plural, printable

#: Patterns of secrets, by kind. They must also be valid in RE2, for the columns of Parquet files.
SECRETS = {
    "a Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}",
    "an OpenAI or Anthropic key": r"\bsk-[A-Za-z0-9_-]{20,}",
    "an AWS key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "an AWS secret": r"(?i:aws_secret_access_key)[\"']?\s*[=:]\s*[\"']?[A-Za-z0-9/+]{40}",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})",
    "a GitLab token": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "a Google key": r"\bAIza[0-9A-Za-z_-]{35}",
    "a Slack token": r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    "a private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY",
    "a password in a URL": r"\bhttps?://[^\s/:@\"']{1,60}:[^\s/:@\"']{3,100}@[A-Za-z0-9]",
}
_ANY = "|".join(f"(?:{pattern})" for pattern in SECRETS.values())
_SECRET = re.compile(_ANY.encode())
_HOME = re.compile(rb"(?:/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2})[A-Za-z0-9._-]{2,32}[/\\]")
_PRIVATE = re.compile(
    r"(?:.*/)?(?:\.env(?:\..+)?|\.netrc|\.npmrc|\.pypirc|\.htpasswd|id_(?:rsa|dsa|ecdsa|ed25519)|credentials|"
    r"[^/]+\.(?:pem|key|p12|pfx|keystore|kdbx))|(?:.*/)?(?:\.git|\.ssh|\.aws|\.gnupg|\.huggingface)/.+"
)
#: Bytes searched at once, and how far a piece reaches back into the previous one.
_PIECE, _OVERLAP = 2**22, 2**10


def _matches(entry: Entry, pattern: re.Pattern[bytes]) -> Iterator[tuple[int, bytes]]:
    """The line and text of each match in a text file of any size."""
    with entry.open() as stream:
        kept, line, last = b"", 1, -1
        start = 0  # offset of `kept` in the file
        while piece := stream.read(_PIECE):
            data = kept + piece
            for match in pattern.finditer(data):
                if start + match.start() > last:
                    last = start + match.end() - 1
                    yield line + data.count(b"\n", 0, match.start()), match.group()
            kept = data[-_OVERLAP:]
            line += data.count(b"\n", 0, len(data) - len(kept))
            start += len(data) - len(kept)


def _is_text(entry: Entry) -> bool:
    return kind_of(entry.name) not in ("wav", "mp4", "parquet", "arrow") and b"\0" not in entry.head(2**12)


def _described(secret: str) -> str:
    """The kind of secret with its first characters: enough to identify it, too few to use it."""
    kind = next(kind for kind, pattern in SECRETS.items() if re.search(pattern, secret))
    return f"{kind} ({printable(secret[:4])}…)"


@rule("HUB501", ERROR)
def hub_secret(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Key, token or password in a file."""
    for entry in folder.files:
        if _is_text(entry):
            for line, match in _matches(entry, _SECRET):
                what = f"contains {_described(match.decode('ascii', 'replace'))}"
                yield found(entry.path, what, "revoke it where it was issued, and remove it", line=line)
        elif not isinstance(folder.footers.get(entry.name, ""), str):
            for row, column, text in _in_table(entry):
                what = f"row {row:,} of column {printable(column)} contains {_described(text)}"
                yield found(entry.path, what, "revoke it, and remove it")


def _in_table(entry: Entry) -> Iterator[tuple[int, str, str]]:
    """Row (from 0), column and text of each secret in the text columns of a Parquet file."""
    with entry.open() as stream:
        file = pq.ParquetFile(stream)
        columns = [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]
        first = 0
        for batch in file.iter_batches(columns=columns) if columns else ():
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                hits = pc.indices_nonzero(pc.fill_null(pc.match_substring_regex(column, _ANY), False)).to_pylist()
                for row in hits:
                    match = re.search(_ANY, column[row].as_py())
                    yield first + row, name, match.group() if match else ""
            first += batch.num_rows


@rule("HUB502", ERROR)
def hub_private_file(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """File whose name suggests private content."""
    for entry in folder.files:
        if _PRIVATE.fullmatch(entry.name):
            yield found(entry.path, f"{printable(entry.name)} is probably private, judging by its name", "leave it out")


@rule("HUB503", WARNING)
def hub_home_path(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Path into someone's home folder."""
    for entry in folder.files:
        if suffix_of(entry.name) and _is_text(entry):
            places = [(line, match.decode("ascii", "replace")) for line, match in _matches(entry, _HOME)]
            if places:
                line, text = places[0]
                what = f"{plural(len(places), 'path')} into a home folder, the first {printable(text)}"
                yield found(entry.path, what, "write paths relative to the dataset", line=line)
