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
    """Distro trees that left every lab, with the times at which the database recorded that. Mutable."""

    def __init__(self) -> None:
        self._since: dict[int, datetime] = {}

    def left(self, tree_id: int, at: datetime) -> None:
        """Note that the last lab has lost the tree."""
        self._since[tree_id] = at
        self._forget(at - timedelta(seconds=KEPT_SECONDS))

    def arrived(self, tree_id: int) -> None:
        self._since.pop(tree_id, None)

    def is_away(self, tree_id: int | None, at: datetime) -> bool:
        """Return whether a lab had the tree less than 600 s ago, and none has it now."""
        since = None if tree_id is None else self._since.get(tree_id)
        return since is not None and at < since + timedelta(seconds=AWAY_SECONDS)

    def first_of(self, tree_ids: Iterable[int | None]) -> int | None:
        """Return the first of these trees that has left every lab lately, or None, for explanations."""
        return next((tree_id for tree_id in tree_ids if tree_id in self._since), None)

    def _forget(self, before: datetime) -> None:
        """Drop the entries before a time; entries are in the order of their times."""
        while self._since and next(iter(self._since.values())) < before:
            del self._since[next(iter(self._since))]

    def plain(self) -> dict[str, datetime]:
        return {str(tree_id): since for tree_id, since in self._since.items()}

    def restore(self, values: Mapping[str, str]) -> None:
        """Restore the entries from the result of `plain`, in which times are texts."""
        self._since = {int(tree_id): datetime.fromisoformat(since) for tree_id, since in values.items()}
