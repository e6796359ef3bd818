"""Absent distro trees: those that have left every lab, with the time and the last document (design 4.5).

A script may remove a tree and register it again seconds later, so recipe sets wait for an absent tree. A set
that is submitted meanwhile is checked as if the labs still had the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

# Sets that need a tree are aborted when it has been absent for so long. Part of policy version 5.
AWAY_SECONDS: Final = 600
# Entries are dropped after this time, which must allow for a scheduler that was stopped.
KEPT_SECONDS: Final = 86_400


class AbsentTree(NamedTuple):
    """The time at which the database recorded that a tree left every lab, and its last document there."""

    since: datetime
    document: Mapping[str, Any]


class AbsentTrees:
    """The absent distro trees by id, oldest first. Mutable."""

    def __init__(self) -> None:
        self._away: dict[int, AbsentTree] = {}

    def changed(
        self, tree_id: int, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, at: datetime
    ) -> None:
        """Record a change of the document of a tree, None before its registration and after its removal."""
        if is_in_a_lab(after):
            self._away.pop(tree_id, None)
        elif before is not None and is_in_a_lab(before):
            self._away[tree_id] = AbsentTree(at, before)
            self._forget(at - timedelta(seconds=KEPT_SECONDS))

    def is_away(self, tree_id: int | None, at: datetime) -> bool:
        """Return whether a tree left every lab less than 600 s ago and has not returned."""
        return self.document(tree_id, at) is not None

    def document(self, tree_id: int | None, at: datetime) -> Mapping[str, Any] | None:
        """Return the last document of a tree that left every lab less than 600 s ago, or None."""
        away = None if tree_id is None else self._away.get(tree_id)
        if away is None or at >= away.since + timedelta(seconds=AWAY_SECONDS):
            return None
        return away.document

    def last(self, tree_id: int | None) -> Mapping[str, Any] | None:
        """Return the last document of an absent tree; None for other trees, and if the entry was dropped."""
        away = None if tree_id is None else self._away.get(tree_id)
        return None if away is None else away.document

    def of_last_day(self, now: datetime) -> dict[int, Mapping[str, Any]]:
        """Return the last documents of the trees that left every lab during the last day."""
        since = now - timedelta(seconds=KEPT_SECONDS)
        return {tree_id: away.document for tree_id, away in self._away.items() if away.since > since}

    def first_of(self, tree_ids: Iterable[int | None]) -> int | None:
        return next((tree_id for tree_id in tree_ids if tree_id in self._away), None)

    def _forget(self, before: datetime) -> None:
        """Drop the entries before a time; entries are in the order of their times."""
        while self._away and next(iter(self._away.values())).since < before:
            del self._away[next(iter(self._away))]

    def plain(self) -> dict[str, dict[str, Any]]:
        return {str(tree_id): away._asdict() for tree_id, away in self._away.items()}

    def restore(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        """Restore the entries from the result of `plain`, in which times are texts."""
        for tree_id, away in values.items():
            self._away[int(tree_id)] = AbsentTree(datetime.fromisoformat(away["since"]), away["document"])


def is_in_a_lab(document: Mapping[str, Any] | None) -> bool:
    """Return whether a lab has the distro tree of a document."""
    return document is not None and any(document["urls"].values())
