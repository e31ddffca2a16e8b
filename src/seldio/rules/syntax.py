"""SYN: what readers find wrong with bytes, lines and cells; each function is one rule's page.

SYN1 is csv, SYN2 JSON, SYN3 Parquet, SYN4 YAML; SYN9 is what a file as a whole seems to be.
"""

from __future__ import annotations

from seldio.rules.base import ERROR, INFO, WARNING, Rule, reported

# --- csv: bytes and lines --------------------------------------------------------------------------


@reported("SYN101", ERROR)
def not_utf8() -> None:
    """Bytes that are not UTF-8.

    Labels and submissions are ASCII digits; a byte beyond that which is no UTF-8 comes from text in
    an old code page (Latin-1, Windows-1251), from a compressed file under the wrong name, or from a
    damaged disk. Python and pandas stop with a UnicodeDecodeError on systems that read UTF-8, and take
    the byte for some letter on those that do not.

    Example:
        7,1,0,-50,30 é  (é stored as the single byte E9)

    Fix:
        Save the file as UTF-8. A file of numbers needs no letters at all: look at what stands there.

    Reference: RFC 3629; measured with the official 2023 loader, pandas 3 and pyarrow.
    """


@reported("SYN102", ERROR, fix="safe")
def utf16() -> None:
    """A file in UTF-16.

    Every character takes two bytes, and every second one is a zero. Spreadsheets write this as
    "Unicode text", and Windows PowerShell 5 for everything redirected with ``>``. The official
    loaders and pandas stop at the first byte (0xFF).

    Example:
        python infer.py > mix001.csv  (in Windows PowerShell 5)

    Fix:
        ``--fix`` writes the same text of a label file as UTF-8. Elsewhere, save as CSV, not as Unicode text; in
        PowerShell: ``| Out-File -Encoding ascii mix001.csv``.

    Reference: The Unicode Standard, section 23.8, byte order mark.
    """


@reported("SYN103", ERROR, fix="safe")
def byte_order_mark() -> None:
    """A byte order mark at the beginning.

    Three invisible bytes (EF BB BF) that spreadsheets write with "CSV UTF-8". pandas skips them; to
    the official loaders they are part of the first frame number, and ``int()`` stops with a ValueError.
    Behind a header, they turn the name ``frame`` into another one.

    Example:
        <EF BB BF>0,1,0,-50,30

    Fix:
        ``--fix`` removes it from csv files. Elsewhere, save as UTF-8 without BOM.

    Reference: seld-dcase2023, cls_feature_class.py: int(_words[0]); RFC 8259 section 8.1 forbids it in JSON.
    """


@reported("SYN104", ERROR)
def nul_bytes() -> None:
    """NUL bytes in a text file.

    A block of zeros, mostly at the end, is what a file system leaves when the power fails between
    making room for data and writing it: the rows that stood there are gone. The official loaders stop
    with a ValueError; pandas reads one more row, of NaN, which turns whole numbers into decimals.

    Example:
        7,1,0,-50,30
        <00><00><00><00>

    Fix:
        Write the file again; do not just cut the zeros off.

    Reference: measured with the official 2023 loader and pandas 3.
    """


@reported("SYN105", INFO, fix="safe")
def crlf_line_ends() -> None:
    r"""Lines that end with CR LF.

    Windows line ends. Python, pandas and the official loaders take them; tools that compare or count
    bytes (diff, checksums, Git) see another file than the official one, and ``cut`` or ``awk`` leave
    the CR in the last cell. SO-Dataset's own files end like this, and are not reported.

    Example:
        7,1,0,-50,30<CR><LF>

    Fix:
        ``--fix`` ends every line with LF. In Python: ``open(path, "w", newline="\n")``.

    Reference: the label files of STARSS22, TAU-NIGENS 2020 and TAU SSE 2019 end every line with LF.
    """


