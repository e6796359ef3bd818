"""Frozen values: whatever is folded from the log is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class _Slots(NamedTuple):
    """What reads all fields at once, what writes each past the guard of a frozen class, and their places."""

    read: Callable[[Any], tuple[Any, ...]]
    write: tuple[Callable[[Any, Any], None], ...]
    places: Mapping[str, int]


_KNOWN: dict[type[Any], _Slots] = {}


def changed(value: T, **fields: Any) -> T:
    """A copy of a frozen dataclass with slots, with some fields otherwise.

    As `dataclasses.replace`, in half its time: that goes through `__init__`, and to fold events is most of
    what a scheduler does. Raises KeyError for a field that there is not.
    """
    cls: type[T] = type(value)
    slots = _KNOWN.get(cls) or _slots(cls)
    values = list(slots.read(value))
    for name, new in fields.items():
        values[slots.places[name]] = new
    copy = object.__new__(cls)
    for put, each in zip(slots.write, values, strict=True):
        put(copy, each)
    return copy


def _slots(cls: type[Any]) -> _Slots:
    names: tuple[str, ...] = cls.__slots__
    writers = tuple(getattr(cls, name).__set__ for name in names)
    _KNOWN[cls] = _Slots(attrgetter(*names), writers, {name: place for place, name in enumerate(names)})
    return _KNOWN[cls]
