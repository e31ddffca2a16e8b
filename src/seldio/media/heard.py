"""Which array recordings are of: what they sound like against what their folders and names say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from seldio.errors import DataError, SeldioError
from seldio.files import Entry
from seldio.media.arrays import Format
from seldio.media.intensity import heard_array
from seldio.media.recording import Recording
from seldio.text import listed, plural, printable

#: What each array is called in short.
SHORT: dict[Format, str] = {"foa": "FOA", "mic": "MIC"}
#: A folder ``foa`` or ``foa_…``, or a file whose name begins or ends so; ``mic`` in the same way.
_NAMED = re.compile(r"(?i)(?:^|[/\\])(foa|mic)(?=[_./\\]|$)|_(foa|mic)(?=\.\w+$)")


def renamed(path: str, array: Format) -> str:
    """*path* with the name of *array* in the place of that of another one.

    >>> renamed("flat/mix001_foa.wav", "mic"), renamed("mix001.wav", "mic")
    ('flat/mix001_mic.wav', 'mix001.wav')
    """
    return _NAMED.sub(lambda match: re.sub("(?i)foa|mic", array, match.group()), path)


class ArrayHeard(NamedTuple):
    """The array format of a recording with four channels, as named and as heard."""

    path: str  # as shown to people
    named: Format | None  # what its folder or its name says; None if nothing
    heard: Format | None  # what it sounds like; None where that cannot be told


def named_array(path: str) -> Format | None:
    """The array that a path names, by the last of its parts that names one.

    >>> named_array("starss23/foa_dev/dev-test-sony/fold4_room23_mix001.wav"), named_array("mix001_mic.flac")
    ('foa', 'mic')
    >>> named_array("michael/sofa.wav")
    """
    *_, last = (None, *(match[1] or match[2] for match in _NAMED.finditer(path)))
    return None if last is None else "foa" if last.lower() == "foa" else "mic"


def array_heard(entry: Entry, path: str | None = None) -> ArrayHeard | None:
    """Detect the array of a recording, whose *path* may name it; None unless it has four channels.

    Whatever cannot be read is None as well: whoever needs the sound says why.
    """
    if path is None:  # of a dataset the folder, the split and the file
        path = "/".join(Path(entry.path).absolute().parts[-3:]) if entry.real is not None else entry.path
    try:
        with Recording(entry) as recording:
            return (
                ArrayHeard(entry.path, named_array(path), heard_array(recording)) if recording.channels == 4 else None
            )
    except SeldioError:
        return None


def check_heard(found: Iterable[ArrayHeard], hint: str) -> None:
    """See that no recording sounds like another array than it is said to be.

    Raises:
        DataError: one does; *hint* says what to do.
    """
    wrong = [one for one in found if one.named is not None and one.heard not in (None, one.named)]
    for array in SHORT:
        if paths := [one.path for one in wrong if one.heard == array]:
            said = SHORT["mic" if array == "foa" else "foa"]
            raise DataError(
                f"{plural(len(paths), 'recording')} named {said} {'sounds' if len(paths) == 1 else 'sound'} like "
                f"{SHORT[array]} ({listed([printable(path) for path in paths], 3)}): {hint}"
            )
