"""Former members of groups. Their submissions on behalf of the group no longer count for the group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class FormerMembers:
    """The former members of each group, without users who came back. Mutable."""

    def __init__(self) -> None:
        self._former: dict[str, dict[str, None]] = {}

    def changed(self, group: str, before: Iterable[str], after: Iterable[str]) -> None:
        """Record a change of the users in a group."""
        former = {**self._former.pop(group, {}), **dict.fromkeys(before)}
        for user in after:
            former.pop(user, None)
        if former:
            self._former[group] = former

    def forget(self, group: str, user: str) -> None:
        former = self._former.get(group, {})
        former.pop(user, None)
        if not former:
            self._former.pop(group, None)

    def has_left(self, group: str, user: str) -> bool:
        return user in self._former.get(group, ())

    def plain(self) -> dict[str, Any]:
        return {group: list(users) for group, users in self._former.items()}

    def restore(self, values: Mapping[str, Any]) -> None:
        self._former = {group: dict.fromkeys(users) for group, users in values.items()}