@reported("SYN106", WARNING, fix="safe")
def mixed_line_ends() -> None:
    """Lines that end in different ways.

    Some lines end with CR LF, others with LF or CR: the file was put together from parts written on
    different systems, or edited by hand, so that more than its line ends may be mixed. Python reads
    it; tools that split at LF alone glue rows together, or leave a CR in the last cell.

    Example:
        7,1,0,-50,30<CR><LF>
        8,1,0,-49,30<LF>

    Fix:
        ``--fix`` ends every line as the layout does (LF; CR LF in SO-Dataset).

    Reference: POSIX, 3.177 Line: a line ends with a newline character.
    """


@reported("SYN107", WARNING, fix="safe")
def bare_cr() -> None:
    """Lines that end with a bare CR.

    The line ends of Mac OS before 2001, which some spreadsheets still write as "CSV (Macintosh)".
    Python and pandas take them; to everything that counts lines by LF (grep, wc, Git, most programs
    in C and on the command line) the file is one single line.

    Example:
        7,1,0,-50,30<CR>8,1,0,-49,30<CR>

    Fix:
        ``--fix`` ends every line with LF.

    Reference: POSIX, 3.177 Line; Python's universal newlines (PEP 278).
    """


@reported("SYN108", ERROR, fix="unsafe")
def torn_row() -> None:
    """A last row that was cut off.

    The last row has too few cells (or, in JSON Lines, is no whole record) and no line end: the program
    that wrote it was killed, or the disk or a download ended. The official 2023 loader drops a row of
    four cells or fewer without a word, and pandas fills it with NaN. How many rows are missing behind
    it, nobody can tell.

    Example:
        7,1,0,-50,30
        8,1,0,-4

    Fix:
        Write or fetch the file again. ``--unsafe-fixes`` only removes the torn row of a csv file.

    Reference: two annotation files published with SO-Dataset end like this.
    """


@reported("SYN110", ERROR, fix="safe")
def blank_lines() -> None:
    """Blank lines.

    The official loaders call ``int()`` on the first cell of every line, the empty one of a blank line
    included, and stop with a ValueError. pandas skips blank lines in silence. A blank line at the end
    often comes from a text editor. In a table of questions readers skip it as well, and whoever counts
    lines (predictions joined by order) counts one too many.

    Example:
        7,1,0,-50,30

        8,1,0,-49,30

    Fix:
        ``--fix`` removes them from csv files.

    Reference: seld-dcase2023, cls_feature_class.py; "invalid literal for int() with base 10: ''".
    """


@reported("SYN111", ERROR, fix="safe")
def unexpected_header() -> None:
    """A header line in a layout that has none.

    ``DataFrame.to_csv`` writes one unless told not to. The official loaders of 2020 to 2024 call
    ``int()`` on its first name and stop.

    Example:
        frame,class,source,azimuth,elevation
        7,1,0,-50,30

    Fix:
        ``--fix`` removes it. In pandas: ``to_csv(path, header=False, index=False)``.

    Reference: "invalid literal for int() with base 10: 'frame'"; AudibleLight issues 70 and 71.
    """


@reported("SYN112", ERROR, fix="safe")
def missing_header() -> None:
    """No header line in a layout that has one.

    The official loader of 2025 drops the first line, whatever it holds: without a header, the first
    event frame of every clip is lost in silence. That of 2019 does the same with the first event. A table
    of questions without its header has no columns to be read by: the first question becomes their names.

    Example:
        7,1,0,-50,120,1  (as first line of a dcase2025 file)

    Fix:
        ``--fix`` puts the header of the layout first.

    Reference: DCASE2025_seld_baseline, utils.py: file.readlines()[1:].
    """


@reported("SYN113", ERROR)
def wrong_header() -> None:
    """A header that does not fit the layout or the rows.

    Other names, or the right ones in another order, mean other columns; readers that go by position
    then mix them up. A name that stands twice loses one of its columns to readers that go by name. A
    header with one name fewer than the rows have cells makes pandas take the first column for an
    index, and shifts all others by one.

    Example:
        frame,class,class,azimuth,elevation
        7,1,0,-50,30

    Fix:
        Write the header that ``seldio formats`` shows, and check that the columns stand in its order.

    Reference: pandas.read_csv, index_col.
    """


