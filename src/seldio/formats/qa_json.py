"""The JSON layouts of questions and predictions: SO-Bench, SO-Dataset, MMAU, MMAR, and seldio's own."""

from __future__ import annotations

from seldio.formats.items import ItemFormat
from seldio.formats.json_items import JsonItems
from seldio.formats.json_layout import Layout
from seldio.schema.qa import Item, Prediction

_OUTPUTS = ("prediction", "prediction_cleaned", "prediction_raw")
_CARD = "https://huggingface.co/datasets/Spatial-Omni/SO-Bench"

SO_BENCH = JsonItems(
    name="so-bench",
    title="SO-Bench questions: JSON Lines with canonical answers and typed answer meta",
    holds="items",
    needs=("id", "audio", "task", "question", "answer"),
    aliases=("sobench-qa",),
    source=_CARD,
    note="The file name alone does not make it SO-Bench: SO-Dataset's test split is also called qa/test.jsonl.",
    language="en",
    keys={
        "qa_id": "id",
        "split": "split",
        "audio_id": "extra",
        "audio_path": "audio",
        "task_name": "task",
        "question_class": "extra",
        "answer_format": "extra",
        "question": "question",
        "answer": "answer",
        "canonical_answer": "canonical_answer",
        "answer_meta": "answer_meta",
    },
    required=("qa_id", "audio_path", "task_name", "question", "answer"),
    marks=("qa_id", "audio_path", "question|task_name"),
    never=(*_OUTPUTS, "source_refs", "task_type"),
    sure=("question_class", "answer_format", "answer_meta"),
    empty={"answer_meta": {}},
)
SO_PREDICTIONS = JsonItems(
    name="so-bench-predictions",
    title="SO-Bench predictions: JSON Lines, joined by qa_id",
    holds="predictions",
    needs=("prediction",),
    source=_CARD,
    note="prediction_cleaned and prediction_raw are kept along with prediction; the scorer prefers prediction_cleaned.",
    keys={"qa_id": "id", "audio_path": "audio", "task_name": "task", "prediction": "prediction"},
    instead={"prediction": ("prediction_cleaned", "prediction_raw")},
    required=("prediction",),
    useful={"qa_id": "the official scorer then joins by other matching fields, or by line, and may join wrongly"},
    marks=("qa_id|audio_path", "|".join(_OUTPUTS)),
    never=("source_refs", "choices"),
)
SO_DATASET = JsonItems(
    name="so-dataset-qa",
    title="SO-Dataset questions: JSON Lines with the sources that prove the answer",
    holds="items",
    needs=("id", "audio", "question", "answer"),
    source="https://huggingface.co/datasets/Spatial-Omni/SO-Dataset",
    note="A prompt without a question is read as the question.",
    language="en",
    keys={
        "qa_id": "id",
        "split": "split",
        "audio_id": "extra",
        "audio_path": "audio",
        "dataset": "dataset",
        "task_type": "extra",
        "task_name": "task",
        "question": "question",
        "answer": "answer",
        "canonical_answer": "canonical_answer",
        "source_refs": "events",
    },
    proofs={
        "class_id": "class_id",
        "class_name": "class_name",
        "azimuth_deg": "azimuth",
        "elevation_deg": "elevation",
        "distance_m": "distance",
        "start_time": "onset",
        "end_time": "offset",
    },
    instead={"question": ("prompt",)},
    required=("qa_id", "audio_path", "question", "answer"),
    marks=("audio_path", "question|prompt"),
    never=(*_OUTPUTS, "id", "question_class", "answer_format", "answer_meta", "choices"),
    own=("source_refs",),
    sure=("source_refs", "task_type", "dataset"),
    empty={"events": []},
)
MMAU = JsonItems(
    name="mmau",
    title="MMAU: a JSON list of multiple-choice questions",
    holds="items",
    needs=("id", "audio", "question", "options", "answer"),
    answers="text",
    suffix=".json",
    source="https://github.com/Sakshi113/MMAU",
    note="The answer is the text of a choice, not its letter; a hidden answer is empty.",
    language="en",
    keys={
        "id": "id",
        "audio_id": "audio",
        "question": "question",
        "choices": "options",
        "answer": "answer",
        "dataset": "dataset",
        "task": "task",
        "split": "split",
    },
    required=("id", "audio_id", "question", "choices", "answer"),
    marks=("id", "audio_id", "question|choices"),
    never=("audio_path", "qa_id"),
    layout=Layout("[", "\n  ", ",", "\n]\n", "  ", (",", ": "), ascii=True),
)
MMAR = JsonItems(
    name="mmar",
    title="MMAR: JSON Lines of multiple-choice questions with reasons and rubrics",
    holds="items",
    needs=("id", "audio", "question", "options", "answer"),
    answers="text",
    source="https://github.com/ddlBoJack/MMAR",
    note="Ids are not always the stem of the audio path; the path is what counts.",
    keys={
        "id": "id",
        "audio_path": "audio",
        "question": "question",
        "choices": "options",
        "answer": "answer",
        "language": "language",
    },
    required=("id", "audio_path", "question", "choices", "answer"),
    marks=("id", "audio_path", "question"),
    never=("audio_id", "qa_id"),
    sure=("choices", "modality", "rubric"),
)
ITEMS = JsonItems(
    name="items",
    title="seldio's own items: JSON Lines of the item schema",
    holds="items",
    needs=("id", "question"),
    keys={field: field for field in Item.model_fields},
    required=("id", "question"),
    marks=("id",),
    never=("audio_path", "audio_id", "qa_id", "choices", "prediction"),
    sure=("audio", "options", "canonical_answer", "answer_meta", "events"),
    closed=True,
)
PREDICTIONS = JsonItems(
    name="predictions",
    title="seldio's own predictions: JSON Lines of the prediction schema",
    holds="predictions",
    needs=("prediction",),
    keys={field: field for field in Prediction.model_fields},
    required=("prediction",),
    marks=("id|audio", "prediction"),
    never=("audio_path", "audio_id", "qa_id", "task_name", "question"),
    closed=True,
)
#: All of them, in the order in which they are tried.
FORMATS: tuple[ItemFormat, ...] = (SO_BENCH, SO_PREDICTIONS, SO_DATASET, MMAU, MMAR, ITEMS, PREDICTIONS)
