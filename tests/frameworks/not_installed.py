"""Say in one line which frameworks are not installed, so that their tests were skipped; nothing where all are."""

from __future__ import annotations

from importlib.util import find_spec

LIBRARIES = (
    *("torch", "torchdata", "accelerate", "transformers", "lightning"),
    *("grain", "tensorflow", "datasets", "ray", "polars", "duckdb", "pandas"),
)
#: Programs that put questions to models.
HARNESSES = ("inspect_ai", "lmms_eval", "audio_evals")

if __name__ == "__main__":
    absent = [name for name in (*LIBRARIES, *HARNESSES) if find_spec(name) is None]
    if absent:
        print(f"Not run: the tests of {', '.join(absent)}, which could not be installed here.")