@reported("SYN114", ERROR, fix="unsafe")
def row_index() -> None:
    """A row index before the first column.

    ``DataFrame.to_csv`` numbers the rows unless it is told not to, with or without a header above them.
    The number of the row then stands in the column of the frame, the frame in that of the class, and so
    on: five columns become six, which is the width of another layout.

    Example:
        0,7,1,0,-50,30
        1,8,1,0,-49,30

    Fix:
        ``--unsafe-fixes`` removes the first column. In pandas: ``to_csv(path, index=False)``, and
        ``header=False`` where the layout has no header.

    Reference: pandas.DataFrame.to_csv, index.
    """


@reported("SYN115", ERROR)
def not_text() -> None:
    """A file that is no text but bears the name of a table.

    An Excel workbook does not become a csv file by another name: it is a zip of XML, and begins with the
    letters PK. The same goes for tables that were packed or saved by numpy, HDF5 or SQLite. The official
    loaders stop with a UnicodeDecodeError, or find a single row of nonsense.

    Example:
        results.xlsx, renamed to mix001.csv

    Fix:
        Open it in the program that wrote it, and export it as CSV (UTF-8).

    Reference: ECMA-376, part 2 (Open Packaging Conventions): a workbook is a zip.
    """


@reported("SYN120", ERROR, fix="safe")
def wrong_delimiter() -> None:
    """Cells that are not separated by commas.

    Where decimals have a comma, spreadsheets separate cells by semicolons, and then often write 0,5
    for 0.5. To the official loaders the whole row is one cell, and ``int()`` stops; pandas reads one
    column of text.

    Example:
        7;1;0;-50,5;30

    Fix:
        ``--fix`` writes commas between cells and points in numbers.

    Reference: RFC 4180, section 2.
    """


@reported("SYN121", ERROR)
def ragged_row() -> None:
    """A row with another number of cells.

    The official 2023 loader decides row by row: five and six cells are angles, seven are x, y, z, all
    other rows are dropped without a word. That of 2024 converts the whole file as its last row looks.
    So a single row too long or too short is lost or misread, and so may be all the others. pandas
    stops at a longer row, and fills a shorter one with NaN. In a table of questions the cause often is a
    comma in a text that nobody quoted: the answer then stands in another column.

    Example:
        7,1,0,-50,30
        8,1,0,-49,30,181

    Fix:
        Write all rows with the same columns. If every row has another number than the layout, name
        the right layout (``seldio formats``), or convert with ``seldio convert``.

    Reference: seld-dcase2023, load_output_format_file; measured on the official 2024 scorer.
    """


@reported("SYN122", ERROR, fix="safe")
def quoted_cell() -> None:
    """Quotation marks around a cell.

    No layout of labels quotes its cells. The official loaders split at commas and call ``int()`` on the
    number with its quotes, and stop. A quote that never closes is worse: readers that know quotes take all
    the rest of the file for one cell. In a table of questions quotes around texts are right; there only
    those are reported that do not close, or have text behind them.

    Example:
        7,"1",0,-50,30

    Fix:
        ``--fix`` removes quotes around single numbers. In Python's csv: ``QUOTE_MINIMAL``, not
        ``QUOTE_ALL`` or ``QUOTE_STRINGS``.

    Reference: seld-dcase2023, cls_feature_class.py: _line.strip().split(',').
    """


@reported("SYN123", WARNING, fix="safe")
def stray_white_space() -> None:
    """White space around a number, other than spaces after a comma.

    Spaces after a comma are legal: the example on the task page has them. Spaces before a comma, tabs
    and indented rows are not written by any official program. Python and pandas forgive them; to
    tools that compare text (join, sort, database imports) "1 " is not "1".

    Example:
        7 ,1,0,-50,30

    Fix:
        ``--fix`` removes it.

    Reference: DCASE 2023 Task 3, the example sequence.
    """


