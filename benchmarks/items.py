"""Questions in columns: SO-Bench items of real shape, read, checked and converted, beside ``json.loads`` and pydantic.

``python benchmarks/items.py [COUNT]`` times 200,000 items, each row in turn with ``json.loads`` of the same lines.
``python benchmarks/items.py memory [COUNT]`` sends 1,000,000 of them through every verb, each in a process of its own,
and prints the most memory that it took.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Any

import answers
from pydantic import TypeAdapter

import seldio
from seldio.formats.json_items import SO_BENCH
from seldio.schema.qa import Item

#: What stands around the questions of SO-Bench.
BEFORE, BEHIND = "Listen to the audio clip and answer based only on what you hear.", "Answer in one natural sentence."
#: What stands between the questions of SO-Bench and the models that answer them.
VERBS = ("validate", "info", "to parquet", "to items", "from parquet", "from items", "score")


def records(count: int) -> Iterator[dict[str, Any]]:
    """Questions of the 16 tasks in the published proportions, each with ids of its own."""
    chance = random.Random(7)
    items, _ = answers.so_bench()
    lines = SO_BENCH.write(items).decode().splitlines()
    for line in islice(cycle(lines), count):
        record = json.loads(line)
        audio = f"foa_{chance.getrandbits(80):020x}"
        record["question"] = f"{BEFORE} {record['question']} {BEHIND}"
        named = {"qa_id": f"qa_{chance.getrandbits(80):020x}", "split": "test", "audio_id": audio}
        yield {**named, "audio_path": f"audio/test/{audio}.wav"} | {
            key: value for key, value in record.items() if key not in (*named, "audio_path")
        }


def write(path: Path, count: int) -> None:
    """A file of so many questions, as SO-Bench has it."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records(count))


def main(count: int, rounds: int = 3) -> None:
    """Print a line for each verb: its time, that of ``json.loads``, and the ratio."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "qa.jsonl", count)
        lines = (folder / "qa.jsonl").read_bytes().splitlines()
        for verb in ("read", "validate", "to parquet", "to items", "from parquet", "from items"):
            limit = {"read": 3, "validate": 4}.get(verb, 5)
            beside(f"{verb}, {count:,} questions", lambda verb=verb: run(verb, folder), lines, limit, rounds)  # type: ignore[misc]
        assert (folder / "qa.jsonl").read_bytes() == (folder / "from-parquet.jsonl").read_bytes()
        array = b"[" + b",".join((folder / "items.jsonl").read_bytes().splitlines()) + b"]"
        adapter = TypeAdapter(list[Item])
        beside("pydantic: TypeAdapter(list[Item]).validate_json", lambda: adapter.validate_json(array), lines, None, 1)


def beside(what: str, ours: Callable[[], object], lines: list[bytes], limit: float | None, rounds: int) -> None:
    """Time *ours* and ``json.loads`` in turn, and print both: processor time, so that a busy machine changes little."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for work, kept in ((ours, times[0]), (lambda: deque(map(json.loads, lines), 0), times[1])):
            start = sum(os.times()[:4])
            work()
            kept.append(sum(os.times()[:4]) - start)
    one, other = map(median, times)
    target = "" if limit is None else f"at most {limit} x"
    print(f"{what:<48} {one * 1e3:9.1f} ms   json.loads {other * 1e3:9.1f} ms   {one / other:5.2f} x   {target}",
          flush=True)  # fmt: skip


def run(verb: str, folder: Path) -> object:
    """One verb with the questions in *folder*."""
    questions, table, items = folder / "qa.jsonl", folder / "qa.parquet", folder / "items.jsonl"
    if verb in ("read", "validate"):
        return getattr(seldio, verb)(questions)
    if verb == "info":
        return subprocess.run([sys.executable, "-m", "seldio", "info", questions], check=True, capture_output=True)
    if verb == "score":
        return seldio.score(folder / "answers.jsonl", questions, profile="so-bench")
    source, out, to = {
        "to parquet": (questions, table, "parquet"),
        "to items": (questions, items, "items"),
        "from parquet": (table, folder / "from-parquet.jsonl", "so-bench"),
        "from items": (items, folder / "from-items.jsonl", "so-bench"),
    }[verb]
    return seldio.convert(source, out, to)


def memory(count: int) -> None:
    """Print the most memory of each verb."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, __file__, "write", str(folder), str(count)], check=True)
        for verb in VERBS:
            subprocess.run([sys.executable, __file__, "one", verb, str(folder)], check=True)


def one(verb: str, folder: Path) -> None:
    """One verb in this process, and what it took."""
    start = time.perf_counter()
    run(verb, folder)
    took = time.perf_counter() - start
    most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
    print(f"{verb:<16} {took:8.1f} s   at most {most:6.0f} MB   less than 600 MB", flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", folder, count]:
            write(Path(folder, "qa.jsonl"), int(count))
            with Path(folder, "answers.jsonl").open("w", encoding="utf-8") as file:
                for record in records(int(count)):
                    answer = {key: record[key] for key in ("qa_id", "audio_path", "task_name")}
                    print(json.dumps(answer | {"prediction": record["answer"]}, ensure_ascii=False), file=file)
        case ["one", verb, folder]:
            one(verb, Path(folder))
        case ["memory", *count]:
            memory(int(*count) if count else 1_000_000)
        case count:
            main(int(*count) if count else 200_000)
