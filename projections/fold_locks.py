"""Folds of the resource locks that recipes hold or await, one row for each lock.

A guest has no rows: its host holds and awaits its locks. The name `$pools` stays in awaited locks, because
the pools of a system may change while its recipe waits. Queries put the pools of their moment in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from domain.contention.algebra import held
from domain.contention.documents import EXCLUSIVE, NAMED, stored_locks
from domain.contention.locks import ALL, LEVELS, WHOLE_LAB, LevelLock, Locks, Part, names
from domain.contention.own_names import POOLS, OwnNames, placed
from domain.events import Event, Recorded
from domain.recipe.events import LocksNarrowed, RecipeChanged, RecipeLocked, RecipeWaiting
from domain.recipe.lifecycle import STARTED
from projections.intervals import Instant
from projections.read_models import ReadModels, number_of
from projections.recipe_cache import LockKey
from projections.rows import LockRow, RecipeRow

HELD: Final = "held"
AWAITED: Final = "awaited"
LOCK_STATES: Final = (HELD, AWAITED)

EVERYTHING: Final = ""
"""The name of a lock on everything at a level."""


def put_locks(models: ReadModels, recipe_id: int, event: Event, after: RecipeRow, now: Instant) -> None:
    """Update the rows of a recipe, whose row is `after`, after an event that may change its locks."""
    if isinstance(event, RecipeWaiting) and event.locks is None:
        _replace(models, recipe_id, _awaited(models, recipe_id, after), AWAITED, now)
    elif isinstance(event, RecipeWaiting | RecipeLocked | LocksNarrowed):
        locks = _locks(recipe_id, stored_locks(event.locks), after.lab_controller) if event.locks else {}
        _replace(models, recipe_id, locks, HELD, now)
    elif isinstance(event, RecipeChanged):
        if after.awaits_locks:
            _replace(models, recipe_id, _awaited(models, recipe_id, after), AWAITED, now)
    elif after.state not in STARTED:
        _replace(models, recipe_id, {}, HELD, now)


def locks_narrowed(models: ReadModels, recorded: Recorded, event: LocksNarrowed, now: Instant) -> None:
    recipe_id = number_of(recorded)
    put_locks(models, recipe_id, event, models.recipes.of((recipe_id,)), now)


def _awaited(models: ReadModels, recipe_id: int, after: RecipeRow) -> dict[LockKey, str]:
    """Return the locks for which a recipe waits: unknown names count as everything, as they are taken."""
    ids = models.recipe_cache.recipes[recipe_id]
    if ids.host_recipe_id is not None or not ids.locks:
        return {}
    assert after.system is not None and after.lab_controller is not None, f"recipe {recipe_id} is waiting"
    own = OwnNames(after.system, after.lab_controller, pools=(POOLS,))
    return _locks(recipe_id, held(placed(stored_locks(ids.locks), own)), after.lab_controller)


def _locks(recipe_id: int, locks: Locks, lab_controller: str | None) -> dict[LockKey, str]:
    """Return the mode of each lock. The whole-lab lock is a level, whose names are labs."""
    found = {
        (recipe_id, level, name): mode
        for level, lock in zip(LEVELS, locks.levels, strict=True)
        for mode, part in zip(NAMED, lock, strict=True)
        for name in (part if isinstance(part, tuple) else (EVERYTHING,))
    }
    if locks.whole_lab:
        found[recipe_id, WHOLE_LAB, lab_controller or EVERYTHING] = EXCLUSIVE
    return found


def locks_of(rows: Iterable[Mapping[str, Any]]) -> Locks:
    """Return the locks of rows, each with its level, name and mode."""
    found: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        found.setdefault(row["level"], {}).setdefault(row["mode"], []).append(row["name"])
    levels = (LevelLock(*(_part(found.get(level, {}).get(mode, ())) for mode in NAMED)) for level in LEVELS)
    return Locks(tuple(levels), WHOLE_LAB in found)


def _part(names_of_mode: Sequence[str]) -> Part:
    return ALL if EVERYTHING in names_of_mode else names(*names_of_mode)


def _replace(models: ReadModels, recipe_id: int, locks: dict[LockKey, str], state: str, now: Instant) -> None:
    """Replace the open rows of a recipe. A lock that it has already keeps its row."""
    cache = models.recipe_cache
    before = cache.locks.pop(recipe_id, ())
    for key in before:
        if key not in locks:
            models.locks.end(key, now)
    if locks:
        cache.locks[recipe_id] = list(locks)
        recipe_set_id = cache.recipes[recipe_id].recipe_set_id
        for key, mode in locks.items():
            models.locks.put(key, LockRow(state, mode, recipe_set_id), now)
