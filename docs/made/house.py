"""The picture of ``docs/design.md``: the rooms of seldio floor by floor, and which of them import which."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent
SOURCE = DOCS.parent / "src/seldio"
WIDTH, HEIGHT, GAP, BOX = 760, 70, 10, 34  # of the picture, of a floor, between rooms, of a room; in pixels
#: All rooms use those of so many floors, and no line is drawn to them.
BELOW = 3
#: The steps of a file through the rooms, as the page numbers them.
STEPS = {"files": "1", "catalogues": "2", "formats": "3, 4", "rules": "5", "check": "6", "reports": "7"}
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328; text-anchor: middle }
  rect { fill: #eef3f8; stroke: #8c9db0 } .path rect { fill: #cfe3f7; stroke: #2f6fab } path { fill: none }
  path { stroke: #8c9db0; stroke-opacity: .35 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } rect { fill: #1d2733; stroke: #5b6b7c } .path rect { fill: #123a5e; stroke: #6cb0f0 }
  }
"""


def floors() -> list[list[str]]:
    """Return the rooms of each floor as the page lists them, the lowest floor first."""
    rows = re.findall(r"^\| \d+ \| ([^|]+) \|", (DOCS / "design.md").read_text("utf-8"), re.MULTILINE)
    return [[name.strip("/") for name in re.findall(r"`([\w/]+)`", row)] for row in rows]


def imports(rooms: list[str]) -> set[tuple[str, str]]:
    """Return each room with each that it imports from."""
    pairs: set[tuple[str, str]] = set()
    for path in sorted(SOURCE.rglob("*.py")):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "seldio":
                names = [node.module.split(".")[1]] if "." in node.module else [alias.name for alias in node.names]
                pairs.update((room, name) for name in names if name in rooms and name != room)
    return pairs


def places(levels: list[list[str]]) -> dict[str, tuple[float, float, float]]:
    """Return the left end, the top and the width of each room; the highest floor is at the top."""
    found = {}
    for level, rooms in enumerate(reversed(levels)):
        widths = [8.2 * len(room) + 34 for room in rooms]
        left = (WIDTH - sum(widths) - GAP * (len(rooms) - 1)) / 2
        for room, width in zip(rooms, widths, strict=True):
            found[room] = (left, level * HEIGHT + GAP, width)
            left += width + GAP
    return found


def picture() -> str:
    """Return the picture as SVG."""
    levels = floors()
    boxes = places(levels)
    lines = []
    drawn = list(itertools.chain(*levels[BELOW:-1]))
    for room, imported in sorted(imports(drawn)):
        (x, y, w), (to_x, to_y, to_w) = boxes[room], boxes[imported]
        if room in drawn and to_y > y:
            start, end, half = x + w / 2, to_x + to_w / 2, (y + BOX + to_y) / 2
            curve = f"M{start:.0f} {y + BOX:.0f} C{start:.0f} {half:.0f} {end:.0f} {half:.0f} {end:.0f} {to_y:.0f}"
            lines.append(f'<path d="{curve}"/>')
    for room, (x, y, w) in boxes.items():
        kind, label = ("path", f"{STEPS[room]}. {room}") if room in STEPS else ("aside", room)
        lines.append(
            f'<g class="{kind}"><rect x="{x:.0f}" y="{y:.0f}" width="{w:.0f}" height="{BOX}" rx="6"/>'
            f'<text x="{x + w / 2:.0f}" y="{y + 22:.0f}">{label}</text></g>'
        )
    height = len(levels) * HEIGHT - (HEIGHT - BOX) + 2 * GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}">'
    return "\n".join([f"{head}<style>{STYLE}</style>", *lines, "</svg>\n"])
