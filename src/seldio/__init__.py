"""Read, check, fix, convert and score sound event localization and audio question answering data.

The public names are resolved on first use, so that ``import seldio`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from seldio.engines import running as running
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
    from seldio.schema.event_rows import Event as Event
    from seldio.schema.event_rows import from_events as from_events
    from seldio.schema.event_rows import to_events as to_events
    from seldio.schema.frames import to_pandas as to_pandas
    from seldio.schema.spans import spans as spans
    from seldio.scores.seld.scoring import SeldAccumulator as SeldAccumulator
    from seldio.viewer.page import view as view
    from seldio.viewer.plot import plot as plot

#: The module of each public name, spelt out so that a search for a name finds it.
_HOMES = {
    "read": "seldio.api",
    "write": "seldio.api",
    "info": "seldio.api",
    "catalogue": "seldio.api",
    "cite": "seldio.api",
    "validate": "seldio.api",
    "convert": "seldio.api",
    "diff": "seldio.api",
    "score": "seldio.api",
    "rank": "seldio.api",
    "verify": "seldio.api",
    "compare": "seldio.api",
    "package": "seldio.api",
    "view": "seldio.viewer.page",
    "plot": "seldio.viewer.plot",
    "open": "seldio.data",
    "windows": "seldio.data",
    "decode": "seldio.data",
    "export": "seldio.data",
    "push": "seldio.hub",
    "pull": "seldio.hub",
    "running": "seldio.engines",
    "spans": "seldio.schema.spans",
    "to_pandas": "seldio.schema.frames",
    "SeldAccumulator": "seldio.scores.seld.scoring",
    "Event": "seldio.schema.event_rows",
    "to_events": "seldio.schema.event_rows",
    "from_events": "seldio.schema.event_rows",
    "Finding": "seldio.findings",
    "Report": "seldio.findings",
    "Severity": "seldio.findings",
    "SeldioError": "seldio.errors",
    "UsageError": "seldio.errors",
    "UnknownFormat": "seldio.errors",
    "InvalidData": "seldio.errors",
    "LossError": "seldio.errors",
}


__all__ = [  # noqa: PLE0604 - resolved by __getattr__
    *_HOMES,
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from seldio.plugins import version

        return version()
    if name in _HOMES:
        from seldio.wings import needed

        with needed(f"seldio.{name}"):
            value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'seldio' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*_HOMES, "__version__"]
