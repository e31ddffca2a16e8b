"""The errors that seldio raises, and the exit code each kind ends with.

::

    SeldioError                 could not work                       exit 3
    ├── MissingLibrary          a library has to be installed        exit 3
    ├── UsageError              the request makes no sense           exit 2
    │   └── UnknownFormat       a file whose format must be named    exit 2
    └── DataError               the data is wrong                    exit 1
        ├── InvalidData         a finding met while loading          exit 1
        └── LossError           the target cannot carry some fields  exit 1

A message is written once, with the options of the command line, which :attr:`SeldioError.text` has; as an exception
in Python it names arguments instead: ``--fill distance=2`` is ``fill={"distance": 2}`` there.

Wrong data met while *validating* is never an exception: it is a
:class:`~seldio.findings.Finding` in a report.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from seldio.findings import Finding


class ExitCode(IntEnum):
    """The exit codes of the ``seldio`` command."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    FAILURE = 3


#: The arguments in Python of options with other names there.
PYTHON_NAMES = {"to": "target", "as": "kind", "o": "out"}
#: Options without a value.
FLAGS = frozenset((
    "allow-missing", "audio", "deep", "diff", "drop-unfit", "dry-run", "fix", "force", "link-media",
    "no-media", "onscreen", "overwrite", "private", "unsafe-fixes",
))  # fmt: skip
#: Values of options that look like any other word of a sentence.
VALUES = frozenset((
    "audiofolder", "balanced", "bootstrap", "en", "eval", "files", "foa", "jackknife", "jasco", "mic", "order",
    "parquet", "ru", "test", "train", "validation", "webdataset",
))  # fmt: skip
_OPTION = re.compile(
    r"seldio [a-z]+(?: --?[a-z][a-z-]*)+"  # a command to run: it stays
    r"|(?<![\w-])-(?:-(?P<name>[a-z][a-z-]*)|(?P<short>o))(?![\w-])"
    r"(?: (?P<key>\w+)=(?P<given>[^\s;()]*[^\s:;(),.])| (?P<place>[A-Z]{2,}\b)| (?P<word>[a-z0-9][\w.,-]*\b))?"
)


def in_python(text: str) -> str:
    """Return a message as it reads where options are arguments of a function."""
    # of an option that is repeated, Python takes one mapping
    return re.sub(r"\} (?:fill|judge_set|margin|threshold)=\{", ", ", _OPTION.sub(_argument, text))


def _argument(match: re.Match[str]) -> str:
    option = match["name"] or match["short"]
    if option is None:
        return match[0]
    name = PYTHON_NAMES.get(option, option.replace("-", "_"))
    if match["key"] and option in ("fields", "reference-fields", "intervals"):
        return f'{name}="{match["key"]}={match["given"]}"'
    if match["key"]:
        return f'{name}={{"{match["key"]}": {_literal(match["given"])}}}'
    if match["place"]:
        return f"{name}={match['place']}"
    word = match["word"] or ""
    if option in FLAGS or option == "no-audio":
        flag = f"{name}=True" if option in FLAGS else "audio=False"
        return f"{flag}{word and f' {word}'}"
    colon = match.string[match.end() :].startswith(":")
    if word in VALUES or re.search(r"[0-9,-]", word) or (word and (colon or option == "allow-loss")):
        return f"{name}={_literal(word)}"
    return name if colon else f"{name}={word and f' {word}'}"


def _literal(value: str) -> str:
    return value if re.fullmatch(r"-?\d+(\.\d+)?|[A-Z]{2,}", value) else f'"{value}"'


class SeldioError(Exception):
    """Seldio could not do its work (disk, permission, a limit of the machine)."""

    exit_code = ExitCode.FAILURE

    @property
    def text(self) -> str:
        """The message, with the options of the command line."""
        return super().__str__()

    def __str__(self) -> str:
        return in_python(self.text)


#: Libraries that are imported at their use, with what needs them; browsers and small containers may lack them.
LIBRARIES = {
    "av": "videos, resampling and deep checks",
    "huggingface_hub": "the Hub (push, pull, hf://) and the judge",
    "matplotlib": "plots",
    "rapidfuzz": "the word error rates of transcripts",
    "soundfile": "recordings",
    "soxr": "windows at another rate (rate=)",
}


class MissingLibrary(SeldioError, ImportError):
    """A library that this task needs is not installed, or too old a version of it.

    Args:
        library: one of :data:`LIBRARIES`.
        found: the version that is installed, if there is one.
        least: the first version that will do.
    """

    @property
    def text(self) -> str:
        """Return what is missing, what needs it, and how to install it."""
        library, *versions = self.args
        if not versions:
            return f"{library} is not installed, and {LIBRARIES[library]} need it: pip install {library}"
        has, least = versions
        return f"{library} {has} is installed, and {LIBRARIES[library]} need {least}: pip install '{library}>={least}'"


@contextmanager
def needing(library: str, least: str = "") -> Iterator[None]:
    """Wrap the import of one of :data:`LIBRARIES`: say what to install where it is missing, or older than *least*."""
    try:
        if least:
            from importlib.metadata import version  # only where the version matters

            installed, wanted = ([*map(int, re.findall(r"\d+", text)[:2])] for text in (version(library), least))
            if installed < wanted:
                raise MissingLibrary(library, version(library), least)
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise
        raise MissingLibrary(library) from None


class UsageError(SeldioError):
    """The request itself makes no sense: an unknown name, options that cannot be used together."""

    exit_code = ExitCode.USAGE


class UnknownFormat(UsageError):
    """The format of a file cannot be told from its content, or no such format exists."""


class DataError(SeldioError):
    """The data is wrong."""

    exit_code = ExitCode.FINDINGS


class InvalidData(DataError):
    """A finding of severity *error* met while loading, and *more* to say about it."""

    def __init__(self, finding: Finding, more: str = "") -> None:
        self.finding = finding
        super().__init__(f"{finding}{more}")


class LossError(DataError):
    """The target format cannot carry some fields; :attr:`losses` maps each field to what is lost."""

    def __init__(self, target: str, losses: Mapping[str, str]) -> None:
        self.target = target
        self.losses = dict(losses)
        listing = "; ".join(f"{field} ({what})" for field, what in self.losses.items())
        super().__init__(
            f"{target} cannot carry {listing}. To accept this loss, use --allow-loss {','.join(self.losses)}"
        )