@reported("SYN124", ERROR, fix="safe")
def trailing_comma() -> None:
    """A comma at the end of every row.

    To everything that splits at commas each row has one cell more, which is empty. The official 2023
    loader tells layouts apart by the number of cells: a label then looks like an output of another
    layout, or is dropped without a word. pandas reads one more column, of NaN.

    Example:
        7,1,0,-50,30,

    Fix:
        ``--fix`` removes it.

    Reference: seld-dcase2023, load_output_format_file.
    """


@reported("SYN125", ERROR, fix="unsafe")
def decimal_comma() -> None:
    """Decimals written with a comma, in a file that has commas between its cells.

    Where a locale writes 0,5 for 0.5, every such number becomes two cells. Rows then have the width of another
    layout, and the decimals of one number are read as the next.

    Example:
        7,1,0,-50,5,30,25  (for 7,1,0,-50.5,30.25)

    Fix:
        ``--unsafe-fixes`` writes points where only one way to join the cells gives likely rows. Better: set the
        locale or ``decimal="."`` where the file is written.

    Reference: RFC 4180, section 2.
    """


# --- csv: cells ------------------------------------------------------------------------------------


@reported("SYN130", ERROR)
def not_a_number() -> None:
    """A cell that is not a number.

    Class names in place of class numbers, dashes for missing values, words from another table. The
    official loaders stop with a ValueError. pandas reads the whole column as text; NA, null and None
    it even takes for missing values, and turns all classes into decimals.

    Example:
        7,dog,0,-50,30

    Fix:
        Write the number; ``seldio formats`` names the class list of each layout. Leave a row out where
        nothing was detected.

    Reference: pandas.read_csv, na_values; the official loaders call int() and float() on every cell.
    """


@reported("SYN131", ERROR)
def no_plain_decimal() -> None:
    """A number that only some programs can read.

    Python's ``int()`` takes 1_0 for 10 and digits of every script (٣ is 3), pyarrow takes 0x10 for 16,
    ``float()`` takes 1e3 where ``int()`` stops. Each program reads such a cell in its own way: pandas
    makes text or a decimal of the whole column.

    Example:
        1_0,1,0,-50,30

    Fix:
        Write numbers with the digits 0 to 9: 10, -50, 0.5.

    Reference: PEP 515 (underscores); measured with Python 3.11, pandas 3 and pyarrow.
    """


@reported("SYN132", ERROR, fix="safe")
def decimal_point() -> None:
    """A decimal point in a whole number.

    Frames, classes and sources are counted, and the official loaders call ``int()`` on them: ``24.0``
    stops with a ValueError. It is what pandas and numpy write where one value of a column was missing
    or the array held decimals.

    Example:
        24.0,1.0,0.0,-50,30

    Fix:
        ``--fix`` writes 24 for 24.0. 24.5 is nothing it can repair: see where it comes from. In
        numpy: ``savetxt(path, rows, fmt="%d", delimiter=",")``.

    Reference: "invalid literal for int() with base 10: '24.0'", official scorers of 2022 to 2025.
    """


@reported("SYN133", ERROR)
def not_finite() -> None:
    """A direction or distance that is NaN or infinite.

    ``float()`` takes nan and inf without complaint, and the scorers go on with them until the
    assignment stops ("matrix contains invalid numeric entries"), far from the file that holds them. In
    training, one NaN in a label makes the loss NaN. Only SO-Dataset has a meaning for an elevation of
    inf: above, no more is known.

    Example:
        7,1,0,nan,30

    Fix:
        Leave the row out where nothing was detected, and find out what the system divided by 0.

    Reference: scipy.optimize.linear_sum_assignment, which all official scorers use.
    """


