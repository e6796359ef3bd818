"""Departed names: removed documents, and users who have left a group.

A scheduler needs a departed name while a recipe may depend on it: a group that was removed gives its recipes
no access. A new job cannot use such a name, but a job may arrive late. Each name is therefore kept for a day,
and as long as an unfinished recipe runs on behalf of it.
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

    def note(self, name: Name, at: datetime) -> None:
        self._since.pop(name, None)
        self._since[name] = at

    def due(self, at: datetime, is_used: Callable[[Name], bool]) -> Iterator[Name]:
        """Yield each name to drop. A name in use is postponed by a day."""
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
