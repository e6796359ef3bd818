"""The invariant of transitions: legal moves of recipes and systems, and consecutive versions of subjects."""

from __future__ import annotations

from collections import defaultdict

from replay.audit.invariant import Invariant, Violations
from replay.audit.record import EventRecord
from replay.audit.tables import FREE, RECIPE_MOVES, USAGE_MOVES
from replay.audit.values import Recipe
from replay.audit.world import FoldedWorld

BEGINNINGS = {"recipe": "recipe.new", "system": "system.registered", "recipe-set": "recipe-set.submitted"}


class LegalTransitions(Invariant):
    """Recipes and systems move as the tables of design section 2 allow; finished recipes never change."""

    name = "legal_transitions"
    topics = None

    def __init__(self) -> None:
        self._versions: defaultdict[str, dict[str, int]] = defaultdict(dict)

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        versions = self._versions[record.kind]
        before = versions.get(record.name, 0)
        if record.version != before + 1:
            what = f"version {record.version} follows version {before}"
            yield self.violation([record.position], [record.subject], what)
        beginning = BEGINNINGS.get(record.kind)
        if beginning is not None and (record.topic == beginning) == (before != 0):
            what = f"{record.topic}, {'again' if record.topic == beginning else f'before {beginning}'}"
            yield self.violation([record.position], [record.subject], what)
        if not record.topic.startswith(f"{record.kind}."):
            yield self.violation(
                [record.position], [record.subject], f"{record.topic} is not an event of this subject"
            )
        elif record.kind == "recipe":
            yield from self._check_recipe(world, record)
        elif record.kind == "system":
            yield from self._check_system(world, record)
        versions[record.name] = record.version

    def _check_recipe(self, world: FoldedWorld, record: EventRecord) -> Violations:
        number = int(record.name)
        recipe = world.recipes.get(number)
        if number in world.finished:
            what = f"{record.topic}, but it was already {world.finished[number].state}"
            yield self.violation([record.position], [record.subject], what)
        if recipe is not None and not _is_legal(recipe, record.event_name):
            state = "waiting for its locks" if recipe.awaits_locks else recipe.state
            what = f"went from {state} to {record.event_name}"
            yield self.violation([record.position], [record.subject], what)

    def _check_system(self, world: FoldedWorld, record: EventRecord) -> Violations:
        system, usage = world.systems.get(record.name), record.event_name
        if system is None or usage not in USAGE_MOVES:
            return
        if usage not in USAGE_MOVES[system.usage]:
            what = f"went from {system.usage} to {usage}"
            yield self.violation([record.position], [record.subject], what)
        recipe_id = record.data.get("recipe_id")
        if system.usage in FREE:
            for_recipe = recipe_id is not None
            if usage not in FREE and for_recipe != (usage == "scheduled"):
                what = f"went from {system.usage} to {usage} with recipe {recipe_id}"
                yield self.violation([record.position], [record.subject], what)
        elif usage not in FREE and recipe_id != system.recipe_id:
            what = f"went from recipe {system.recipe_id} to recipe {recipe_id} without being free"
            yield self.violation([record.position], [record.subject], what)


def _is_legal(recipe: Recipe, happened: str) -> bool:
    """Return whether an event may happen to a recipe. Withdrawal is only possible until it has its locks."""
    if happened == "locked":
        return recipe.awaits_locks
    if happened == "locks-narrowed":
        return recipe.has_started
    if happened == "changed":
        return not recipe.has_started
    if recipe.has_started and happened in ("scheduled", "assigned"):
        return False
    return happened not in RECIPE_MOVES or happened in RECIPE_MOVES[recipe.state]
