"""Fast copies of a world, which share all values that are never changed in place."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from enum import Enum
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from domain.scheduling.world.partition import Partition

TIMES = (datetime, timedelta)
ATOMS = (int, str, type(None), float, tuple, frozenset, *TIMES, type, Enum, FunctionType, partial)


class Copier:
    """Copies objects; objects of the `shared` classes are not copied, because no action changes them.

    An object with several references is copied once; a list, a dictionary or an object with
    slots must have a single owner, except for the systems of a partition, and a tuple contains only values
    that are never changed in place.
    """

    def __init__(self, shared: Collection[type] = ()) -> None:
        self._atoms: set[type] = {bool, *ATOMS, *shared}
        self._copies: dict[int, Any] = {}
        self._kinds: dict[type, Callable[[Any], Any]] = {
            dict: self._mapping,
            Counter: lambda thing: Counter(self._mapping(thing)),
            defaultdict: lambda thing: defaultdict(thing.default_factory, self._mapping(thing)),
            list: self._list,
            set: set,
            bytearray: bytearray,
            MethodType: lambda thing: MethodType(thing.__func__, self._copy(thing.__self__)),
        }

    def copy(self, thing: Any) -> Any:
        self._copies = {}
        made = self._copy(thing)
        for each in [each for each in self._copies.values() if each.__class__ is Partition]:
            _share_systems(each)
        return made

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
        made = self._copies.get(id(thing))
        if made is None:
            made = self._copies[id(thing)] = thing.__class__.__new__(thing.__class__)
            made.__dict__ = self._mapping(thing.__dict__)
        return made

    def _slotted(self, thing: Any) -> Any:
        made = thing.__class__.__new__(thing.__class__)
        for name in thing.__slots__:
            setattr(made, name, self._copy(getattr(thing, name)))
        return made

    def _new_kind(self, cls: type) -> Callable[[Any], Any]:
        """Return the copy function of a class. Raises for an unknown class: its objects may be mutable."""
        frozen = getattr(getattr(cls, "__dataclass_params__", None), "frozen", False)
        if frozen or issubclass(cls, ATOMS):
            self._atoms.add(cls)
            return lambda thing: thing
        assert cls.__module__.startswith(("domain.", "tests.")), f"how is {cls} copied?"
        self._kinds[cls] = self._object if cls.__dictoffset__ else self._slotted
        return self._kinds[cls]


def _share_systems(partition: Partition) -> None:
    """Let the moves of labs look at the systems and recipes of the copy: the dictionary has two owners."""
    moves = partition._lab_moves
    moves._systems = partition.systems
    moves._has_recipe_or_set = lambda subject: partition._find(subject) is not None
