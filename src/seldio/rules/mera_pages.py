"""PRD11 and QAI21: what the readers of MERA's files report."""

from __future__ import annotations

from seldio.rules.base import ERROR, WARNING, reported


@reported("PRD111", ERROR)
def no_data_field() -> None:
    """A submission without the field data.

    MERA's validator calls this ``no_data_field``; the whole task scores 0.

    Example:
        {}

    Fix:
        Write ``{"data": {"test": [...]}}``.

    Reference: MERA, modules/scoring/src/tasks/task.py.
    """


@reported("PRD112", ERROR)
def no_split() -> None:
    """A submission without the split test.

    MERA's validator calls this ``no_split``; the whole task scores 0.

    Example:
        {"data": {"test_": [...]}}

    Fix:
        Write the answers as a list under the key test.

    Reference: MERA, modules/scoring/src/tasks/task.py.
    """


@reported("PRD113", ERROR)
def no_outputs_field() -> None:
    """An answer without the field outputs.

    MERA's validator calls this ``no_outputs_field_for_doc``; one such answer and the whole task scores 0.

    Example:
        {"meta": {"id": 443}}

    Fix:
        Write outputs for every answer, an empty text where the model gave none.

    Reference: MERA, modules/scoring/src/tasks/task.py.
    """


@reported("PRD114", ERROR)
def no_meta_field() -> None:
    """An answer without the field meta.

    MERA's validator calls this ``no_meta_field_for_doc``; one such answer and the whole task scores 0.

    Example:
        {"outputs": "B"}

    Fix:
        Write ``"meta": {"id": 1}`` with the number of the question.

    Reference: MERA, modules/scoring/src/tasks/task.py.
    """


@reported("PRD115", ERROR)
def no_id_field() -> None:
    """An answer without the id of its question.

    MERA's validator calls this ``no_id_field_for_doc``; one such answer and the whole task scores 0.

    Example:
        {"outputs": "B", "meta": {}}

    Fix:
        Copy meta.id from the question.

    Reference: MERA, modules/scoring/src/tasks/task.py.
    """


@reported("PRD116", ERROR)
def wrong_output_type() -> None:
    """An output that is no text.

    The type has to be that of the right answer, for ruEnvAQA a text. MERA's validator calls this
    ``doc_output_type_error``; one such answer and the whole task scores 0.

    Example:
        {"outputs": -777, "meta": {"id": 61}}

    Fix:
        Write the letter in quotes. A list of answers, as lm-eval logs it, has to be opened first.

    Reference: MERA, modules/scoring/src/tasks/task.py.
    """


@reported("PRD117", WARNING)
def bare_list() -> None:
    """A list of answers without the object around it.

    seldio reads it. MERA's server does not: it looks for the field data and scores the task 0.

    Example:
        [{"outputs": "B", "meta": {"id": 1}}]

    Fix:
        Write ``{"data": {"test": [...]}}``.

    Reference: MERA, modules/scoring/src/tasks/task.py.
    """


@reported("QAI205", WARNING)
def access_value() -> None:
    """A data set of MERA whose access is neither public nor private.

    MERA publishes answers or keeps them secret by this word; any other is read as neither.

    Example:
        {"access": "open", "data": [...]}

    Fix:
        Write public, or private where the answers are kept secret.

    Reference: MERA_MULTIMODAL, docs/dataset_formatting.md.
    """


@reported("QAI211", ERROR)
def lacking_field() -> None:
    """A question of MERA without a field that belongs to it.

    Such a question is not read. Without outputs it is read all the same, as one whose answer is secret, and
    that is a warning: the harness asks for the field in every record.

    Example:
        {"instruction": 0, "inputs": {"audio": "samples/audio001.wav"}, "outputs": "A", "meta": {"id": 1}}

    Fix:
        Write instruction, inputs with question and audio, outputs and meta with id.

    Reference: MERA_MULTIMODAL, docs/dataset_formatting.md.
    """


@reported("QAI212", ERROR)
def unfit_value() -> None:
    """A value in a question of MERA that is not of the kind its field asks for.

    Texts are texts (an option "10" too), ids whole numbers, an instruction its text or its number. Options
    follow each other: without option_b there is no option_c. An id that is a text is a warning.

    Example:
        "option_a": 10

    Fix:
        Put quotes around texts, and none around ids.

    Reference: MERA_MULTIMODAL, docs/dataset_formatting.md.
    """


@reported("QAI213", ERROR)
def no_records() -> None:
    """A file of MERA without a list of records.

    The loaders take what stands under data and nothing else: such a file has no questions to them.

    Example:
        {"access": "public"}

    Fix:
        Write ``{"access": "public", "data": [...]}``, a list, or one record a line.

    Reference: MERA_MULTIMODAL, docs/dataset_formatting.md.
    """


RULES = (
    no_data_field, no_split, no_outputs_field, no_meta_field, no_id_field, wrong_output_type, bare_list,
    access_value, lacking_field, unfit_value, no_records,
)  # fmt: skip
