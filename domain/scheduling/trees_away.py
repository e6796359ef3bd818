"""Distro trees that have left every lab, and since when (design section 4.5).

A tree that is deleted and put again by some script is away for seconds: sets wait for it a while.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

# A constant of policy version 5: sets are given up when a tree has been away for that long.
AWAY_SECONDS: Final = 600
# Long enough for a scheduler that was stopped meanwhile: older entries decide nothing.
KEPT_SECONDS: Final = 86_400


class TreesAway:
    """Mutable: tell it of each change. Times are those at which the database recorded the change."""

    def __init__(self) -> None:
        self._since: dict[int, datetime] = {}

    def left(self, tree_id: int, at: datetime) -> None:
        """No lab has the tree any more."""
        self._since[tree_id] = at
        self._forget(at - timedelta(seconds=KEPT_SECONDS))

    def arrived(self, tree_id: int) -> None:
        self._since.pop(tree_id, None)

    def is_away(self, tree_id: int | None, at: datetime) -> bool:
        """Whether it was there less than 600 s ago, and is in no lab now."""
        since = None if tree_id is None else self._since.get(tree_id)
        return since is not None and at < since + timedelta(seconds=AWAY_SECONDS)

    def first_of(self, tree_ids: Iterable[int | None]) -> int | None:
        """Return the first of these trees that has left every lab lately, for whoever explains, or None."""
        return next((tree_id for tree_id in tree_ids if tree_id in self._since), None)

    def _forget(self, before: datetime) -> None:
        """The order of entries is that of their times."""
        while self._since and next(iter(self._since.values())) < before:
            del self._since[next(iter(self._since))]

    def plain(self) -> dict[str, datetime]:
        return {str(tree_id): since for tree_id, since in self._since.items()}

    def restore(self, values: Mapping[str, str]) -> None:
        """Begin from what `plain` gave; times have become texts."""
        self._since = {int(tree_id): datetime.fromisoformat(since) for tree_id, since in values.items()}