@reported("SYN134", ERROR)
def too_many_digits() -> None:
    """A number with ten digits or more before its point.

    No frame, class or angle needs that. It leaves 32 bits, where numpy wraps around in silence (2**31
    becomes -2**31), from 19 digits on also 64 bits, and with more than 4,300 digits Python refuses to
    read it.

    Example:
        9223372036854775808,1,0,-50,30

    Fix:
        Find out what wrote it: usually a pointer, a time stamp or a lost delimiter.

    Reference: numpy.ndarray.astype; sys.set_int_max_str_digits.
    """


@reported("SYN135", ERROR)
def empty_cell() -> None:
    """An empty cell.

    The official loaders stop at ``int('')``. pandas reads NaN, which turns the whole column into
    decimals: classes become 1.0, and code that uses them as an index stops somewhere else. In a table of
    questions only an empty id is an error: pandas drops such rows where it groups by id, without a word.

    Example:
        7,1,,-50,30

    Fix:
        Fill the cell, or leave the row out. Sources that nobody counted are 0.

    Reference: DCASE 2023 Task 3, "Independent sources that are not actors get a 0 identifier".
    """


@reported("SYN136", ERROR)
def not_a_flag() -> None:
    """An onscreen cell that is not 0 or 1.

    2025's last column says whether the source is in the picture. The official loader calls ``int()``
    on it: a probability such as 0.7 stops it, and so does True.

    Example:
        7,1,0,-50,120,0.7

    Fix:
        Write 1 for in the picture, 0 for not. Round probabilities; ``int(0.7)`` is 0.

    Reference: DCASE2025_seld_baseline, utils.py, load_labels.
    """


@reported("SYN137", WARNING, fix="safe")
def plus_sign() -> None:
    """A plus sign before a number.

    Python and pandas read +50 as 50. pyarrow takes it for a decimal, so that the type of a column
    depends on its signs, and a plus is one of the signs at which spreadsheets begin a formula.

    Example:
        7,1,0,+50,30

    Fix:
        ``--fix`` removes it.

    Reference: measured with pyarrow; OWASP, CSV injection.
    """


@reported("SYN138", ERROR, fix="safe")
def typeset_number() -> None:
    """A number with a degree sign, or with a dash in place of its minus.

    Word processors, spreadsheets and chat programs put U+2212 or a dash in place of the hyphen-minus, and
    people write 45°. It looks right, but no program takes it for a number: ``int()`` and ``float()`` stop, and
    pandas reads the whole column as text.

    Example:
        7,1,0,−50,30°

    Fix:
        ``--fix`` writes the number with plain characters.

    Reference: The Unicode Standard, section 6.2, dashes and hyphens; Python's int() takes U+002D alone.
    """


# --- JSON ------------------------------------------------------------------------------------------


@reported("SYN201", ERROR)
def invalid_json() -> None:
    """Text that is not JSON.

    A comma too many, single quotes, a comment, True for true: what JavaScript or Python allow in their
    sources is not JSON, and no reader will take the file. Often it was printed with ``print(record)``
    in place of ``json.dumps(record)``, or cut off.

    Example:
        {'annotations': [],}

    Fix:
        Write it with ``json.dump``; the finding says where the text breaks and what was expected.

    Reference: RFC 8259.
    """


@reported("SYN202", ERROR)
def duplicate_key() -> None:
    """A key that stands twice in one object.

    RFC 8259 leaves open what that means. Python, JavaScript and most readers keep the last value in
    silence, some the first, strict ones stop: two programs see two different records.

    Example:
        {"category_id": 1, "category_id": 7}

    Fix:
        Remove one of the two.

    Reference: RFC 8259, section 4, "The names within an object SHOULD be unique".
    """


@reported("SYN203", ERROR)
def nan_in_json() -> None:
    """NaN or Infinity in JSON.

    Python's json writes and reads them unless told not to; JSON has no such numbers. JavaScript, jq,
    databases and the Hugging Face viewer reject the whole file.

    Example:
        {"distance": NaN}

    Fix:
        Write null, or leave the key out. In Python: ``json.dumps(value, allow_nan=False)`` finds them.

    Reference: RFC 8259, section 6, "Numeric values that cannot be represented … are not permitted".
    """


