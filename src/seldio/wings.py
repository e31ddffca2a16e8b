"""The wings: what can be taken away from seldio without harm to the rest, and what can be added from outside.

The core reads, checks, converts and iterates over the data of the four systems. A wing is a set of modules with one
record, :class:`Wing`, that says what it adds. Nothing in the core imports a wing, but for what it does when somebody
asks for the wing, inside of :func:`needed`. What lists things (rules, formats, commands) asks :func:`there`.

Wings from outside are found by the entry point group ``seldio.wings``, each naming a :class:`Wing`, or as ``WINGS`` in
the module ``wings`` of a folder in ``SELDIO_PLUGINS``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from seldio import plugins
from seldio.errors import MissingWing, UsageError


class Verb(NamedTuple):
    """A command of ``seldio``."""

    name: str
    short: str  # one line for the list of commands
    place: str  # "module:function", loaded when the command is run


@dataclass(frozen=True, kw_only=True)
class Wing:
    """What a set of modules adds.

    Args:
        name: by which people are told that it is needed.
        title: what it is for, in a few words.
        modules: its packages and modules; everything below them belongs to it. Of a wing from outside, these packages
            are laid out like a folder of ``SELDIO_PLUGINS``.
        needs: the names of other wings without which it cannot work.
        verbs: its commands.
        schemes: for each scheme of addresses that it fetches, such as ``hf``, the module that does. Its function
            ``fetch_address(address, limits)`` returns the file or folder on disk, and ``listing(address)`` the
            address of the dataset, the path below it, and the names of all files of the dataset.
        storages: for each way to store a dataset that it adds, ``module:function``. The function gets the plan of an
            export, the name of the storage and options as keywords, and returns
            :class:`~seldio.data.export_shards.ExportFiles`.
    """

    name: str
    title: str
    modules: tuple[str, ...]
    needs: tuple[str, ...] = ()
    verbs: tuple[Verb, ...] = ()
    schemes: tuple[tuple[str, str], ...] = ()
    storages: tuple[tuple[str, str], ...] = ()


def _wing(name: str, title: str, modules: str, needs: str = "", *verbs: Verb, **more: Any) -> Wing:
    """A wing of seldio itself; *modules* without the package, separated by spaces."""
    places = tuple(f"seldio.{module}" for module in modules.split())
    return Wing(name=name, title=title, modules=places, needs=tuple(needs.split()), verbs=verbs, **more)


#: The wings that come with seldio.
OWN: tuple[Wing, ...] = (
    _wing(
        "scoring", "scores, their intervals and ranks",
        "scores.contents scores.measures scores.proportions scores.published scores.ranking scores.resampling "
        "scores.signatures cli.score cli.verify", "",
        Verb("score", "Score predictions as the official programs do.", "seldio.cli.score:score"),
        Verb("rank", "Rank systems by their scores, as defined by DCASE Task 3.", "seldio.cli.score:rank"),
        Verb("verify", "Check that files are those in the signature of a score.", "seldio.cli.verify:verify"),
    ),
    _wing("seld", "official scores of labels", "scores.seld", "scoring"),
    _wing("imaging", "energy maps of 2026", "scores.imaging viewer.maps", "scoring seld"),
    _wing(
        "answers", "reading replies and scoring them",
        "answers scores.answers scores.intervals scores.jasco scores.judge scores.multiple_choice scores.replies "
        "scores.ruenvaqa scores.so_bench scores.verdicts rules.item_answers", "scoring",
    ),
    _wing("mera", "submissions to MERA", "check.mera rules.mera rules.mera_verdict", "answers"),
    _wing(
        "compare", "systems compared with each other", "scores.comparison cli.compare", "scoring",
        Verb("compare", "Compare systems: differences with intervals, tests and ranks.", "seldio.cli.compare:compare"),
    ),
    _wing(
        "diff", "two versions of labels or questions", "differences cli.diff", "seld",
        Verb("diff", "Compare two versions of labels or questions.", "seldio.cli.diff:diff"),
    ),
    _wing(
        "ask", "questions made from labels",
        "conversion.clip_audio conversion.questions tasks.detect tasks.english tasks.even tasks.generation "
        "tasks.making tasks.mix tasks.nouns tasks.reasoning tasks.russian tasks.scene tasks.task "
        "tasks.wordings",
    ),
    _wing(
        "importers", "labels of annotation tools and of other datasets",
        "formats.audacity formats.dataset_tables formats.easycom formats.elan formats.label_tools formats.locata "
        "formats.poses formats.raven formats.tool_json formats.trajectories formats.xml_text",
    ),
    _wing(
        "harnesses", "files of inspect_ai, lmms-eval and UltraEval-Audio",
        "conversion.channel_use formats.harness_answers formats.harness_files formats.harnesses formats.inspect_eval "
        "scores.harnesses", "answers",
    ),
    _wing(
        "challenge", "packages of submissions to DCASE",
        "challenge rules.package rules.package_meta rules.package_rules cli.package", "",
        Verb("package", "Pack outputs as the zip that DCASE Task 3 takes.", "seldio.cli.package:package"),
    ),
    _wing(
        "listening", "labels compared with their recordings",
        "rules.deep rules.deep_apart rules.deep_causes rules.deep_evidence rules.deep_fit rules.deep_levels "
        "rules.deep_pieces rules.deep_pooled rules.deep_timing",
    ),
    _wing(
        "video", "videos on their clock",
        "media.contained media.video media.video_packets media.video_writing rules.tree_video rules.video",
    ),
    _wing(
        "viewer", "pages and drawings of clips", "viewer cli.view", "",
        Verb("view", "Write an HTML page about a clip: player, panorama, timeline.", "seldio.cli.view:view"),
        Verb("plot", "Draw labels, predictions, scores, or a video with labels.", "seldio.cli.view:plot"),
    ),
    _wing(
        "synth", "synthetic scenes, and the demo", "synth cli.demo", "",
        Verb("demo", "Make a small dataset and try everything on it.", "seldio.cli.demo:demo"),
    ),
    _wing(
        "hub", "the Hugging Face Hub", "hub rules.hub rules.hub_folder rules.hub_secrets cli.hub", "",
        Verb("push", "Upload a dataset to the Hugging Face Hub.", "seldio.cli.hub:push"),
        Verb("pull", "Download a dataset from the Hugging Face Hub.", "seldio.cli.hub:pull"),
        schemes=(("hf", "seldio.hub.pulling"),),
    ),
)  # fmt: skip


@cache
def wings() -> tuple[Wing, ...]:
    """All wings: those of seldio, of installed packages, and of the folders in ``SELDIO_PLUGINS``.

    Raises:
        UsageError: one from outside cannot be loaded, or is no :class:`Wing`.
    """
    for said, wing in plugins.installed():
        if not isinstance(wing, Wing):
            raise UsageError(f"{said} is not a seldio.wings.Wing")
    added = (wing for _, wing in plugins.installed())
    return tuple(dict.fromkeys((*OWN, *added, *plugins.rows("wings", Wing))))


@cache
def owner(module: str) -> Wing | None:
    """The wing that a module belongs to; None for one of the core."""
    of = (wing for wing in OWN if any(module == own or module.startswith(f"{own}.") for own in wing.modules))
    return next(of, None)


@cache
def has(module: str) -> bool:
    """Whether a module is there: it belongs to the core, or to a wing that has not been taken away."""
    wing = owner(module)
    return wing is None or there(wing.name)


def require(module: str, what: str) -> None:
    """MissingWing where *what* needs a module of a wing that is missing."""
    wing = owner(module)
    if wing is not None and not there(wing.name):
        raise missing(wing.name, what)


@cache
def there(name: str) -> bool:
    """Whether the wing called *name* is there, with all that it needs."""
    wing = _named(name)
    return wing is not None and all(map(_found, wing.modules)) and all(map(there, wing.needs))


def _named(name: str) -> Wing | None:
    """The wing called *name*; those from outside are only looked for where none of seldio is."""
    own = (one for one in OWN if one.name == name)
    return next(own, None) or next((one for one in wings() if one.name == name), None)


def _found(module: str) -> bool:
    """Whether a module can be imported; the packages that it stands in are not, as that takes its time."""
    parents = module.split(".")[:-1]
    folders = [str(Path(top, *parents[1:])) for top in import_module(parents[0]).__path__] if parents else None
    try:
        return module in sys.modules or any(finder.find_spec(module, folders) for finder in sys.meta_path)
    except ModuleNotFoundError:
        return False


def module_for(scheme: str) -> Any:
    """The module that fetches addresses with this scheme; None where no wing does.

    Raises:
        MissingWing: the wing that does is missing.
    """
    place = next((place for wing in wings() for known, place in wing.schemes if known == scheme), None)
    if place is None:
        return None
    with needed(f"{scheme}://"):
        return import_module(place)


def storages() -> dict[str, Wing]:
    """The ways to store a dataset that wings add, and the wing of each."""
    return {name: wing for wing in wings() for name, _ in wing.storages}


def storage(name: str) -> Any:
    """The function that tells the files of a storage; None where no wing adds one of that name.

    Raises:
        MissingWing: the wing that does, or one that it needs, is missing.
    """
    wing = storages().get(name)
    if wing is None:
        return None
    if not there(wing.name):
        raise missing(wing.name, f"the storage {name}")
    module, _, function = dict(wing.storages)[name].partition(":")
    with needed(f"the storage {name}"):
        return getattr(import_module(module), function)


@contextmanager
def needed(what: str) -> Iterator[None]:
    """Around what may import a wing because somebody asked for *what*, such as ``seldio view``; also a decorator.

    Raises:
        MissingWing: the wing is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        wing = owner(error.name or "")
        if wing is None:
            raise
        raise missing(wing.name, what) from None


def missing(name: str, what: str) -> MissingWing:
    """What is said where *what* was asked for and the wing called *name* is missing."""
    wing = _named(name)
    if wing and (lacking := next((need for need in wing.needs if not there(need)), None)):
        return missing(lacking, what)
    return MissingWing(name, wing.title if wing else "", what)
