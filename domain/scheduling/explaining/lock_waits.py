"""The reasons why a recipe set waits for its resource locks: the sets in its way, and its overtakings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from domain.contention.documents import locks_to_json
from domain.intake_states import STOPPED
from domain.scheduling.supply.reasons import PARTITION_STOPPED
from domain.scheduling.world.partition import Partition

MAX_BLOCKERS: Final = 10
"""Maximum number of sets that an explanation names."""

HOLDS: Final = "holds conflicting locks"
IS_OWED: Final = "is owed its locks"
IS_FIRST: Final = "gets its locks first"


@dataclass(frozen=True)
class LockWait:
    """The wait of a set for its locks.

    `waits_for` has the first of `waits_for_count` sets that hold conflicting locks, are owed them, or get
    them first. When the set is `owed` its locks, no set behind it gets conflicting ones.
    """

    recipe_set_id: int
    overtaken: int
    owed: bool
    waits_for: tuple[int, ...]
    waits_for_count: int


def lock_wait(partition: Partition, recipe_set_id: int) -> LockWait | None:
    """Return the wait of a set; None if it does not wait for its locks."""
    locks = partition.locks
    wanted = locks.waiting.get(recipe_set_id)
    if wanted is None:
        return None
    blockers = tuple(dict.fromkeys(locks.blockers(wanted)))
    overtaken, is_owed = locks.overtaken.get(recipe_set_id, 0), locks.is_owed(recipe_set_id)
    return LockWait(recipe_set_id, overtaken, is_owed, blockers[:MAX_BLOCKERS], len(blockers))


def wanted_locks(partition: Partition, recipe_set_id: int) -> dict[str, Any]:
    """Return the document of the locks for which a set waits."""
    return locks_to_json(partition.locks.waiting[recipe_set_id].locks)


def why_in_the_way(partition: Partition, recipe_set_id: int) -> str:
    """Return why other sets wait for a set."""
    if recipe_set_id not in partition.locks.waiting:
        return HOLDS
    return IS_OWED if partition.locks.is_owed(recipe_set_id) else IS_FIRST


def lock_summary(partition: Partition, wait: LockWait) -> str:
    """Return why a set waits, in one line."""
    if partition.state == STOPPED:
        return PARTITION_STOPPED
    if not wait.waits_for:
        return "its recipe set is about to get its resource locks"
    noun = "recipe set" if wait.waits_for_count == 1 else "recipe sets"
    more = wait.waits_for_count - len(wait.waits_for)
    names = ", ".join(map(str, wait.waits_for)) + (f" and {more} more" if more else "")
    return f"its recipe set waits for resource locks, after {noun} {names}"
