"""Untrusted text made safe to print: file names, cells and messages may hold anything."""

from __future__ import annotations

import difflib
import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any

# C0 and C1 controls, DEL, bidirectional controls, zero-width and other invisible characters,
# line and paragraph separators, the byte order mark, surrogates (undecodable bytes of file names).
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
# What CI systems take for a command in the output of a build: Azure Pipelines (##vso[), TeamCity (##teamcity[) and
# older GitHub runners (##[) find theirs anywhere in a line, GitHub Actions (::error::) at its beginning.
_COMMAND = re.compile(r"##(?=\w*\[)")
_AT_START = re.compile(r"\A(\s*):(?=:)")
_NOT_ASCII = re.compile("[^ -~]")


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, smuggled in by surrogateescape
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def printable(text: str) -> str:
    r"""Escape every character that could move the cursor, hide or reorder text, or command a CI system.

    >>> printable("dog\u202e.god\x1b[2J")
    'dog\\u202e.god\\x1b[2J'
    >>> printable("::error::x"), printable("a/##vso[task.complete]")
    ('\\x3a:error::x', 'a/\\x23#vso[task.complete]')
    """
    shown = text if text.isascii() and text.isprintable() else _UNSAFE.sub(_escape, text)
    if "##" in shown:
        shown = _COMMAND.sub(r"\\x23#", shown)
    return _AT_START.sub(r"\1\\x3a", shown) if "::" in shown else shown


def commands(text: str) -> frozenset[int]:
    """Return the places in *text* at which a command to a CI system may begin; see :func:`printable`."""
    return frozenset(match.start() for match in _COMMAND.finditer(text)) if "##" in text else frozenset()


def hides(text: str) -> bool:
    """Return whether *text* holds control, invisible or text-reversing characters, or bytes that are not UTF-8."""
    return not (text.isascii() and text.isprintable()) and _UNSAFE.search(text) is not None


def from_toml(text: str) -> dict[str, Any]:
    """Read TOML; raise ValueError if it is none, nested too deep, or has a number that is too long."""
    import tomllib

    try:
        record = tomllib.loads(text)
        repr(record)  # a long number in hexadecimal is read, but nothing can show it
        return record
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise ValueError("arrays and tables are nested too deep") from None
    except ValueError:
        raise ValueError("a number has too many digits") from None


def as_toml(record: Mapping[str, Any]) -> str:
    """Return a dataset file: what is short in one line, tables apart."""
    lines = [f"{key} = {_toml_value(value)}" for key, value in record.items() if not isinstance(value, Mapping)]
    for key, table in record.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{key}]", *(f"{_toml_key(name)} = {_toml_value(value)}" for name, value in table.items())]
    return "\n".join(lines) + "\n"


def _toml_key(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else _toml_value(text)


def _toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_toml_key(key)} = {_toml_value(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return "[\n" + "".join(f"  {_toml_value(item)},\n" for item in value) + "]"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False)


def kind_of(value: Any) -> str:
    """Return what *value*, which stands where another one is expected, is in JSON: ``an empty array``, ``12``."""
    if isinstance(value, dict | list):
        kind = "object" if isinstance(value, dict) else "array"
        return f"an {kind}" if value else f"an empty {kind}"
    return clipped(json.dumps(value, ensure_ascii=False), 40)


def json_text(value: Any, **options: Any) -> str:
    r"""Return *value* as JSON that any parser reads, and no terminal or CI system obeys.

    Text stays text (no ``\u0431`` for a Russian letter), but controls, bidirectional marks and invisible characters
    are written as JSON escapes, which lose nothing. A lone surrogate, which is what an undecodable byte of a file
    name becomes, has no valid JSON: it is spelt ``\x80``.

    Args:
        value: anything that JSON can hold.
        options: those of ``json.dumps``.
    """
    lines = json.dumps(value, ensure_ascii=False, **options).split("\n")
    return "\n".join(
        _COMMAND.sub(r"\\u0023#", _NOT_ASCII.sub(_in_json, line) if hides(line) else line) for line in lines
    )


def _in_json(match: re.Match[str]) -> str:
    character = match.group()
    spelt = _UNSAFE.sub(_escape, character)
    if spelt == character:
        return character
    return json.dumps(spelt if "\ud800" <= character <= "\udfff" else character)[1:-1]


def clipped(text: str, width: int = 60) -> str:
    """Return *text*, printable, and cut to *width* characters with an ellipsis that tells the full length."""
    if len(text) <= width:
        return printable(text)
    return f"{printable(text[:width])}… ({len(text):,} characters)"


#: So many lines of a text are shown in a notebook.
_LINES = 60


class Displayed:
    """A result with a ``repr`` of one line, which a notebook shows as ``print`` does, or in more detail."""

    __slots__ = ()

    @property
    def in_brief(self) -> str:
        """Return the summary in a line."""
        return str(self).partition("\n")[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({clipped(self.in_brief, 200)})"

    def _repr_html_(self) -> str | None:
        import html

        lines = [*map(printable, str(self).splitlines())]
        more = [f"… and {len(lines) - _LINES:,} more lines: print it"] if len(lines) > _LINES else []
        return f"<pre>{html.escape(chr(10).join([*lines[:_LINES], *more]))}</pre>"


def plural(count: int, noun: str, many: str | None = None) -> str:
    """Return ``1 file``, ``2 files``: *count* with thousands separators and the noun in its number."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def view_command(labels: str, clip: str, *more: str, **options: str | None) -> str:
    """Return the command that shows a clip; *options* of ``seldio view`` that have a value, and *more* behind them.

    >>> view_command("labels", "mix 1", predictions="out", format=None)
    "seldio view labels --clip 'mix 1' --predictions out"
    """
    given = [part for name, value in options.items() if value for part in (f"--{name.replace('_', '-')}", value)]
    return shlex.join(["seldio", "view", labels, "--clip", clip, *given, *more])


#: Letters that are taken for digits.
_ALIKE = str.maketrans("oil", "011")


def meant(name: str, names: Iterable[str], whole: Callable[[str], str] = str) -> str:
    """Return the one of *names* close to *name* as a question (shown by *whole*), or nothing."""
    asked = name.lower()
    close = difflib.get_close_matches(asked, list(names), 3, 0.7)
    close.sort(key=lambda word: word.translate(_ALIKE) != asked.translate(_ALIKE))  # LAB1O3 is LAB103, not LAB113
    return f"; did you mean {printable(whole(close[0]))}?" if close else ""


def times(count: int) -> str:
    """Return how often something happens, in words.

    >>> times(1), times(2), times(1200)
    ('once', 'twice', '1,200 times')
    """
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def listed(names: list[str] | tuple[str, ...], most: int = 5, count: int | None = None) -> str:
    """Return the first *most* names, and how many more there are; *count*: of them all, if not all are given.

    A name with a comma in it stands in quotes.

    >>> listed(["Water tap, faucet", "Bell", "Knock"], 2)
    '"Water tap, faucet", Bell and 1 more'
    """
    quoted = (f'"{printable(name)}"' if ", " in name else printable(name) for name in names[:most])
    shown, more = ", ".join(quoted), (count or len(names)) - most
    return shown if more <= 0 else f"{shown} and {more:,} more"
