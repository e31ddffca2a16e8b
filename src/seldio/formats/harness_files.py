"""The files that lmms-eval and UltraEval-Audio want in addition to questions: YAML, and functions in Python.

They are templates; what they write about a task is its name alone.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files


def task_name(folder: str) -> str:
    """The name of a task, from that of its folder; it is none that the harness has already, and has only letters."""
    return "seldio_" + (re.sub(r"\W+", "_", folder, flags=re.ASCII).strip("_") or "questions")


_LMMS_YAML = """\
# Written by seldio. Run with: lmms-eval --include_path FOLDER --tasks {name} --log_samples --output_path OUT
task: {name}
dataset_path: json
dataset_kwargs:
  data_files:
    test: questions.jsonl
test_split: test
output_type: generate_until
doc_to_visual: !function utils.doc_to_audio
doc_to_text: !function utils.doc_to_text
doc_to_target: answer
process_results: !function utils.process_results
generation_kwargs:
  max_new_tokens: 256
  temperature: 0
  do_sample: false
metric_list:
  - metric: accuracy
    aggregation: mean
    higher_is_better: true
  - metric: seldio
    aggregation: !function utils.answered
    higher_is_better: true
lmms_eval_specific_kwargs:
  default:
    pre_prompt: ""
    post_prompt: ""
metadata:
  version: 1.0
"""

#: Behind the functions that read a reply, which stand in a module of their own.
_LMMS_UTILS = '''
# --- the functions of the task ---------------------------------------------------------------------
# Written by seldio. Recordings are given as they are, with all their channels: {"array": (frames,) or (channels,
# frames), "sampling_rate"}. What an adapter of a model makes of several channels is not decided here.

from pathlib import Path

HERE = Path(__file__).resolve().parent


def find(path):
    """The recording: in the folder of the task, or in one above it."""
    for folder in (HERE, *HERE.parents):
        if (folder / path).is_file():
            return folder / path
    raise FileNotFoundError(f"{path}: neither in {HERE} nor in a folder above it")


def doc_to_audio(doc):
    import soundfile

    sounds = []
    for path in doc["audio"]:
        samples, rate = soundfile.read(find(path), dtype="float32", always_2d=True)
        array = samples[:, 0] if samples.shape[1] == 1 else samples.T
        sounds.append({"array": array, "sampling_rate": rate, "path": str(path)})
    return sounds


def doc_to_text(doc, lmms_eval_specific_kwargs=None):
    words = lmms_eval_specific_kwargs or {}
    options = "".join(f"\\n{LETTERS[number]}. {text}" for number, text in enumerate(doc["choices"] or []))
    last = "\\nAnswer with the letter of the right option." if options else ""
    return f"{words.get('pre_prompt', '')}{doc['question']}{options}{last}{words.get('post_prompt', '')}"


def process_results(doc, results):
    text = results[0] if isinstance(results[0], str) else str(results[0])
    options = doc["choices"] or []
    right = chosen(text, options) == doc["answer"] if options else text.strip().casefold() == doc["answer"].casefold()
    return {"accuracy": float(right), "seldio": {"id": doc["id"], "prediction": text}}


def answered(results):
    """How many questions were answered; the answers themselves are in the samples."""
    return len(results)
'''


def lmms_eval_files(folder: str) -> dict[str, str]:
    """The files of a task of lmms-eval, by name, for a folder with this name."""
    name = task_name(folder)
    reading = files(__package__ or "").joinpath("harness_answers.py").read_text("utf-8")
    return {f"{name}.yaml": _LMMS_YAML.format(name=name), "utils.py": reading + _LMMS_UTILS}


_ULTRA = {
    "dataset": """\
# Written by seldio. Run inside of this folder, with: main.py --dataset {name} --registry_path registry --model MODEL
{name}:
  class: audio_evals.dataset.dataset.RelativePath
  args:
    default_task: {name}
    f_name: questions.jsonl
    ref_col: answer
    file_path_prefix: ./
""",
    "eval_task": """\
{name}:
  class: audio_evals.base.EvalTaskCfg
  args:
    dataset: {name}
    prompt: {name}
    model: qwen-audio-chat
    evaluator: choice-strings-match
    agg: mean
""",
    "prompt": """\
{name}:
  class: audio_evals.prompt.base.Prompt
  args:
    template:
      - role: user
        contents:
          - type: audio
            value: "{{{{WavPath}}}}"
          - type: text
            value: {text}
""",
}
_ASKED = (
    "{{question}}{% for choice in choices %}\n{{ 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[loop.index0] }}. {{choice}}{% endfor %}"
    "{% if choices %}\nAnswer with the text of the right option.{% endif %}"
)


def ultraeval_files(folder: str) -> dict[str, str]:
    """The registry of a dataset of UltraEval-Audio, by name, for a folder with this name."""
    name = task_name(folder)
    return {
        f"registry/{kind}/{name}.yaml": text.format(name=name, text=json.dumps(_ASKED)) for kind, text in _ULTRA.items()
    }
