"""What a program pays when it starts, put off or made cheap: regular expressions, data classes, Arrow's functions.

Loading a module compiles its expressions and makes its data classes, used or not, and a command loads a hundred
modules. Here an expression is compiled when it is first used, and a data class costs a sixth of what it does elsewhere.
"""

from __future__ import annotations

import dataclasses
import operator
import re
import reprlib
import sys
from typing import TYPE_CHECKING, Any, AnyStr, cast

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass


class _Pattern:
    """A regular expression that is not compiled yet; once it is, its methods are kept as attributes."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(re.compile(self.pattern, self._flags), name)
        self.__dict__[name] = value
        return value

    def __reduce__(self) -> Any:
        return re.compile, (self.pattern, self._flags)


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As :func:`re.compile`, which it calls when the expression is first used: for expressions of a module."""
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))


class _Factory:
    """Stands in a signature for a value that is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


class _Init:
    """The ``__init__`` of a data class, written and compiled when the first object is made."""

    def __init__(self, cls: Any, frozen: bool) -> None:
        self.cls, self.frozen = cls, frozen

    def __get__(self, made: Any, cls: Any) -> Any:
        self.cls.__init__ = init = self.written()
        return init.__get__(made, cls)

    def written(self) -> Any:
        """In the words in which ``dataclasses`` writes it."""
        fields, missing = [*self.cls.__dataclass_fields__.values()], dataclasses.MISSING
        taken, named, lines = ["self"], ["*"], []
        for field in fields:
            name, made = field.name, field.default_factory is not missing
            if field.init:
                default = "=_new" if made else "" if field.default is missing else f"=_values[{name!r}].default"
                (named if field.kw_only else taken).append(name + default)
            if field.init or made:
                fresh = f"_values[{name!r}].default_factory()"
                value = name if not made else f"{fresh} if {name} is _new else {name}" if field.init else fresh
                lines.append(f"_set(self, {name!r}, {value})" if self.frozen else f"self.{name} = {value}")
        lines += ["self.__post_init__()"] if hasattr(self.cls, "__post_init__") else [] if lines else ["pass"]
        head = f"def __init__({', '.join(taken + (named if named[1:] else []))}):"
        text = "\n  ".join([f"def make(_values, _set, _new):\n {head}", *lines]) + "\n return __init__"
        scope: dict[str, Any] = {}
        exec(text, sys.modules[self.cls.__module__].__dict__, scope)
        init = scope["make"](self.cls.__dataclass_fields__, object.__setattr__, _Factory())
        init.__qualname__ = f"{self.cls.__qualname__}.__init__"
        init.__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
        return init


def _frozen(cls: Any) -> dict[str, Any]:
    """What keeps the objects of a class as they are, and lets those with slots be pickled."""

    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
        if type(self) is cls or name in cls.__dataclass_fields__:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if type(self) is cls or name in cls.__dataclass_fields__:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    methods: dict[str, Any] = {"__setattr__": __setattr__, "__delattr__": __delattr__}
    if "__slots__" in vars(cls):
        names = [*cls.__dataclass_fields__]

        def __setstate__(self: Any, state: Any) -> None:  # noqa: N807
            for name, value in zip(names, state, strict=True):
                object.__setattr__(self, name, value)

        methods |= {"__getstate__": lambda self: [getattr(self, name) for name in names], "__setstate__": __setstate__}
    return methods


def _compared(cls: Any, hashed: bool) -> dict[str, Any]:
    """How the objects of a class are compared: as tuples of their values."""
    names = [field.name for field in cls.__dataclass_fields__.values() if field.compare]
    values = operator.attrgetter(*names, "__class__")

    def __eq__(self: Any, other: Any) -> Any:  # noqa: N807
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return {"__eq__": __eq__, "__hash__": (lambda self: hash(values(self))) if hashed else None}


@reprlib.recursive_repr()
def _repr(self: Any) -> str:
    shown = (field.name for field in self.__dataclass_fields__.values() if field.repr)
    return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


if not TYPE_CHECKING:

    def dataclass(cls=None, *, frozen=False, repr=True, eq=True, **options):
        """As :func:`dataclasses.dataclass`, whose text for each method of each class is compiled when it is loaded.

        Here ``__init__`` is when it is first needed; the others are shared. A subclass is left to the library.
        """
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, repr=repr, eq=eq, **options)
        if any(hasattr(base, "__dataclass_fields__") for base in cls.__bases__):
            return dataclasses.dataclass(cls, frozen=frozen, repr=repr, eq=eq, **options)
        own = {name for name, value in vars(cls).items() if value is not None}
        cls.__doc__ = cls.__doc__ or f"{cls.__name__}."  # or the library makes a signature of it, which takes its time
        cls = dataclasses.dataclass(cls, init=False, repr=False, eq=False, **options)
        methods = {"__init__": _Init(cls, frozen)} | ({"__repr__": _repr} if repr else {})
        methods |= (_compared(cls, frozen) if eq else {}) | (_frozen(cls) if frozen else {})
        for name, method in methods.items():
            if name not in own:
                setattr(cls, name, method)
        cls.__dataclass_params__.frozen = frozen
        return cls
