"""A page for each public name, made from its docstring; and one for what functions return."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import seldio

from . import cell, page, table

GROUPS = {
    "Check": ("validate", "info", "catalogue", "cite", "diff", "Validation", "Report", "Finding", "Severity"),
    "Read, write, convert": (
        "read",
        "write",
        "convert",
        "export",
        "Event",
        "to_events",
        "from_events",
        "spans",
        "to_pandas",
    ),
    "Score": ("score", "compare", "rank", "verify", "SeldAccumulator"),
    "Submit": ("package",),
    "Show": ("view", "plot"),
    "Train": ("open", "windows", "decode"),
    "The Hub": ("push", "pull"),
    "Run in parallel": ("running",),
    "Errors": ("SeldioError", "UsageError", "UnknownFormat", "InvalidData", "LossError"),
}


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of each page."""
    yield "python.md", _index()
    for name in seldio.__all__:
        value = getattr(seldio, name)
        yield f"python/{name}.md", page(f"seldio.{name}", *_entry(f"seldio.{name}", value), orphan=True)
    lines = ["The classes that public functions return or take.", ""]
    for value in results():
        lines += [f"## {value.__qualname__}", "", f"`{value.__module__}.{value.__qualname__}`", ""]
        lines += _entry(value.__qualname__, value, level=3)
    yield "results.md", page("Results", *lines)


def _index() -> str:
    named = {name for names in GROUPS.values() for name in names}
    assert named == set(seldio.__all__), named ^ set(seldio.__all__)
    lines = [("The functions have the names, options and defaults of the [commands](commands.md): what is "
             "`seldio convert --allow-loss` on the command line is `seldio.convert(..., allow_loss=...)` in Python. "
             "What they return is on the page [Results](results.md)."), ""]  # fmt: skip
    for title, names in GROUPS.items():
        rows = [(f"[seldio.{name}](python/{name}.md)", _first(getattr(seldio, name))) for name in names]
        lines += [f"## {title}", "", *table(("name", "what"), rows)]
    return page("Python", *lines)


def _first(value: Any) -> str:
    text = _inline((inspect.getdoc(value) or "").split("\n\n")[0])
    return cell(text)


def results() -> list[type]:
    """The classes of the package that public functions return or take, public names aside; sorted by name."""
    public = [getattr(seldio, name) for name in seldio.__all__]
    for module in ("viewer.page", "reports.tables", "challenge"):  # loaded when they are asked for
        import_module(f"seldio.{module}")
    named = {
        word for value in public if inspect.isfunction(value)
        for word in re.findall(r"[A-Z]\w+", str(inspect.signature(value).return_annotation))
        + re.findall(r"Unpack\[(\w+)\]", str(inspect.signature(value)))
    }  # fmt: skip
    found = {
        name: value
        for module in [sys.modules[name] for name in sorted(sys.modules) if name.startswith("seldio.")]
        for name, value in vars(module).items()
        if name in named and name not in seldio.__all__ and inspect.isclass(value) and "seldio." in value.__module__
    }
    return [found[name] for name in sorted(found)]


def _entry(name: str, value: Any, level: int = 2) -> Iterator[str]:
    """A function, or a class with its public methods."""
    if not inspect.isclass(value):
        yield from ("```python", f"{name}{_signature(value)}", "```", "")
    yield from _text(inspect.getdoc(value) or "")
    for key, member in vars(value).items() if inspect.isclass(value) else ():
        if key.startswith("_") or key == "model_config":
            continue
        if isinstance(member, property):
            yield from (f"{'#' * level} {key}", "", *_text(inspect.getdoc(member) or ""))
        elif inspect.isfunction(member):
            yield from (f"{'#' * level} {key}", "", "```python", f"{key}{_signature(member)}", "```", "")
            yield from _text(inspect.getdoc(member) or "")


def _signature(function: Callable[..., Any]) -> str:
    """Parameters and result, without what a module is called where a type lives; long ones a line each."""
    signature = inspect.signature(function)
    shown = [_parameter(each) for each in signature.parameters.values() if each.name != "self"]
    marks = [each.kind for each in signature.parameters.values() if each.name != "self"]
    if inspect.Parameter.KEYWORD_ONLY in marks:
        shown.insert(marks.index(inspect.Parameter.KEYWORD_ONLY), "*")
    result = str(signature.return_annotation).replace("'", "").replace("arrow_types.", "pa.")
    one = f"({', '.join(shown)}) -> {result}"
    return one if len(one) < 90 else "(\n    " + ",\n    ".join(shown) + f",\n) -> {result}"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    kind = parameter.annotation
    named = "" if kind is parameter.empty else f": {kind if isinstance(kind, str) else inspect.formatannotation(kind)}"
    default = repr(parameter.default).replace("mappingproxy({})", "{}")
    default = default if parameter.default is parameter.empty or "<" not in default else str(parameter.default)
    given = "" if parameter.default is parameter.empty else f" = {default}" if named else f"={default}"
    return f"{stars}{parameter.name}{named}{given}"


def _inline(text: str) -> str:
    """Markup of a docstring as Markdown; names of the package are code."""
    text = re.sub(r":\w+:`~?\.?([^`]+)`", r"`\1`", text).replace("``", "`")
    return re.sub(r"(?<![`*\w])\*(\w+)\*(?![`*\w])", r"`\1`", text)


def _text(text: str) -> Iterator[str]:
    """A docstring as Markdown: names as code, its sections as lists."""
    for paragraph in _inline(text).split("\n\n"):
        head, _, rest = paragraph.partition("\n")
        if head in ("Args:", "Attributes:", "Returns:", "Raises:", "Yields:"):
            yield from (f"**{head.rstrip(':').replace('Args', 'Arguments')}**", "")
            if head in ("Returns:", "Yields:"):
                yield " ".join(rest.split())
            else:
                entries = (entry.split() for entry in re.split(r"\n(?! )", inspect.cleandoc(rest)))
                yield from (re.sub(r"^([\w, ]+): ", r"- `\1`: ", " ".join(entry)) for entry in entries)
        elif paragraph.startswith("- "):
            yield from (" ".join(entry.split()) for entry in re.split(r"\n(?=- )", paragraph))
        elif ">>>" in paragraph:
            yield from ("```pycon", *inspect.cleandoc(paragraph).split("\n"), "```")
        else:
            yield " ".join(paragraph.split())
        yield ""