@reported("SYN204", ERROR)
def number_out_of_range() -> None:
    """A JSON number that does not fit into 64 bits.

    Python reads whole numbers of any length, and 1e999 as infinity. Arrow tables, databases and most
    languages hold 64 bits: they round, stop or overflow. Mostly it is an identifier that should be a
    string.

    Example:
        {"id": 12345678901234567890123}

    Fix:
        Put names made of digits into double quotes.

    Reference: RFC 8259, section 6; RFC 7493 (I-JSON), section 2.2.
    """


@reported("SYN205", ERROR)
def half_surrogate() -> None:
    r"""Half of a surrogate pair.

    Characters beyond U+FFFF, emoji for example, are escaped as two halves. A lone half is no
    character: Python reads it, and stops with a UnicodeEncodeError when it writes or prints the text.
    It comes from text that was cut between the two halves.

    Example:
        {"answer": "a dog \ud83d"}

    Fix:
        Write the character itself, or both halves; cut text before it is escaped.

    Reference: RFC 8259, section 8.2.
    """


@reported("SYN206", ERROR)
def nested_too_deep() -> None:
    """JSON nested deeper than 64 levels.

    No data of this kind needs more than ten. Some thousand brackets are enough to stop Python's json
    with a RecursionError, or to crash parsers written in C.

    Example:
        [[[[[[ … ]]]]]]

    Fix:
        Find out what wrote it: usually a list that was wrapped again in every round of a loop.

    Reference: RFC 8259, section 9, "An implementation may set limits on the maximum depth of nesting".
    """


@reported("SYN207", ERROR)
def array_in_json_lines() -> None:
    """A JSON array in a file of JSON Lines.

    In JSON Lines every line is a record. A file that is one array was written with ``json.dump``, and
    readers that go line by line stop, or take the whole array for one record.

    Example:
        [{"id": 1}, {"id": 2}]  (in items.jsonl)

    Fix:
        Write one object a line, or name the file .json.

    Reference: jsonlines.org.
    """


@reported("SYN211", ERROR)
def missing_key() -> None:
    """A record without a key that belongs to it.

    Without frame, class or segmentation an annotation has no meaning and is not read. Neither is a
    question without its id or text, or a prediction without an output: loaders stop with a KeyError.

    Example:
        {"metadata_frame_index": 7, "instance_id": 0, "distance": 120, "segmentation": []}

    Fix:
        Write metadata_frame_index, category_id and segmentation for every annotation; for questions and
        predictions ``seldio formats NAME`` lists the keys.

    Reference: DCASE2026_Task3_SAISELD_baseline, run_inference.py.
    """


@reported("SYN212", ERROR)
def wrong_type() -> None:
    """A value of another type than its key asks for.

    Frame, instance and class are whole numbers, score and distance are numbers. A string "7" is not
    equal to 7, so that an annotation falls out of its frame in silence, and null or a list stops the
    first sum. In records of questions ids and texts are texts: an id that is a number loses its zeros in
    front, and 7 never equals "7" where predictions are joined to it (one of a prediction is SYN216).

    Example:
        {"metadata_frame_index": "7", …}

    Fix:
        Write numbers without quotes, whole ones without a decimal point.

    Reference: DCASE2026_Task3_SAISELD_baseline, README, annotation format.
    """


@reported("SYN213", ERROR)
def no_annotations() -> None:
    """JSON without a list of annotations.

    Files of 2026 are an object with the key ``annotations``, whose value is a list. A bare list, or
    one under another name, is not found by the official code. Questions are one record a line, a list, or
    the list under ``data`` or ``records``; theirs is reported where there is no such list.

    Example:
        [{"metadata_frame_index": 7, …}]

    Fix:
        Write ``{"annotations": [...]}``; an empty list says that nothing was detected.

    Reference: DCASE2026_Task3_SAISELD_baseline, README, annotation format.
    """


