"""What can go wrong, and the exit code each kind ends with.

::

    SeldioError                 could not work                       exit 3
    ├── UsageError              the request makes no sense           exit 2
    │   └── UnknownFormat       a file whose format must be named    exit 2
    └── DataError               the data is wrong                    exit 1
        ├── InvalidData         a finding met while loading          exit 1
        └── LossError           the target cannot carry some fields  exit 1

Wrong data met while *validating* is never an exception: it is a
:class:`~seldio.findings.Finding` in a report.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seldio.findings import Finding


class ExitCode(IntEnum):
    """What the ``seldio`` command ends with."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    FAILURE = 3


class SeldioError(Exception):
    """Seldio could not do its work (disk, permission, a limit of the machine)."""

    exit_code = ExitCode.FAILURE


class UsageError(SeldioError):
    """The request itself makes no sense: an unknown name, options that cannot be used together."""

    exit_code = ExitCode.USAGE


class UnknownFormat(UsageError):
    """The format of a file cannot be told from its content, or no such format exists."""


class DataError(SeldioError):
    """The data is wrong."""

    exit_code = ExitCode.FINDINGS


class InvalidData(DataError):
    """A finding of severity *error* met while loading; :attr:`finding` says what and where.

    Args:
        finding: the first one.
        more: what there is to say about it.
    """

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
