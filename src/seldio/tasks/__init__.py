"""Labels to questions: items in the style of SO-Bench from event tables; a task is one record with its functions.

Only questions with one right answer are asked: a class, a direction or a moment must single out one event,
and differences must exceed :class:`Margins`. What is skipped is counted by its reason.
The names are resolved on first use: what is known of tasks is needed without them, to read and score answers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seldio.tasks.mix import targets
    from seldio.tasks.scene import SILENT
    from seldio.tasks.so_bench import REFUSED, SO_BENCH, TASKS, Generated, generate, stream
    from seldio.tasks.specs import Margins

__all__ = ["REFUSED", "SILENT", "SO_BENCH", "TASKS", "Generated", "Margins", "generate", "stream", "targets"]
_HOMES = {"Margins": "specs", "SILENT": "scene", "targets": "mix"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'seldio.tasks' has no attribute {name!r}")
    return getattr(import_module(f"seldio.tasks.{_HOMES.get(name, 'so_bench')}"), name)