@reported("SYN214", ERROR)
def malformed_segmentation() -> None:
    """A segmentation that is not a list of polygons of points.

    A segmentation is ``[[[x, y, energy], …], …]`` on a picture of 360 x 180: polygons, points, three
    numbers. One level of brackets too few, or points without energy, and the direction of the source
    (its point of highest energy) cannot be found.

    Example:
        "segmentation": [[180, 90, 0.7]]

    Fix:
        Put a list of points into a list of polygons, and an energy behind every x and y.

    Reference: DCASE2026_Task3_SAISELD_baseline, README, annotation format.
    """


@reported("SYN215", WARNING)
def useful_key_missing() -> None:
    """A record without a key that the official scorer does without.

    It can still be used, but not everywhere. Without instance_id the official training code of 2026 stops;
    a missing distance counts as 0, an error of 100 %. SO-Bench's scorer joins predictions without qa_id by
    what else agrees, or by line.

    Example:
        {"audio_path": "audio/test/foa_413d6010b124f7adcc0b.wav", "prediction": "A dog."}

    Fix:
        Write the key into every record.

    Reference: DCASE2026_Task3_SAISELD_baseline, run_inference.py; SO-Bench, score_sobench.py.
    """


@reported("SYN216", WARNING)
def numeric_id() -> None:
    """A prediction whose id is a whole number.

    Ids of questions are text, and 7 is read as "7": the prediction is joined to the question with that id.
    Other programs may compare the two as they are, and 7 never equals "7"; a question "007" is not meant by 7
    here either.

    Example:
        {"id": 7, "prediction": "A dog."}

    Fix:
        Write ids in quotes, as the questions have them.

    Reference: SO-Bench, score_sobench.py, which makes texts of ids as well.
    """


# --- Parquet and YAML ------------------------------------------------------------------------------


@reported("SYN301", ERROR)
def damaged_parquet() -> None:
    """A Parquet file that is damaged or too large.

    Its index stands at the end, so that a file cut off cannot be read at all; a bit that flips inside
    a page is found by its checksum. More than a hundred million rows, or 16 GiB unpacked, are refused
    before they fill the memory: a small file can claim that much.

    Example:
        labels.parquet after a download that stopped half way

    Fix:
        Write or fetch the file again; split it into files of fewer clips.

    Reference: Apache Parquet, file format and page checksums.
    """


@reported("SYN302", ERROR)
def foreign_columns() -> None:
    """Parquet columns that no event table has.

    An event table has a clip in every row and columns of known names and types (frame, class_id,
    azimuth, …). Another name, a name twice, text where numbers belong: this is another table, or one
    that was written by hand, and guessing at it would put values under wrong names. A table of
    questions or predictions has the columns of its schema, or those of a benchmark's records.

    Example:
        columns file, t, az, el

    Fix:
        Rename the columns (``seldio schema`` lists them), or convert the label files themselves:
        ``seldio convert LABELS --to parquet``.

    Reference: ``seldio schema``, the event table; ``seldio schema item``.
    """


@reported("SYN401", ERROR)
def invalid_yaml() -> None:
    """Text that is not YAML.

    A tab for indentation, a colon inside a value without quotes, brackets that do not close. The
    organisers read the meta file of a submission by a script; one that cannot be read has to be sent
    again.

    Example:
        label: Name: with a colon

    Fix:
        Indent with spaces, and put values with a colon, # or brackets into quotes.

    Reference: YAML 1.2.2, chapter 5.
    """


@reported("SYN402", ERROR)
def unsafe_yaml_tag() -> None:
    """A YAML tag that can run code.

    ``!!python/object/apply:os.system`` makes a careless loader (``yaml.unsafe_load``, ``yaml.load`` of
    old PyYAML) run a command. No meta file needs tags, so none is followed.

    Example:
        label: !!python/object/apply:os.system ["rm -rf ~"]

    Fix:
        Remove the tag, and find out where the file comes from.

    Reference: CVE-2017-18342; CWE-502, deserialization of untrusted data.
    """


