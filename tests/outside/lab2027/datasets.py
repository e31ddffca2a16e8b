"""A data set of our own: two rooms, a clip for each take."""

from __future__ import annotations

import re

from seldio.formats.datasets import DatasetSpec, LabelSign, SplitSpec, Top, TreeSign

DATASETS = (
    DatasetSpec(
        name="lab2027",
        title="the recordings of our lab",
        usual=("LAB2027",),
        dialects=("lab2027",),
        signs=(TreeSign(r"(^|/)fold\d_room9\d_mix\d+\.", 1, "rooms of our lab"),),
        label_signs=(LabelSign(r"_room9\d_", "lab2027", 3, "rooms of our lab"),),
        clip=re.compile(r"fold(?P<fold>[12])_room(?P<room>9[01])_mix(?P<mix>[0-9]{3})"),
        example="fold1_room90_mix001",
        tops={"metadata_dev": Top("metadata", "dev"), "foa_dev": Top("foa", "dev")},
        splits=(
            SplitSpec("dev-train", frozenset({1}), {90: range(1, 3)}),
            SplitSpec("dev-test", frozenset({2}), {91: [1]}),
        ),
        depth=1,
        kinds={1: "dev-train", 2: "dev-test"},
        counted=True,
        rate=48_000,
    ),
)
