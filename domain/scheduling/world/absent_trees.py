"""Absent distro trees, which left every lab: the times of their absence and last documents (design 4.5).

A script may remove a tree and register it again seconds later, so recipe sets wait for a tree that left
recently. A set that is submitted meanwhile is checked as if the labs still had the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

# Recipe sets that need a tree are aborted after this time of its absence. Part of policy version 5.
MAX_ABSENCE_SECONDS: Final = 600
# Entries are dropped after this time, which must allow for a scheduler that was stopped.
KEPT_SECONDS: Final = 86_400


class AbsentTree(NamedTuple):
    """The time at which the database recorded that a tree left every lab, and its last document there."""

    since: datetime
    document: Mapping[str, Any]


class AbsentTrees:
    """The absent distro trees by id, oldest first. Mutable."""

    def __init__(self) -> None:
        self._absent: dict[int, AbsentTree] = {}

    def __bool__(self) -> bool:
        """Return whether any tree is absent."""
        return bool(self._absent)

    def changed(
        self, tree_id: int, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, at: datetime
    ) -> None:
        """Record a change of the document of a tree, None before its registration and after its removal."""
        if is_in_a_lab(after):
            self._absent.pop(tree_id, None)
        elif before is not None and is_in_a_lab(before):
            self._absent[tree_id] = AbsentTree(at, before)
            self._forget(at - timedelta(seconds=KEPT_SECONDS))

    def is_recently_absent(self, tree_id: int | None, at: datetime) -> bool:
        """Return whether a tree left every lab less than 600 s ago and has not returned."""
        return self.recent_document(tree_id, at) is not None

    def recent_document(self, tree_id: int | None, at: datetime) -> Mapping[str, Any] | None:
        """Return the last document of a tree that left every lab less than 600 s ago, or None."""
        tree = None if tree_id is None else self._absent.get(tree_id)
        if tree is None or at >= tree.since + timedelta(seconds=MAX_ABSENCE_SECONDS):
            return None
        return tree.document

    def last_document(self, tree_id: int | None) -> Mapping[str, Any] | None:
        """Return the last document of an absent tree; None for other trees, and if the entry was dropped."""
        tree = None if tree_id is None else self._absent.get(tree_id)
        return None if tree is None else tree.document

    def documents_of_last_day(self, now: datetime) -> dict[int, Mapping[str, Any]]:
        """Return the last documents of the trees that left every lab during the last day."""
        since = now - timedelta(seconds=KEPT_SECONDS)
        return {tree_id: tree.document for tree_id, tree in self._absent.items() if tree.since > since}

    def first_absent(self, tree_ids: Iterable[int | None]) -> int | None:
        return next((tree_id for tree_id in tree_ids if tree_id in self._absent), None)

    def _forget(self, before: datetime) -> None:
        """Drop the entries before a time; entries are in the order of their times."""
        while self._absent and next(iter(self._absent.values())).since < before:
            del self._absent[next(iter(self._absent))]

    def plain(self) -> dict[str, dict[str, Any]]:
        return {str(tree_id): tree._asdict() for tree_id, tree in self._absent.items()}

    def restore(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        """Restore the entries from the result of `plain`, in which times are texts."""
        for tree_id, tree in values.items():
            self._absent[int(tree_id)] = AbsentTree(datetime.fromisoformat(tree["since"]), tree["document"])


def is_in_a_lab(document: Mapping[str, Any] | None) -> bool:
    """Return whether a lab has the distro tree of a document."""
    return document is not None and any(document["urls"].values())
