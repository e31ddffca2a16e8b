"""The picture of the house: packages on their floors, and an arrow for each import that is not implied by others.

The floors are those of the table in ``docs/design.md``; the arrows are measured from the imports of the code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

#: The page whose table has the floors.
PAGE = "docs/design.md"
SOURCE = Path(__file__).resolve().parent.parent / "src" / "seldio"
_WIDTH, _BAND, _BOX, _LEFT = 1120, 86, 38, 34
_PUBLIC = ("__init__", "__main__")
_ROOT = 'role="img" font-family="system-ui, sans-serif" font-size="13"'
_HEAD = (
    '<marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
    '<path d="M0 0 8 4 0 8z" fill="#2f6db0" fill-opacity=".7"/></marker>'
)
_STYLE = (
    "text{fill:#1b2733}.floor{fill:#f3f5f8}.odd{fill:#e9edf2}.place{fill:#fff;stroke:#5b7083}"
    ".arrow{fill:none;stroke:#2f6db0;stroke-opacity:.45;stroke-width:1.2}.number{fill:#5b7083;font-weight:600}"
    "@media(prefers-color-scheme:dark){text{fill:#e4eaf0}.floor{fill:#161c22}.odd{fill:#1c242c}"
    ".place{fill:#26313b;stroke:#8aa0b4}.arrow{stroke:#7db4ee}.number{fill:#8aa0b4}}"
)


def floors(page: str) -> dict[int, list[str]]:
    """The places of each floor, as the table of a page of Markdown lists them."""
    rows = re.findall(r"^\| (\d+) \| (.*?) \|", page, re.MULTILINE)
    return {int(number): [name.rstrip("/") for name in re.findall(r"`([^`]+)`", places)] for number, places in rows}


def imports(known: Mapping[str, int]) -> dict[str, set[str]]:
    """The places that each place imports from when it is loaded; what a function imports at its use is no arrow."""
    found: dict[str, set[str]] = {name: set() for name in known}
    for path in sorted(SOURCE.rglob("*.py")):
        here = path.relative_to(SOURCE).with_suffix("").parts[0]
        found[here] |= {name for name in _modules(ast.parse(path.read_text("utf-8")), known) if name != here}
    return found


def _modules(tree: ast.Module, known: Mapping[str, int]) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "seldio":
            parts = (node.module or "").split(".")[1:]
            yield from parts[:1] or (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("seldio."))


def needed(graph: Mapping[str, set[str]]) -> list[tuple[str, str]]:
    """The arrows that no way over other places implies."""

    def reached(name: str, known: dict[str, set[str]]) -> set[str]:
        if name not in known:
            known[name] = set()
            known[name] = set().union(*({other} | reached(other, known) for other in graph[name]))
        return known[name]

    known: dict[str, set[str]] = {}
    return [
        (name, other) for name, others in graph.items() for other in sorted(others)
        if not any(other in reached(between, known) for between in others - {other})
    ]  # fmt: skip


def drawing(page: str) -> str:
    """The house as SVG, for the floors of a *page*."""
    rows = floors(page)
    level = {name: number for number, names in rows.items() for name in names}
    graph = imports(level)
    top = max(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {(top + 1) * _BAND + 8}" {_ROOT}>',
        "<title>The packages of seldio on their floors, and what imports what</title>",
        f"<style>{_STYLE}</style>",
        f"<defs>{_HEAD}</defs>",
    ]
    at: dict[str, tuple[float, float, float]] = {}
    boxes: list[str] = []
    for number, names in sorted(rows.items(), reverse=True):
        y = (top - number) * _BAND + 4
        parts.append(f'<rect class="floor{" odd" if number % 2 else ""}" y="{y}" width="{_WIDTH}" height="{_BAND}"/>')
        parts.append(f'<text class="number" x="10" y="{y + _BAND / 2 + 4}">{number}</text>')
        step = (_WIDTH - _LEFT) / len(names)
        for place, name in enumerate(names):
            x, width = _LEFT + step * (place + 0.5), min(step - 12, 150)
            at[name] = (x, y + (_BAND - _BOX) / 2, width)
            boxes += _box(name, *at[name])
    for name, other in needed({name: others & level.keys() for name, others in graph.items()}):
        if name not in _PUBLIC:
            parts.append(_arrow(at[name], at[other]))
    return "\n".join([*parts, *boxes, "</svg>", ""])


def _box(name: str, x: float, y: float, width: float) -> Iterator[str]:
    yield f'<rect class="place" x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_BOX}" rx="6"/>'
    yield f'<text x="{x:.1f}" y="{y + _BOX / 2 + 4:.1f}" text-anchor="middle">{escape(name)}</text>'


def _arrow(start: tuple[float, float, float], end: tuple[float, float, float]) -> str:
    """From the foot of a box to the head of one below; beside each other, in an arc beneath."""
    (x, y, _), (u, v, _) = start, end
    foot, half = y + _BOX, (v - y - _BOX) / 2
    if y == v:
        curve = f"M{x:.1f} {foot:.1f}C{x:.1f} {foot + 16:.1f} {u:.1f} {foot + 16:.1f} {u:.1f} {foot:.1f}"
    else:
        curve = f"M{x:.1f} {foot:.1f}C{x:.1f} {foot + half:.1f} {u:.1f} {v - half:.1f} {u:.1f} {v:.1f}"
    return f'<path class="arrow" marker-end="url(#end)" d="{curve}"/>'


if __name__ == "__main__":
    print(drawing((SOURCE.parent.parent / "docs" / "design.md").read_text("utf-8")), end="")
