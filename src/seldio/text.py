"""Untrusted text made safe to print: file names, cells and messages may hold anything."""

from __future__ import annotations

import re

# C0 and C1 controls, DEL, bidirectional controls, zero-width and other invisible characters,
# line and paragraph separators, the byte order mark, surrogates (undecodable bytes of file names).
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, smuggled in by surrogateescape
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def printable(text: str) -> str:
    r"""*text* with every character that could move the cursor, hide or reorder text escaped.

    >>> printable("dog\u202e.god\x1b[2J")
    'dog\\u202e.god\\x1b[2J'
    """
    return text if text.isascii() and text.isprintable() else _UNSAFE.sub(_escape, text)


def clipped(text: str, width: int = 60) -> str:
    """*text*, printable, and cut to *width* characters with an ellipsis that tells the full length."""
    if len(text) <= width:
        return printable(text)
    return f"{printable(text[:width])}… ({len(text):,} characters)"


def plural(count: int, noun: str, many: str | None = None) -> str:
    """``1 file``, ``2 files``: *count* with thousands separators and the noun in its number."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def listed(names: list[str] | tuple[str, ...], most: int = 5) -> str:
    """The first *most* names, comma separated, and how many more there are."""
    shown = ", ".join(printable(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
