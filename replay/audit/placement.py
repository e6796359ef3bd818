"""Invariants of placement: one recipe per system, and no contradiction between recipe and system."""

from __future__ import annotations

from replay.audit.affected import Affected
from replay.audit.invariant import Invariant, Violations
from replay.audit.record import Commit, EventRecord
from replay.audit.tables import BEFORE_START, FINISHED, FREE, MIRRORED, PLACED
from replay.audit.values import Recipe, System
from replay.audit.world import FoldedWorld


class OneRecipePerSystem(Invariant):
    """Two unfinished recipes are never on one system, except guests, which are on their host's system."""

    name = "one_recipe_per_system"

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        for system in affected.systems:
            on = [world.recipes[number] for number in world.recipes_on.get(system.fqdn, ())]
            hosts = [recipe.subject for recipe in on if not recipe.is_guest]
            if len(hosts) > 1:
                what = f"{len(hosts)} recipes are placed on it"
                yield self.violation(commit.about(system.subject, *hosts), [system.subject, *hosts], what)
        for recipe in affected.recipes:
            yield from self._check_host_system(world, recipe, commit)

    def _check_host_system(self, world: FoldedWorld, recipe: Recipe, commit: Commit) -> Violations:
        host = world.recipes.get(recipe.host_id or 0)
        if host is None or recipe.state in FINISHED or recipe.system == host.system:
            return
        subjects = recipe.subject, host.subject
        yield self.violation(
            commit.about(*subjects), subjects, f"guest on {recipe.system}, its host on {host.system}"
        )


class InStep(Invariant):
    """Recipe and system agree at the end of every commit, and guests agree with their host."""

    name = "in_step"
    topics = tuple(f"recipe.{state}" for state in MIRRORED if state != "scheduled")

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        recipe = world.recipes.get(int(record.name))
        if recipe is not None and record.data["system"] != recipe.system:
            what = f"{record.topic} on {record.data['system']}, placed on {recipe.system}"
            yield self.violation([record.position], [record.subject], what)

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        for recipe in affected.recipes:
            if recipe.is_guest:
                yield from self._check_guest(world, recipe, commit)
            else:
                yield from self._check_recipe(world, recipe, commit)
        for system in affected.systems:
            yield from self._check_system(world, system, commit)

    def _check_recipe(self, world: FoldedWorld, recipe: Recipe, commit: Commit) -> Violations:
        for guest in world.guests(recipe) if recipe.state in FINISHED else ():
            subjects = recipe.subject, guest.subject
            yield self.violation(
                commit.about(*subjects), subjects, f"its host ended, the guest is {guest.state}"
            )
        if recipe.state not in PLACED:
            return
        system = world.systems.get(recipe.system or "")
        mirrored = (system.usage, system.recipe_id) if system is not None else None
        if mirrored != (MIRRORED[recipe.state], recipe.recipe_id):
            subjects = recipe.subject, f"system/{recipe.system}"
            what = f"{recipe.state}, its system is {_usage(system)}"
            yield self.violation(commit.about(*subjects), subjects, what)

    def _check_guest(self, world: FoldedWorld, guest: Recipe, commit: Commit) -> Violations:
        host = world.recipes.get(guest.host_id or 0)
        if host is None or guest.state in FINISHED or guest.state == host.state:
            return
        if guest.state in BEFORE_START or host.state in BEFORE_START:
            subjects = guest.subject, host.subject
            what = f"guest is {guest.state}, its host {host.state}"
            yield self.violation(commit.about(*subjects), subjects, what)

    def _check_system(self, world: FoldedWorld, system: System, commit: Commit) -> Violations:
        contradiction = _contradiction(world, system)
        if contradiction is not None:
            yield self.violation(commit.about(system.subject), [system.subject], contradiction)


def _usage(system: System | None) -> str:
    return "unknown" if system is None else f"{system.usage} with recipe {system.recipe_id}"


def _contradiction(world: FoldedWorld, system: System) -> str | None:
    """Return the contradiction in a system's usage, if any, by the second table of design section 2."""
    what = f"{system.condition}, {_usage(system)}"
    if system.reserved:
        return f"{what}, reserved by a person" if system.usage in FREE or system.recipe_id else None
    if system.recipe_id is not None:
        return _recipe_contradiction(world, system, what)
    if system.usage not in FREE:
        return f"{what}, without a recipe or a reservation"
    is_closed = system.usage == "pending" and not system.takes_recipes
    return f"{what}, draining, occupied or not Automated" if is_closed else None


def _recipe_contradiction(world: FoldedWorld, system: System, what: str) -> str | None:
    recipe = world.recipes.get(system.recipe_id or 0)
    if recipe is None or recipe.state not in PLACED or recipe.system != system.fqdn:
        return f"{what}, which is not placed there"
    forced = recipe.requirements.forced == system.fqdn.casefold()
    if system.condition == "Removed" or (system.condition == "Broken" and not forced):
        return f"{what}, which should have been withdrawn from it"
    return None
