"""The table of the layers by which replies are read."""

from __future__ import annotations

from seldio.answers.layers import layers

from . import table


def layers_table() -> dict[str, str]:
    """The layers with their examples, by the name of its place in a page."""
    rows = []
    for number, layer in enumerate(layers(), 1):
        examples = [f"{_code(reply)} → {_code(said) if said else '–'}" for reply, said in layer.examples]
        rows.append((str(number), layer.name, layer.does, "<br>".join(examples)))
    return {"layers": "\n".join(table(("", "layer", "what it takes off or reads", "examples"), rows)).rstrip()}


def _code(text: str) -> str:
    """A reply as code in a cell."""
    return f"`{text}`".replace("\n", "⏎")
