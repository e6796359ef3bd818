"""The conservation laws (design 6): sums over recipes, systems and limits agree.

The state of a scheduler follows from the log alone, and no sum has an event of its own. So a law is broken
only if Labledger has a bug, and a person must decide which side is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final

from domain.queues.tree import paths_upward
from domain.recipe.lifecycle import PLACED, UNPLACED
from domain.recipe.state import Recipe
from domain.scheduling.admitting.room_limits import Needs, RoomLimit
from domain.scheduling.sets.recipe_sets import RecipeSets
from domain.system.lifecycle import MIRRORED, WITH_RECIPE
from domain.system.state import System

USAGE: Final = "usage"
SYSTEMS: Final = "systems"
CHARGES: Final = "charges"
ORPHANS: Final = "orphans"
SIGNS: Final = "signs"
CLAIMS: Final = "claims"

LAWS: Final = {
    USAGE: "recipes hold the systems in use, which are used as the recipes are; used of a queue = sum of the"
    " queues below it + systems that its own recipes hold",
    SYSTEMS: "all systems are used, free, reserved or away, and each is only one of these",
    CHARGES: "what the limits are charged with is what is placed",
    ORPHANS: "no recipe is unknown to its system, its set or its job",
    SIGNS: "no sum is negative",
    CLAIMS: "recipes and systems name the same claims, each of an unplaced recipe",
}
"""The name of each law, and the law."""

UNUSED: Final = ("idle", "pending")


class Conservation:
    """The check of the laws over the systems and placed recipes that changed since the last check. Mutable.

    Every change is noted by `put_system` or `put_recipe`, and what breaks a law is checked again. Charges are
    summed anew, because only sets with limits have any. The systems that queues use are counted a second
    time here, without those of the queues below, and all sums are compared.
    """

    def __init__(self, sets: RecipeSets) -> None:
        self._sets = sets
        self._held = Counter[str]()
        self._systems: dict[str, None] = {}
        self._recipes: dict[int, None] = {}
        self._claimants: dict[int, None] = {}

    def put_system(self, before: System | None, system: System) -> None:
        self._systems[system.fqdn] = None
        recipe_id = None if before is None else before.recipe_id
        if recipe_id is not None and recipe_id in self._sets.placed:
            self._recipes[recipe_id] = None

    def put_recipe(self, before: Recipe | None, recipe: Recipe) -> None:
        for state in (before, recipe):
            if state is not None and state.system is not None:
                self._systems[state.system] = None
        if recipe.state in PLACED:
            self._recipes[recipe.recipe_id] = None
        else:
            self._recipes.pop(recipe.recipe_id, None)
        if recipe.claim is not None:
            self._claimants[recipe.recipe_id] = None
        elif before is not None and before.claim is not None:
            self._claimants.pop(recipe.recipe_id, None)
        change = _holds_system(recipe) - (before is not None and _holds_system(before))
        if change:
            queue = self._sets.sets[recipe.recipe_set_id].submitted.queue
            self._held[queue] += change
            if not self._held[queue]:
                del self._held[queue]

    def broken_laws(self, systems: Mapping[str, System]) -> dict[str, int]:
        """Return the number of violations of each broken law; a pair of recipe and system may count twice."""
        sets = self._sets
        changed = [systems[fqdn] for fqdn in self._systems]
        misused = [system.fqdn for system in changed if not _is_used_as_its_recipe(system, sets)]
        miscounted = [system.fqdn for system in changed if not _is_counted_once(system)]
        placed = (sets.recipes[number] for number in self._recipes)
        orphans = [recipe.recipe_id for recipe in placed if not _is_named(recipe, systems, sets)]
        self._systems, self._recipes = dict.fromkeys(misused + miscounted), dict.fromkeys(orphans)
        found = {
            USAGE: len(misused) + sum(1 for _ in self._misused_queues()),
            SYSTEMS: len(miscounted),
            ORPHANS: len(orphans),
            CHARGES: sum(1 for _ in _wrong_charges(sets)),
            SIGNS: sum(used < 0 for used in chain(sets.rooms.used.values(), sets.turns.used.values())),
            CLAIMS: sum(1 for _ in self._wrong_claims()),
        }
        return {law: count for law, count in found.items() if count}

    def _wrong_claims(self) -> Iterator[int]:
        """Yield the recipes whose claims differ from those of the systems, or that claim one while placed."""
        recipes, of = self._sets.recipes, self._sets.claims.of
        for recipe_id in {**self._claimants, **dict.fromkeys(of.values())}:
            recipe = recipes.get(recipe_id)
            if (
                recipe is None
                or recipe.claim is None
                or recipe.state not in UNPLACED
                or of.get(recipe.claim.system) != recipe_id
            ):
                yield recipe_id

    def _misused_queues(self) -> Iterator[str]:
        """Yield the queues whose used systems are not the sum of their own and of those below."""
        used, expected = self._sets.turns.used, Counter[str]()
        for queue, held in self._held.items():
            for path in paths_upward(queue):
                expected[path] += held
        yield from (path for path in {**expected, **used} if expected[path] != used.get(path, 0))


def _holds_system(recipe: Recipe) -> bool:
    """Return whether a recipe has a system of its own; a guest has that of its host."""
    return recipe.state in PLACED and not recipe.is_guest


def _is_used_as_its_recipe(system: System, sets: RecipeSets) -> bool:
    """Return whether the usage of a system agrees with its recipe, or with its reservation by a person."""
    if system.recipe_id is None:
        return system.usage not in WITH_RECIPE or system.reservation is not None
    recipe = sets.recipes.get(system.recipe_id)
    if recipe is None or recipe.finished or recipe.system != system.fqdn:
        return False
    return system.usage == MIRRORED[recipe.state]


def _is_counted_once(system: System) -> bool:
    """Return whether a system is exactly one of used, reserved, and neither (free or away)."""
    is_used, is_reserved = system.recipe_id is not None, system.reservation is not None
    is_neither = system.usage in UNUSED and not is_reserved
    return is_used + is_reserved + is_neither == 1


def _is_named(recipe: Recipe, systems: Mapping[str, System], sets: RecipeSets) -> bool:
    """Return whether set and system of a placed recipe name it. Guests have the system of their host."""
    recipe_set = sets.sets.get(recipe.recipe_set_id)
    if recipe_set is None or recipe.recipe_id not in recipe_set.recipe_ids:
        return False
    if recipe.is_guest:
        return True
    system = None if recipe.system is None else systems.get(recipe.system)
    return system is not None and system.recipe_id == recipe.recipe_id


def _wrong_charges(sets: RecipeSets) -> Iterator[RoomLimit | int]:
    """Yield the sets that are charged although nothing of them is placed, or the reverse; and wrong sums."""
    rooms = sets.rooms
    if not sets.classes.limited and not rooms.charged and not rooms.used:
        return
    set_ids = dict.fromkeys(sets.recipes[recipe_id].recipe_set_id for recipe_id in sets.placed)
    needy = {each: None for each in set_ids if each in sets.classes.limited}
    yield from (each for each in needy if each not in rooms.charged)
    yield from (each for each in rooms.charged if each not in needy)
    sums = Counter[RoomLimit]()
    for needs in chain(rooms.charged.values(), rooms.charged_jobs.values()):
        _add(sums, needs)
    yield from (limit for limit in {**sums, **rooms.used} if sums[limit] != rooms.used.get(limit, 0))


def _add(sums: Counter[RoomLimit], needs: Needs) -> None:
    for limit, count in needs:
        sums[limit] += count