@reported("SYN403", ERROR)
def duplicate_yaml_key() -> None:
    """A YAML key that stands twice in one mapping.

    YAML forbids it; PyYAML keeps the last value in silence. In a meta file copied from another system
    this is the old value next to the new one, and the wrong one may end up on the results page.

    Example:
        name: System 1
        name: System 2

    Fix:
        Remove one of the two.

    Reference: YAML 1.2.2, section 3.2.1.1, "mapping keys … unique".
    """


@reported("SYN404", ERROR)
def yaml_too_large() -> None:
    """YAML that is too large or nested too deep.

    A meta file has some hundred lines. Far more, or aliases that unfold into billions of nodes ("a
    billion laughs"), only serve to fill the memory of whoever reads it.

    Example:
        a: &a [x, x, x, x]
        b: [*a, *a, *a, *a]  (and so on, nine times)

    Fix:
        Send the meta file alone, without aliases and without data in it.

    Reference: CWE-776, improper restriction of recursive entity references.
    """


# --- what a file seems to be -----------------------------------------------------------------------


@reported("SYN901", ERROR)
def unknown_layout() -> None:
    """A file that has no known layout.

    Neither the number of columns nor the header is that of any layout that seldio knows, so nothing
    in the file was checked.

    Example:
        a csv file with three columns of text

    Fix:
        See ``seldio formats``; ``--format NAME`` reads the file as that layout and says where it
        differs. Keep other tables out of a folder of results: scripts read everything in it.

    Reference: ``seldio formats``.
    """


@reported("SYN902", INFO)
def uncertain_layout() -> None:
    """A layout that is likely but not certain.

    STARSS22 and the labels of 2020 and 2021 have the same columns and other classes: class 3 is a
    telephone in one of them and a barking dog in another. And a file of few rows may look like one layout
    without ruling out another. The file is read as the likelier one, and this finding says so.

    Example:
        7,1,0,-50,30  (starss22 or dcase2020)

    Fix:
        Say ``--format starss22`` or ``--format dcase2020``.

    Reference: the class lists, ``seldio formats``.
    """


@reported("SYN903", ERROR)
def ambiguous_layout() -> None:
    """A file that may have several layouts.

    Six columns have four meanings, five have three, four and seven have two. Read as another one, an
    azimuth becomes a source number or centimetres become metres, and no program complains. Where the
    content does not decide, seldio does not guess.

    Example:
        0,1,0,0  (2019: frames of 20 ms; 2022 and 2023: of 100 ms)

    Fix:
        Say which it is: ``--format NAME``.

    Reference: a real system scored F 0.84 % in place of 26.7 % when its five columns were misread.
    """


RULES: tuple[Rule, ...] = (
    not_utf8, utf16, byte_order_mark, nul_bytes, crlf_line_ends, mixed_line_ends, bare_cr, torn_row,
    blank_lines, unexpected_header, missing_header, wrong_header, row_index, not_text, wrong_delimiter,
    ragged_row, quoted_cell, stray_white_space, trailing_comma, decimal_comma, not_a_number, no_plain_decimal,
    decimal_point, not_finite, too_many_digits, empty_cell, not_a_flag, plus_sign, typeset_number, invalid_json,
    duplicate_key, nan_in_json, number_out_of_range, half_surrogate, nested_too_deep, array_in_json_lines,
    missing_key, wrong_type, no_annotations, malformed_segmentation, useful_key_missing, numeric_id,
    damaged_parquet, foreign_columns, invalid_yaml, unsafe_yaml_tag, duplicate_yaml_key, yaml_too_large,
    unknown_layout, uncertain_layout, ambiguous_layout,
)  # fmt: skip
