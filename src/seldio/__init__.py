"""Read, check, fix, convert and score sound event localization and audio question answering data.

Functions have the names of the commands, and their arguments those of the options. ``help(seldio.score)`` explains one.

Check
    validate         check labels, submissions, questions, predictions and datasets, and repair them
    info             describe a source: formats and why, clips, events, classes, questions
    catalogue        say what each file of a source is
    cite             entries of BibTeX for datasets and benchmarks
    diff             compare two versions of labels, questions or predictions
    Validation       what validate returns: a Report with its verdict
    Report           findings, as text, DataFrame or JSON
    Finding          one thing wrong in one place
    Severity         error, warning, info
Read, write, convert
    read             labels, questions or predictions as one Arrow table
    write            a table as files of a format
    convert          labels, questions or recordings to another format
    export           a dataset as Parquet, WebDataset, AudioFolder or VideoFolder
    Event            one row of labels
    to_events        the rows of a table as Events
    from_events      a table of Events
    spans            events with onset and offset, of a table of frames
    to_pandas        a table as a DataFrame with units and class names
Score
    score            scores of one system, as the official programs compute them
    compare          systems side by side, with intervals and paired tests
    rank             systems by the sum of their ranks
    verify           tell whether files are those that a score was made of
    SeldAccumulator  scores while a model trains, without files
    package          the zip of a challenge submission
Show
    view             one HTML page about a clip
    plot             a picture of a clip: classes, directions and distances over time
Train
    open             a dataset: tables of clips, events and questions, recordings, videos
    windows          windows of sound and targets, to train on
    decode           labels of what a network puts out
Share
    push             send a dataset to the Hugging Face Hub
    pull             download one
    running          spread work over processes or machines, and resume it
Errors
    SeldioError      all of them; UsageError, UnknownFormat, InvalidData and LossError say more

Names are resolved on first use, so that ``import seldio`` costs next to nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from seldio.api import Validation as Validation
    from seldio.api import catalogue as catalogue
    from seldio.api import cite as cite
    from seldio.api import compare as compare
    from seldio.api import convert as convert
    from seldio.api import diff as diff
    from seldio.api import info as info
    from seldio.api import package as package
    from seldio.api import rank as rank
    from seldio.api import read as read
    from seldio.api import score as score
    from seldio.api import validate as validate
    from seldio.api import verify as verify
    from seldio.api import write as write
    from seldio.data import decode as decode
    from seldio.data import export as export
    from seldio.data import open as open
    from seldio.data import windows as windows
    from seldio.errors import InvalidData as InvalidData
    from seldio.errors import LossError as LossError
    from seldio.errors import SeldioError as SeldioError
    from seldio.errors import UnknownFormat as UnknownFormat
    from seldio.errors import UsageError as UsageError
    from seldio.findings import Finding as Finding
    from seldio.findings import Report as Report
    from seldio.findings import Severity as Severity
    from seldio.hub import pull as pull
    from seldio.hub import push as push
    from seldio.parallel import running as running
    from seldio.schema.event_rows import Event as Event
    from seldio.schema.event_rows import from_events as from_events
    from seldio.schema.event_rows import to_events as to_events
    from seldio.schema.frames import to_pandas as to_pandas
    from seldio.schema.spans import spans as spans
    from seldio.scores.seld.scoring import SeldAccumulator as SeldAccumulator
    from seldio.viewer.page import view as view
    from seldio.viewer.plot import plot as plot

#: The module of each public name.
_HOMES = {
    name: home
    for home, names in {
        "seldio.api": "read write convert info catalogue cite validate Validation diff "
        "score compare rank verify package",
        "seldio.viewer.page": "view",
        "seldio.viewer.plot": "plot",
        "seldio.data": "open windows decode export",
        "seldio.hub": "push pull",
        "seldio.parallel": "running",
        "seldio.schema.spans": "spans",
        "seldio.schema.frames": "to_pandas",
        "seldio.scores.seld.scoring": "SeldAccumulator",
        "seldio.schema.event_rows": "Event to_events from_events",
        "seldio.findings": "Finding Report Severity",
        "seldio.errors": "SeldioError UsageError UnknownFormat InvalidData LossError",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from seldio.plugins import version

        return version()
    # help() would print every docstring, 2,400 lines, where it finds __all__: the names are at the top of this module
    if name == "__all__" and sys._getframe(1).f_code.co_name != "docmodule":
        return [*_HOMES]
    if name in _HOMES:
        globals()[name] = getattr(import_module(_HOMES[name]), name)
        return globals()[name]
    raise AttributeError(f"module 'seldio' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*_HOMES, "__version__"]
