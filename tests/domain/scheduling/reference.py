"""The scheduler once more, as naively as it can be said: every answer scans everything there is.

It shares no index, no bitmap and no filter language with the production code.
"""

from __future__ import annotations

from typing import Any

from domain.priority import Priority
from domain.recipe.events import RecipeAborted, RecipeQueued, RecipeScheduled, RecipeWaiting
from domain.recipe.state import Recipe
from domain.scheduling.decide import NO_DISTRO_TREE, NO_IDLE_SYSTEM, Decided
from domain.system.events import SystemIdle, SystemScheduled, SystemWaiting
from domain.system.state import System
from tests.domain.scheduling.wants import BY_TEXT
from tests.domain.scheduling.world import World

Asked = tuple[int, str, str]

NOWHERE: dict[str, Any] = {"arch": None, "family": None, "urls": {}}


def triggers(world: World) -> list[Asked]:
    """(position, kind, name) of everything that wants an answer, oldest first."""
    pending = [
        (system.since, "pending-system", system.fqdn)
        for system in world.systems.values()
        if system.usage == "pending"
    ]
    new = [
        (position, "new-job", str(set_id))
        for set_id, (position, members) in world.sets.items()
        if any(world.recipes[member].state == "new" for member in members)
    ]
    return sorted(pending + new)


def answer(world: World, asked: Asked) -> Decided:
    _, kind, name = asked
    if kind == "new-job":
        (recipe_id,) = world.sets[int(name)][1]
        return _new_job(world, world.recipes[recipe_id])
    return _pending_system(world, world.systems[name])


def _new_job(world: World, recipe: Recipe) -> Decided:
    reason = why_never(world, recipe)
    if reason is not None:
        return ((recipe.subject, RecipeAborted(reason=reason)),)
    idle = [fqdn for fqdn, system in world.systems.items() if system.usage == "idle"]
    takes = sorted(fqdn for fqdn in idle if could_use(world, recipe, world.systems[fqdn]))
    if not takes:
        return ((recipe.subject, RecipeQueued(reason=NO_IDLE_SYSTEM)),)
    system = world.systems[takes[0]]
    waiting = [other for other in world.in_state("queued") if could_use(world, other, system)]
    return _grant(min([recipe, *waiting], key=rank), system)


def _pending_system(world: World, system: System) -> Decided:
    wanting = [recipe for recipe in world.in_state("queued") if could_use(world, recipe, system)]
    if not wanting:
        return ((system.subject, SystemIdle()),)
    return _grant(min(wanting, key=rank), system)


def _grant(recipe: Recipe, system: System) -> Decided:
    return (
        (recipe.subject, RecipeScheduled(system=system.fqdn, lab_controller=system.lab_controller)),
        (system.subject, SystemScheduled(recipe_id=recipe.recipe_id)),
        (recipe.subject, RecipeWaiting(system=system.fqdn)),
        (system.subject, SystemWaiting(recipe_id=recipe.recipe_id)),
    )


def rank(recipe: Recipe) -> tuple[int, int]:
    order = [Priority.Urgent, Priority.High, Priority.Normal, Priority.Medium, Priority.Low]
    return order.index(recipe.priority), recipe.submission


def could_use(world: World, recipe: Recipe, system: System) -> bool:
    """Viable, and nobody but recipes may have the system now."""
    usable = system.condition == "Automated" and world.enabled[system.lab_controller]
    return usable and all(holds for _, holds in _tests(world, recipe, system))


def why_never(world: World, recipe: Recipe) -> str | None:
    """The first test that, with those before it, leaves no system at all."""
    if recipe.distro_tree_id is None:
        return NO_DISTRO_TREE
    if not world.systems:
        return "no system is registered"
    rows = [_tests(world, recipe, system) for system in world.systems.values()]
    for number, (reason, _) in enumerate(rows[0]):
        if not any(all(holds for _, holds in row[: number + 1]) for row in rows):
            return reason
    return None


def _tests(world: World, recipe: Recipe, system: System) -> list[tuple[str, bool]]:
    tree = world.trees.get(recipe.distro_tree_id or 0, NOWHERE)
    excluded = [(row["arch"], row["family"]) for row in system.inventory.get("excluded_families", ())]
    pools = world.pools.get(system.fqdn, [])
    return [
        ("no system is registered", system.condition != "Removed"),
        ("no lab has the distro tree", bool(tree["urls"].get(system.lab_controller))),
        ("no system has the architecture of the distro tree", tree["arch"] in system.inventory["arches"]),
        ("every system excludes the distro family", (tree["arch"], tree["family"]) not in excluded),
        (
            "no system matches the host requirements",
            BY_TEXT[recipe.host_requires].holds(system, pools),
        ),
    ]
