"""Data classes and expressions that cost little to define do what those of the library do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest

from seldio import quick


def make(dataclass: Callable[..., Any], **options: Any) -> Any:
    """A class of the same fields, made by *dataclass*."""

    @dataclass(**options)
    class Made:
        number: int
        words: list[str] = dataclasses.field(default_factory=list)
        note: str = dataclasses.field(default="", compare=False)
        hidden: int = dataclasses.field(default=3, repr=False)
        counted: dict[str, int] = dataclasses.field(init=False, default_factory=dict)

    return Made


@pytest.mark.parametrize("options", [{}, {"frozen": True}, {"frozen": True, "slots": True}, {"kw_only": True}], ids=str)
def test_a_data_class_is_as_the_library_makes_it(options: dict[str, Any]) -> None:
    ours, theirs = make(quick.dataclass, **options), make(dataclasses.dataclass, **options)
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    one, other = ours(number=1, note="a"), ours(number=1, note="b")
    assert repr(one) == repr(theirs(number=1, note="a"))
    assert one == other
    assert one != dataclasses.replace(one, number=2)
    assert one != theirs(number=1)
    assert one.words == []
    assert one.words is not other.words
    assert dataclasses.asdict(one) == dataclasses.asdict(theirs(number=1, note="a"))
    assert copy.copy(one) == copy.deepcopy(one) == one
    for wrong in ({}, {"number": 1, "more": 2}):
        said = []
        for cls in (ours, theirs):
            with pytest.raises(TypeError) as error:
                cls(**wrong)
            said.append(str(error.value))
        assert said[0] == said[1]
    if options.get("frozen"):
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'number'"):
            one.number = 2
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'number'"):
            del one.number
    else:
        with pytest.raises(TypeError, match="unhashable"):
            hash(one)


@quick.dataclass(frozen=True, slots=True)
class Base:
    """To be pickled, and to be built on."""

    name: str
    size: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", abs(self.size))


@dataclasses.dataclass(frozen=True, kw_only=True)
class FromOutside(Base):
    """As in a package of somebody else, who knows the library's."""

    more: str = ""


def test_a_data_class_can_be_pickled_hashed_and_built_on() -> None:
    assert pickle.loads(pickle.dumps(Base("a", -2))) == Base("a", 2)
    assert len({Base("a"), Base("a"), Base("b")}) == 2
    assert FromOutside("a", more="b") == FromOutside("a", 0, more="b")
    assert repr(FromOutside("a")) == "FromOutside(name='a', size=0, more='')"


def test_an_expression_is_compiled_when_it_is_used() -> None:
    lazy = quick.regex(r"(?P<word>\w+)", re.IGNORECASE)
    assert lazy.pattern == r"(?P<word>\w+)"
    assert lazy.sub("x", "a b") == "x x"
    assert lazy.groupindex["word"] == 1
    assert pickle.loads(pickle.dumps(lazy)) == re.compile(r"(?P<word>\w+)", re.IGNORECASE)
