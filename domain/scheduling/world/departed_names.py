"""Departed names: removed documents, and users who have left a group.

A scheduler needs a departed name while a recipe may depend on it: a removed group gives its recipes no
access. A concurrent submission may still use the name shortly after its departure. Each name is therefore
kept for a day, and as long as an unfinished recipe is on behalf of the group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

KEPT: Final = timedelta(days=1)


class Name(NamedTuple):
    """The subject of a removed document, or a group and the `user` who has left it."""

    subject: str
    user: str | None = None


class DepartedNames:
    """Names in the order of the times at which the database recorded their departure. Mutable."""

    def __init__(self) -> None:
        self._since: dict[Name, datetime] = {}

    def add(self, name: Name, at: datetime) -> None:
        self._since.pop(name, None)
        self._since[name] = at

    def pop_due(self, at: datetime, is_used: Callable[[Name], bool]) -> Iterator[Name]:
        """Remove and yield the names that were kept for a day. A name in use is kept for another day."""
        while self._since:
            name, since = next(iter(self._since.items()))
            if since > at - KEPT:
                return
            del self._since[name]
            if is_used(name):
                self._since[name] = at
            else:
                yield name

    def plain(self) -> list[list[Any]]:
        return [[*name, since] for name, since in self._since.items()]

    def restore(self, values: Sequence[Sequence[Any]]) -> None:
        """Restore the names from the result of `plain`, in which times are texts."""
        self._since = {Name(subject, user): datetime.fromisoformat(at) for subject, user, at in values}
