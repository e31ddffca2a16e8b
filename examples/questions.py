"""Questions in Python: make them from labels, check them, keep them as Parquet, convert them.

Run it anywhere: it makes its own small data set in a temporary folder.
"""

import json
import tempfile
from collections import Counter
from pathlib import Path

import seldio
from seldio.synth.tree import write_demo
from seldio.tasks import Margins, generate


def convert(source: Path, out: Path, to: str, allow_loss: tuple[str, ...] = ()) -> None:
    """What ``seldio convert SOURCE --to TO -o OUT`` does."""
    done = seldio.convert(source, out, to, allow_loss=allow_loss)
    print(f"{done.formats[0]} to {done.target}: {done.rows[1]:,} rows in {out.name}")


with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)
    write_demo(root)

    made = generate(seldio.read(root / "starss23"), seed=7, margins=Margins(azimuth=30.0))
    tasks = Counter(item.task for item in made.items)
    print(f"{len(made.items):,} questions of {len(tasks)} tasks, {sum(made.skipped.values()):,} candidates skipped")
    print(f"for example: {made.items[0].question} {made.items[0].answer}")

    convert(root / "starss23", root / "qa.jsonl", "so-bench")
    report = seldio.validate(root / "qa.jsonl")
    print(f"the file has {report.summary()['errors']} errors")

    convert(root / "qa.jsonl", root / "qa.parquet", "parquet")
    convert(root / "qa.parquet", root / "back.jsonl", "so-bench")
    same = (root / "back.jsonl").read_bytes() == (root / "qa.jsonl").read_bytes()
    print(f"back from Parquet it is {'the same' if same else 'another'} file")

    convert(root / "qa.jsonl", root / "template.jsonl", "so-bench-predictions")
    print(f"a model fills in {(root / 'template.jsonl').read_text('utf-8').splitlines()[0]}")

    try:
        convert(root / "qa.jsonl", root / "mmau.json", "mmau")
    except seldio.UsageError as error:
        print(error)

    choice = {
        "id": "1", "audio": ["1.wav"], "question": "Which side?", "options": ["left", "right"], "answer": "left",
        "canonical_answer": "left", "task": "side",
    }  # fmt: skip
    (root / "choice.jsonl").write_text(json.dumps(choice) + "\n", "utf-8")
    try:
        convert(root / "choice.jsonl", root / "mmau.json", "mmau")
    except seldio.LossError as error:
        print(f"lost would be: {', '.join(error.losses)}")
    convert(root / "choice.jsonl", root / "mmau.json", "mmau", ("canonical_answer",))

    choice["question"] = "Does it come from the left side or the right side?"
    (root / "choice.jsonl").write_text(json.dumps(choice) + "\n", "utf-8")
    seldio.convert(root / "choice.jsonl", root / "inspect.jsonl", "inspect")
    record = json.loads((root / "inspect.jsonl").read_text("utf-8"))
    print(f"inspect_ai asks {record['input'][0]['content'][1]['text']!r}, with the letter {record['target']} as target")
