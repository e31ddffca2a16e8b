"""Whether a node of a cluster sees the files that some work needs."""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Iterable
from pathlib import PurePath

from seldio.errors import SeldioError
from seldio.files import Entry
from seldio.text import listed, printable


def needed(*things: object) -> list[str]:
    """The files on disk that *things* are about, however deep they are inside: they are found by pickling.

    These are the files of entries, and all absolute paths to something that is there.
    """
    found = _Places()
    found.look(things)
    return [*dict.fromkeys([*found.files, *filter(os.path.lexists, found.named)])]


def check_here(thing: object, address: str) -> None:
    """See that the files of all entries in *thing* are there.

    Args:
        thing: a part of some work.
        address: of this node.

    Raises:
        SeldioError: one is not; it names the node.
    """
    found = _Places()
    found.look(thing)
    if gone := absent(found.files):
        raise unseen([f"{socket.gethostname()} ({address})"], gone)


def absent(paths: Iterable[str]) -> list[str]:
    """Those of *paths* that this node does not see."""
    return [path for path in paths if not os.path.lexists(path)]


def unseen(nodes: list[str], paths: list[str]) -> SeldioError:
    """What to say of *nodes* that do not see *paths*."""
    which, verb = ("node", "does") if len(nodes) == 1 else ("nodes", "do")
    files = listed(list(map(printable, paths)), 1)
    return SeldioError(
        f"{which} {listed(nodes)} of the cluster {verb} not see {files}: every node needs the same files under the "
        "same paths, such as on shared storage; --engine local works on this machine alone"
    )


class _Nowhere:
    def write(self, data: object) -> None:
        """Let it go."""


class _Places(pickle.Pickler):
    def __init__(self) -> None:
        super().__init__(_Nowhere())
        self.files: list[str] = []
        self.named: list[str] = []

    def look(self, thing: object) -> None:
        try:
            self.dump(thing)
        except (pickle.PicklingError, AttributeError, TypeError):
            return  # something that only the cluster knows how to pickle: what was found until there counts

    def persistent_id(self, thing: object) -> object:
        if isinstance(thing, Entry):
            self.files += [] if thing.place is None else [str(thing.place)]
            return True  # not to look inside, where its bytes may be
        if isinstance(thing, str | PurePath) and PurePath(thing).is_absolute():
            self.named.append(str(thing))
        return None
