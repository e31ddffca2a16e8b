"""A data set to the Hub and back; without a token (``HF_TOKEN``), what would be sent is shown."""

import os
from pathlib import Path

import seldio
from seldio.hub import pull, push

labels = Path("starss23/metadata_dev/dev-train-sony")
labels.mkdir(parents=True, exist_ok=True)
(labels / "fold3_room21_mix001.csv").write_text("0,1,0,-50,30,120\n1,1,0,-49,30,120\n")

repo = os.environ.get("SELDIO_EXAMPLE_REPO", "anna/two-frames")
card = {"license": "mit", "title": "Two frames of a man speaking"}
pushed = push("starss23", repo, dry_run=True, **card)
print("would send", *(file.name for file in pushed.files))

if "HF_TOKEN" in os.environ:
    print("sent as", push("starss23", repo, **card).commit)
    print(seldio.validate(f"hf://datasets/{repo}").summary())
    print(len(pull(repo, "copy").fetched), "files came back")
