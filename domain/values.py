"""Frozen values: whatever is folded from the log is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

_COPIERS: dict[type[Any], Callable[[Any], Any]] = {}


def changed(value: T, **fields: Any) -> T:
    """A copy of a frozen dataclass with slots, with some fields otherwise.

    As `dataclasses.replace`, in a fraction of its time: that goes through `__init__`, and to fold events is
    most of what a scheduler does. Raises AttributeError for a field that there is not.
    """
    cls: type[T] = type(value)
    copy = (_COPIERS.get(cls) or _copier(cls))(value)
    for name, new in fields.items():
        setattr(copy, name, new)
    copy.__class__ = cls
    return copy  # type: ignore[no-any-return]


def _copier(cls: type[Any]) -> Callable[[Any], Any]:
    """Makes copies that may be written to until they are told to be of the frozen class: theirs has the same
    slots, and no guard. Written out field by field, as `dataclass` writes its own methods.
    """
    names: tuple[str, ...] = cls.__slots__
    open_class = type(f"Open{cls.__name__}", (), {"__slots__": names})
    known: dict[str, Any] = {"make": object.__new__, "Open": open_class}
    lines = ["def copy(value):", "copy = make(Open)", *(f"copy.{name} = value.{name}" for name in names)]
    exec("\n ".join([*lines, "return copy"]), known)
    copier: Callable[[Any], Any] = known["copy"]
    _COPIERS[cls] = copier
    return copier
