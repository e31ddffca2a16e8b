"""The page itself: data, style and script put into the template so that nothing in the data can act."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from string import Template
from typing import Any

from seldio.pictures.page.media import Media


def document(record: dict[str, Any], media: Media) -> bytes:
    """The page about *record*, UTF-8.

    Its policy lets the page load nothing and run this one script only, known by its hash.
    """
    style, script = _part("page.css"), _part("page.js")
    sources = "data: file: 'self'" if media.linked else "data:"
    policy = "; ".join(
        (
            "default-src 'none'", f"script-src '{_hash(script)}'", f"style-src '{_hash(style)}'",
            f"media-src {sources}", "base-uri 'none'", "form-action 'none'",
        )
    )  # fmt: skip
    text = Template(_part("page.html")).substitute(
        policy=html.escape(policy, quote=True),
        title=html.escape(record["clip"]),
        style=style,
        script=script,
        data=embedded(record),
        player=_player(media),
    )
    return text.encode("utf-8", errors="backslashreplace")


def embedded(record: Any) -> str:
    """*record* as json that can stand in a script element, whatever its texts say.

    ``<``, ``>`` and ``&`` are written as json escapes, so that no text can end the element or open a comment;
    numbers that json does not have are an error.
    """
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda found: f"\\u{ord(found.group()):04x}", text)


def _part(name: str) -> str:
    return files(__name__.rpartition(".")[0]).joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _player(media: Media) -> str:
    """The elements that play; the sound is in the video where there is a copy of both."""
    video = f'<video id="video" playsinline preload="auto" src="{html.escape(media.video)}"></video>'
    audio = f'<audio id="audio" preload="auto" src="{html.escape(media.audio)}"></audio>'
    return (video if media.video else "") + (audio if media.audio else "")
