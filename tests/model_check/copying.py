"""Copies of a world, made by the hundred thousand: what is never changed in place is shared."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from enum import Enum
from functools import partial
from types import FunctionType, MethodType
from typing import Any

TIMES = (datetime, timedelta)
ATOMS = (int, str, type(None), float, tuple, frozenset, *TIMES, type, Enum, FunctionType, partial)


class Copier:
    """`shared` are classes whose objects are left alone, because nothing that is done changes them.

    An object that is reached twice is copied once; of lists and dictionaries there must be no second owner.
    """

    def __init__(self, shared: Collection[type] = ()) -> None:
        self._atoms: set[type] = {bool, *ATOMS, *shared}
        self._known: dict[int, Any] = {}
        self._kinds: dict[type, Callable[[Any], Any]] = {
            dict: self._mapping,
            Counter: lambda thing: Counter(self._mapping(thing)),
            defaultdict: lambda thing: defaultdict(thing.default_factory, self._mapping(thing)),
            list: self._list,
            set: set,
            MethodType: lambda thing: MethodType(thing.__func__, self._copy(thing.__self__)),
        }

    def copy(self, thing: Any) -> Any:
        self._known = {}
        return self._copy(thing)

    def _copy(self, thing: Any) -> Any:
        cls = thing.__class__
        if cls in self._atoms:
            return thing
        return (self._kinds.get(cls) or self._new_kind(cls))(thing)

    def _mapping(self, thing: dict[Any, Any]) -> dict[Any, Any]:
        atoms, copy = self._atoms, self._copy
        return {name: value if value.__class__ in atoms else copy(value) for name, value in thing.items()}

    def _list(self, thing: list[Any]) -> list[Any]:
        atoms, copy = self._atoms, self._copy
        return [each if each.__class__ in atoms else copy(each) for each in thing]

    def _object(self, thing: Any) -> Any:
        made = self._known.get(id(thing))
        if made is None:
            made = self._known[id(thing)] = thing.__class__.__new__(thing.__class__)
            made.__dict__ = self._mapping(thing.__dict__)
        return made

    def _new_kind(self, cls: type) -> Callable[[Any], Any]:
        """Says so of a kind of thing that it does not know, rather than share what changes."""
        frozen = getattr(getattr(cls, "__dataclass_params__", None), "frozen", False)
        if frozen or issubclass(cls, ATOMS):
            self._atoms.add(cls)
            return lambda thing: thing
        assert cls.__module__.startswith(("domain.", "tests.")), f"how is {cls} copied?"
        self._kinds[cls] = self._object
        return self._object
