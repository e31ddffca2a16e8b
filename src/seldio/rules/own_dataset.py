"""DAT2: what contradicts what a dataset says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from seldio.catalogues.trees import Tree
from seldio.findings import Finding
from seldio.formats.dataset_toml import TomlPlaces, clips_of
from seldio.formats.own_dataset import OwnDataset
from seldio.rules.collection import Collection, Found
from seldio.rules.tree_media import CHANNELS, TreeAudio
from seldio.text import listed, plural


def splits_contradict(collection: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    for own in collection.own.datasets if collection.own else ():
        rows = (part.origin for one in collection.readings if one.format.clips_by == "rows" for part in one.parts)
        paths = {clip.clip: next(iter(clip.files.values())) for clip in tree.clips} | {
            one.clip: one.name for one in rows
        }
        clips = {clip: path for clip, path in paths.items() if path.startswith(own.folder)}
        said = {clip: own.splits(path) for clip, path in clips.items()}
        several: dict[tuple[str, ...], list[str]] = {}
        for clip, splits in said.items():
            if len(splits) > 1:
                several.setdefault(tuple(splits), []).append(clip)
        for both, some in several.items():
            message = f"{plural(len(some), 'clip')} in {' and in '.join(both)}: {listed(some)}"
            yield found(own.path, message, "a clip is in one split: do not test on what was trained on",
                        **_at(own, both[1]))  # fmt: skip
        for split, keys in own.record.get("splits", {}).items() if not own.below else ():
            names = frozenset[str]().union(*map(clips_of, keys.get("clips", ())))
            if missing := sorted(names - clips.keys()):
                message = f"{plural(len(missing), 'clip')} of {split} missing: {listed(missing)}"
                yield found(own.path, message, "add them, or take them from the list", **_at(own, split))


def _at(own: OwnDataset, split: str) -> Mapping[str, object]:
    place = TomlPlaces(own.text).at(("splits", split))
    return {"line": place.line, "column": place.column, "value": place.value, "excerpt": place.excerpt}


def recordings_contradict(media: TreeAudio, found: Found) -> Iterator[Finding]:
    for own in media.collection.own.datasets if media.collection.own else ():
        said = own.record.get("recordings", {})
        channels = {CHANNELS[array] for array in said.get("arrays", ())}
        wrong: dict[str, list[str]] = {}
        for one, header in media.readable:
            if one.place.name.startswith(own.folder):
                faults = (
                    (header.rate, {said.get("rate", header.rate)}, "{:,} Hz"),
                    (header.subtype, {said.get("subtype", header.subtype)}, "{} samples"),
                    (header.channels, channels or {header.channels}, "{} channels"),
                )
                for value, wanted, words in faults:
                    if value not in wanted:
                        expected = " or ".join(words.format(one) for one in sorted(wanted, key=str))
                        wrong.setdefault(f"{words.format(value)} instead of {expected}", []).append(one.path)
        for fault, paths in wrong.items():
            names = f", and {plural(len(paths) - 1, 'more recording')} as well" if len(paths) > 1 else ""
            yield found(paths[0], f"{fault}, which {own.path} says{names}", _MEND)


_MEND = "resample or replace them, or correct the table recordings"
