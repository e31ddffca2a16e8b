"""The pictures of the concept pages, as SVG: each has a ground of its own, and colours for light and dark."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from seldio.answers.matching import exact_match, string_match
from seldio.answers.options import read_option
from seldio.clock import video_error
from seldio.media import arrays

ROOT = Path(__file__).resolve().parent
WIDTH = 720
_STYLE = (
    "text{fill:#1b2733;font:13px system-ui,sans-serif}.ground{fill:#fff;stroke:#d5dde5}.soft{fill:#53677a}"
    ".strong{font-weight:600}.small{font-size:11px}.line{stroke:#53677a;fill:none}.faint{stroke:#c6d0da;fill:none}"
    ".blue{stroke:#2f6db0;fill:#2f6db0}.red{stroke:#b3402f;fill:#b3402f}.green{stroke:#2c7a4b;fill:#2c7a4b}"
    ".hollow{fill:none}.pale{fill:#e9edf2;stroke:#c6d0da}.wide{stroke-width:2}"
    "text.blue,text.red,text.green{stroke:none}.dashed{stroke-dasharray:4 3}"
    "@media(prefers-color-scheme:dark){text{fill:#e4eaf0}.ground{fill:#161c22;stroke:#33404b}.soft{fill:#a3b5c5}"
    ".line{stroke:#a3b5c5}.faint{stroke:#3a4753}.blue{stroke:#7db4ee;fill:#7db4ee}.red{stroke:#f0907f;fill:#f0907f}"
    ".green{stroke:#74c795;fill:#74c795}.pale{fill:#26313b;stroke:#3a4753}.hollow{fill:none}}"
)


def drawings() -> dict[str, str]:
    """Each picture by its place in the repository."""
    made = {
        "azimuth": azimuth(),
        "channels": channels(),
        "radians": radians(),
        "frames": frames(),
        "video-clock": video_clock(),
        "official-programs": official_programs(),
        "protocols": protocols(),
        "listening": listening(),
    }
    return {f"docs/concepts/{name}.svg": drawing for name, drawing in made.items()}


# --- what the pictures are made from ---------------------------------------------------------------


def _svg(height: float, title: str, parts: Iterator[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="ground" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1:g}" rx="10"/>',
    )
    return "\n".join([*head, *parts, "</svg>", ""])


def _text(x: float, y: float, text: str, style: str = "", anchor: str = "start") -> str:
    kind = f' class="{style}"' if style else ""
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}"{where}>{escape(text)}</text>'


def _line(points: Sequence[tuple[float, float]], style: str = "line") -> str:
    return f'<polyline class="{style}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def _rect(x: float, y: float, width: float, height: float, style: str = "pale") -> str:
    return f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2"/>'


def _dot(x: float, y: float, radius: float = 4, style: str = "blue") -> str:
    return f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'


def _seen(x: float, y: float, azimuth: float, radius: float) -> tuple[float, float]:
    """Where a direction lies on a circle seen from above, the front up and the left on the left."""
    return x - radius * math.sin(math.radians(azimuth)), y - radius * math.cos(math.radians(azimuth))


def _arc(x: float, y: float, radius: float, first: float, last: float, style: str) -> Iterator[str]:
    """An arrow along a circle, from one azimuth to another."""
    steps = [_seen(x, y, first + (last - first) * step / 24, radius) for step in range(25)]
    yield _line(steps, f"{style} hollow wide")
    turn = math.copysign(9, last - first)
    for width in (-4, 4):
        yield _line([_seen(x, y, last - turn, radius + width), steps[-1]], f"{style} hollow wide")


# --- the pictures ----------------------------------------------------------------------------------

#: Conventions of azimuth: name, note, the numbers of front, left, back and right, and of a source 50° to the right.
CONVENTIONS = (
    ("−180 to 180", "DCASE, STARSS23, SO-Bench", ("0", "90", "±180", "−90"), "−50", 1),
    ("0 to 360", "TWNM-FOA, physics", ("0", "90", "180", "270"), "310", 1),
    ("clockwise", "XModBench, SAET, compasses", ("0", "−90", "±180", "90"), "50", -1),
    ("arctan2(x, y)", "arguments exchanged", ("90", "0", "−90", "180"), "140", -1),
)


def azimuth() -> str:
    """One source in four conventions."""

    def parts() -> Iterator[str]:
        for number, (name, note, (front, left, back, right), value, turn) in enumerate(CONVENTIONS):
            x, y, radius = 92 + number * 179, 104, 48
            yield f'<circle class="faint" cx="{x}" cy="{y}" r="{radius}"/>'
            yield f'<path class="pale" d="M{x - 6} {y - 5}L{x} {y - 17}L{x + 6} {y - 5}z"/>'
            yield _dot(x, y, 7, "pale")
            yield _text(x, y - radius - 8, front, "small soft", "middle")
            yield _text(x, y + radius + 17, back, "small soft", "middle")
            yield _text(x - radius - 7, y + 4, left, "small soft", "end")
            yield _text(x + radius + 7, y + 4, right, "small soft")
            style = "blue" if turn > 0 and number == 0 else "red"
            yield from _arc(x, y, radius - 16, 15 * turn, 75 * turn, style)
            a, b = _seen(x, y, -50, radius)
            yield _dot(a, b, 5, style)
            yield _text(a + 8, b - 4, value, f"strong {style}")
            yield _text(x, 196, name, "strong", "middle")
            yield _text(x, 213, note, "small soft", "middle")
        yield _text(20, 26, "One source, 50° to the right of the front, seen from above", "strong")

    return _svg(230, "The azimuth of one source in four conventions", parts())


#: What W, Y, Z and X of a source straight to the left are, by order and normalisation; the order is that of the file.
ORDERS = (
    ("ACN, SN3D", "STARSS23, AmbiX", (("W", 1.0), ("Y", 1.0), ("Z", 0.0), ("X", 0.0))),
    ("ACN, N3D", "many research tools", (("W", 1.0), ("Y", 3**0.5), ("Z", 0.0), ("X", 0.0))),
    ("FuMa", "old B-format", (("W", 0.5**0.5), ("X", 0.0), ("Y", 1.0), ("Z", 0.0))),
)


def channels() -> str:
    """Patterns of FOA, the capsules of MIC, and the four channels of one source in three orders."""

    def parts() -> Iterator[str]:
        yield _text(20, 26, "FOA: four patterns at one point", "strong")
        for number, (name, view) in enumerate((("W", "from above"), ("Y", "from above"), ("Z", "from the left"),
                                               ("X", "from above"))):  # fmt: skip
            x, y = 66 + number * 100, 88
            for sign, style in ((1, "blue"), (-1, "red")):
                points = list(_lobe(name, x, y, sign))
                if points:
                    yield _line(points, f"{style} hollow wide")
            yield _text(x, 152, name, "strong", "middle")
            yield _text(x, 168, view, "small soft", "middle")
        yield _text(440, 26, "MIC: four capsules on a rigid sphere", "strong")
        yield from _capsules(560, 98)
        yield _text(20, 204, "The same plane wave from the left (azimuth 90°), channel by channel", "strong")
        for number, (name, note, gains) in enumerate(ORDERS):
            x = 20 + number * 236
            yield _text(x, 226, name, "strong")
            yield _text(x + 84, 226, note, "small soft")
            for channel, (letter, gain) in enumerate(gains):
                y = 240 + channel * 20
                yield _text(x, y + 11, f"{channel + 1}  {letter}")
                yield _rect(x + 34, y, max(gain, 0.01) * 80, 13, "blue")
                yield _text(x + 42 + gain * 80, y + 11, f"{gain:.2f}", "small soft")

    return _svg(332, "Channels of first-order Ambisonics and of the tetrahedral array", parts())


def _lobe(name: str, x: float, y: float, sign: int) -> Iterator[tuple[float, float]]:
    """The part of a pattern where it has one sign, from above, or for Z from the side."""
    for angle in range(0, 363, 3):
        above = (0, angle) if name == "Z" else (angle, 0)
        gain = float(arrays.foa_response(*above)[0]["WYZX".index(name)])
        if name == "Z":  # on the circle over the head, the front to the left
            gain = math.sin(math.radians(angle))
            radius = 40 * max(0.0, sign * gain)
            yield x - radius * math.cos(math.radians(angle)), y - radius * math.sin(math.radians(angle))
        elif name != "W" or sign > 0:
            yield _seen(x, y, angle, 40 * max(0.0, sign * gain))


def _capsules(x: float, y: float) -> Iterator[str]:
    yield _dot(x, y, 46, "faint")
    yield _text(x, y - 54, "front", "small soft", "middle")
    yield _text(x - 56, y + 4, "left", "small soft", "end")
    for number, (azimuth, elevation) in enumerate(arrays.CAPSULES, 1):
        a, b = _seen(x, y, azimuth, 38)
        yield _dot(a, b, 6, "blue" if elevation > 0 else "red")
        left = azimuth > 0
        yield _text(a - 12 if left else a + 12, b + 4, f"M{number} {'up' if elevation > 0 else 'down'}", "small",
                    "end" if left else "start")  # fmt: skip


def radians() -> str:
    """The same sources in degrees, and in radians that are read as degrees."""
    places = [(-150, 5), (-118, -12), (-96, 20), (-72, 0), (-50, 30), (-31, -25), (-8, 8), (14, -5), (38, 18),
              (60, -35), (85, 10), (112, 38), (139, -8), (166, 22)]  # fmt: skip

    def parts() -> Iterator[str]:
        for number, (title, row, scale, style) in enumerate(
            (
                ("Degrees", "10,1,1,-50,30", 1.0, "blue"),
                ("Radians, read as degrees", "10,1,1,-0.873,0.524", math.pi / 180, "red"),
            )
        ):
            left, top, width, height = 28 + number * 346, 46, 318, 159
            yield _text(left, 32, title, "strong")
            yield _text(left + width, 32, row, "small soft", "end")
            yield _rect(left, top, width, height)
            for azimuth in (180, 90, 0, -90, -180):
                x = left + (180 - azimuth) / 360 * width
                yield _line([(x, top), (x, top + height)], "faint")
                yield _text(
                    x, top + height + 16, f"{azimuth:+d}".replace("-", "−") if azimuth else "0", "small soft", "middle"
                )
            yield _line([(left, top + height / 2), (left + width, top + height / 2)], "faint")
            for azimuth, elevation in places:
                x = left + (180 - azimuth * scale) / 360 * width
                y = top + (90 - elevation * scale) / 180 * height
                yield _dot(x, y, 4, style)

    return _svg(242, "Fourteen sources in degrees, and in radians that are read as degrees", parts())


def frames() -> str:
    """An event on label frames, and which frames the programs leave out."""
    left, step = 132, 25.5

    def parts() -> Iterator[str]:
        yield _text(20, 28, "Label frame k is the time from k × 0.1 s to (k + 1) × 0.1 s", "strong")
        yield _text(20, 62, "20 ms frames", "soft")
        yield _text(20, 90, "label frames", "soft")
        for number in range(22):
            x = left + number * step
            for part in range(5):
                yield _rect(x + part * step / 5, 50, step / 5, 16)
            yield _rect(x, 76, step, 22, "blue hollow" if 3 <= number <= 7 else "pale")
            yield _text(x + step / 2, 91, str(number), "small", "middle")
        for title, last, style, y in (
            ("frames 3 to 7", 8, "green", 124),
            ("last frame as end", 7, "red", 152),
        ):
            yield _text(20, y, title, "soft")
            yield _rect(left + 3 * step, y - 11, (last - 3) * step, 13, style)
            yield _text(left + last * step + 8, y, f"0.3 s to {last / 10:.1f} s" + (
                "" if last == 8 else ": 100 ms too short"), style)  # fmt: skip
        yield _text(20, 190, "Frames that are scored, where the last label is in frame 20", "strong")
        for title, y in (("2022, 2023", 204), ("2024, 2025", 230)):
            yield _text(20, y + 15, title, "soft")
            for number in range(22):
                style = "green hollow" if number < 20 else "red hollow dashed" if number < 21 else "pale"
                yield _rect(left + number * step + 1, y, step - 2, 20, style)
        yield _text(left + 20.5 * step, 268, "frame 20 is lost", "small red", "middle")

    return _svg(280, "Label frames, the end of an event, and the frames that are scored", parts())


def video_clock() -> str:
    """By how much the video frame of a label frame is late, over five minutes."""
    left, top, width, height = 70, 46, 500, 190

    def place(seconds: float, late: float) -> tuple[float, float]:
        return left + seconds / 300 * width, top + height - (late + 50) / 400 * height

    def parts() -> Iterator[str]:
        yield _text(20, 28, "How late the video frame of a label frame is, at 30000/1001 fps", "strong")
        for late in (0, 100, 200, 300):
            yield _line([place(0, late), place(300, late)], "line" if late == 0 else "faint")
            yield _text(left - 8, place(0, late)[1] + 4, f"{late} ms", "small soft", "end")
        for seconds in range(0, 301, 60):
            yield _text(place(seconds, 0)[0], top + height + 16, f"{seconds} s", "small soft", "middle")
        for name, style, note, at in (
            ("dcase2024", "red", "every third frame", 300),
            ("dcase2026", "green", "fps=10 from 0", 52),
            ("centre", "blue", "nearest time stamp", -8),
        ):
            points = [place(k / 10, float(video_error(k, name)) * 1000) for k in range(0, 3001, 20)]
            yield _line(points, f"{style} hollow wide")
            y = place(300, at)[1]
            yield _text(left + width + 8, y, name, f"strong {style}")
            yield _text(left + width + 8, y + 14, note, "small soft")
        for label_frame in (1000, 2000):
            x, y = place(label_frame / 10, label_frame / 10)
            yield _dot(x, y, 4, "red")
            late = label_frame // 1000
            yield _text(x - 8, y - 8, f"{late} label frame{'s' if late > 1 else ''} late", "small", "end")

    return _svg(270, "How late the video frame of a label frame is, by convention", parts())


#: The same predictions: the F-score of what they say, and what the official program makes of the file.
MISREADINGS = (
    ("2022 and 2023: submission of 4 columns", 27.9, 0.0),
    ("2024: submission of 5 columns", 26.7, 0.84),
    ("Sony 2023: output of 7 columns", 49.7, 4.3),
    ("2022 to 2024: all right, 1 of 13 classes, macro", 100.0, 100 / 13),
)


def official_programs() -> str:
    """F-scores of predictions as they are meant and as official programs have them."""

    def parts() -> Iterator[str]:
        yield _text(20, 28, "F (%) of one and the same prediction file", "strong")
        for number, (title, meant, read) in enumerate(MISREADINGS):
            y = 48 + number * 46
            yield _text(20, y + 20, title)
            for row, (value, style) in enumerate(((meant, "blue"), (read, "red"))):
                yield _rect(330, y + row * 18, max(value * 3.2, 1), 14, style)
                yield _text(338 + value * 3.2, y + row * 18 + 12, f"{value:.3g}", "small")
        y = 48 + len(MISREADINGS) * 46
        yield _rect(330, y, 12, 12, "blue")
        yield _text(348, y + 11, "what the file says", "small soft")
        yield _rect(480, y, 12, 12, "red")
        yield _text(498, y + 11, "what the program prints", "small soft")

    return _svg(256, "F-scores of predictions as written and as official programs read them", parts())


#: A question, the letter and the text of its answer, and answers of models.
OPTIONS = ("pier", "boat", "street", "forest")
ANSWERS = ("B", "B.", " B", "B) boat", "boat", "The boat, option B", "ANSWER: B", "В", "a boat, not a street", "")


def verdicts(answer: str) -> tuple[bool, bool, bool]:
    """Whether three ways of reading take *answer* for option B, boat."""
    return exact_match(answer, "B"), string_match(answer, "boat", OPTIONS), read_option(answer, OPTIONS) == "boat"


def protocols() -> str:
    """Which answers three protocols count as right."""

    def parts() -> Iterator[str]:
        yield _text(20, 28, "Options pier, boat, street, forest; boat (B) is right", "strong")
        for x, title, note in (
            (310, "exact match", "lm-eval, ruEnvAQA"), (450, "string match", "MMAU, MMAR"),
            (610, "as read", "seldio’s multiple-choice"),
        ):  # fmt: skip
            yield _text(x, 54, title, "strong", "middle")
            yield _text(x, 70, note, "small soft", "middle")
        for number, answer in enumerate(ANSWERS):
            y = 94 + number * 24
            yield _line([(20, y - 17), (700, y - 17)], "faint")
            shown = f"“{answer}”" + (" (Cyrillic)" if answer == "В" else " (space first)" if answer == " B" else "")
            yield _text(20, y, shown if answer else "no answer")
            for x, right in zip((310, 450, 610), verdicts(answer), strict=True):
                yield _mark(x, y - 4, right)

    return _svg(94 + 24 * len(ANSWERS), "Which answers three protocols count as right", parts())


def _mark(x: float, y: float, right: bool) -> str:
    if right:
        return _line([(x - 6, y), (x - 1, y + 5), (x + 7, y - 6)], "green hollow wide")
    shape = f"M{x - 5} {y - 5}L{x + 5} {y + 5}M{x - 5} {y + 5}L{x + 5} {y - 5}"
    return f'<path class="red hollow wide" d="{shape}"/>'


def listening() -> str:
    """Rates of detection by error, from the table of the page."""
    page = (ROOT / "concepts/listening.md").read_text("utf-8")
    wanted = ("none", "azimuth mirrored", "rotated by 90°", "rotated by 20°", "FuMa order", "0.5 s early",
              "labels of another clip")  # fmt: skip
    header = re.search(r"^\| error in FOA \| (.*) \|$", page, re.MULTILINE)
    assert header is not None, "the page has no rates"
    totals = [int(number) for number in re.findall(r"(?:^| \| )\D*(\d+)", header[1])]
    rates = {}
    for name in wanted:
        row = re.search(rf"^\| {name} \| (\d+(?: \| \d+){{3}}) \|$", page, re.MULTILINE)
        assert row is not None, f"the page has no rates for {name}"
        rates[name] = [int(cell) / of * 100 for cell, of in zip(row[1].split(" | "), totals, strict=True)]

    def parts() -> Iterator[str]:
        yield _text(20, 28, "Share of FOA clips in which --deep names the error (%)", "strong")
        for number, (name, shares) in enumerate(rates.items()):
            y = 46 + number * 40
            yield _text(20, y + 19, "right labels" if name == "none" else name)
            for row, (share, style) in enumerate(((shares[0], "pale"), (shares[3], "blue"))):
                yield _rect(210, y + row * 14, max(share * 4.3, 1), 12, style)
                yield _text(218 + share * 4.3, y + row * 14 + 10, f"{share:.0f}", "small")
        y = 52 + len(rates) * 40
        yield _rect(210, y, 12, 12, "pale")
        yield _text(228, y + 11, "all rooms, 0 to 30 dB", "small soft")
        yield _rect(390, y, 12, 12, "blue")
        yield _text(408, y + 11, "20 dB, 0.4 s or better, 10 events heard", "small soft")

    return _svg(72 + 40 * len(rates), "Share of clips in which an error is named", parts())


if __name__ == "__main__":
    for path, drawing in drawings().items():
        (ROOT.parent / path).write_text(drawing, "utf-8")
