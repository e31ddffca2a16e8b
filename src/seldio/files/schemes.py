"""Sources that are fetched first: who fetches what begins with ``hf://``.

This floor reaches no network. Whoever can, registers a function here; :func:`seldio.files.open_source` calls it.
"""

from __future__ import annotations

from collections.abc import Callable

from seldio.files.entries import Limits

#: Takes the address and the limits, and returns the file or folder on disk.
Fetch = Callable[[str, Limits], str]
#: Takes an address, and returns that of its data set, the path below it, and the names of all files of the data set.
Listing = Callable[[str], tuple[str, str, tuple[str, ...]]]

_FETCHERS: dict[str, tuple[Fetch, Listing]] = {}


def register(scheme: str, fetch: Fetch, listing: Listing) -> None:
    """Let *fetch* bring what begins with ``scheme://`` to this machine, and *listing* tell what there is beside it."""
    _FETCHERS[scheme] = (fetch, listing)


def is_remote(source: str) -> bool:
    """Whether *source* has to be fetched first."""
    scheme, colon, _ = source.partition("://")
    return bool(colon) and scheme in _FETCHERS


def on_this_machine(source: str, limits: Limits) -> str:
    """Where *source* lies on disk; itself, if it need not be fetched.

    Raises:
        SeldioError: it cannot be fetched, or is over a limit.
    """
    return _FETCHERS[source.partition("://")[0]][0](source, limits) if is_remote(source) else source


def beside(source: str) -> tuple[str, str, tuple[str, ...]]:
    """The address of the data set that a remote *source* is of, its path in there, and the names of all files there.

    Raises:
        SeldioError: that cannot be asked.
    """
    return _FETCHERS[source.partition("://")[0]][1](source)
