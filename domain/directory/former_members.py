"""Users who left a group: their submissions on behalf of it no longer count for the group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class FormerMembers:
    """Mutable: pass the members of a group before and after each change. A returning user has not left."""

    def __init__(self) -> None:
        self._gone: dict[str, dict[str, None]] = {}

    def changed(self, group: str, before: Iterable[str], after: Iterable[str]) -> None:
        gone = {**self._gone.pop(group, {}), **dict.fromkeys(before)}
        for user in after:
            gone.pop(user, None)
        if gone:
            self._gone[group] = gone

    def forget(self, group: str, user: str) -> None:
        """Drop the record that a user has left a group."""
        gone = self._gone.get(group, {})
        gone.pop(user, None)
        if not gone:
            self._gone.pop(group, None)

    def has_left(self, group: str, user: str) -> bool:
        return user in self._gone.get(group, ())

    def plain(self) -> dict[str, Any]:
        return {group: list(users) for group, users in self._gone.items()}

    def restore(self, values: Mapping[str, Any]) -> None:
        self._gone = {group: dict.fromkeys(users) for group, users in values.items()}
