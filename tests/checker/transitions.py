"""Every move of a recipe and of a system's usage is in the tables; every subject counts its versions."""

from __future__ import annotations

from tests.checker.invariant import Found, Invariant
from tests.checker.record import Record
from tests.checker.tables import FREE, RECIPE_MOVES, USAGE_MOVES
from tests.checker.world import World

BEGINNINGS = {"recipe": "recipe.new", "system": "system.registered", "recipe-set": "recipe-set.submitted"}


class LegalTransitions(Invariant):
    """Recipes and systems move by the tables of design section 2; finished recipes never change."""

    name = "legal_transitions"

    def __init__(self) -> None:
        self._versions: dict[str, int] = {}

    def event(self, world: World, record: Record) -> Found:
        yield from self._version(record)
        yield from self._beginning(record)
        if record.kind == "recipe":
            yield from self._recipe(world, record)
        elif record.kind == "system":
            yield from self._system(world, record)
        self._versions[record.subject] = record.version

    def _version(self, record: Record) -> Found:
        expected = self._versions.get(record.subject, 0) + 1
        if record.version != expected:
            what = f"version {record.version} follows version {expected - 1}"
            yield self.broken([record.position], [record.subject], what)

    def _beginning(self, record: Record) -> Found:
        beginning = BEGINNINGS.get(record.kind, record.topic)
        if (record.topic == beginning) == (record.subject in self._versions) and record.kind in BEGINNINGS:
            what = f"{record.topic}, {'again' if record.topic == beginning else f'before {beginning}'}"
            yield self.broken([record.position], [record.subject], what)

    def _recipe(self, world: World, record: Record) -> Found:
        number = int(record.name)
        if number in world.finished:
            what = f"{record.topic}, when it was {world.finished[number].state} already"
            yield self.broken([record.position], [record.subject], what)
        recipe = world.recipes.get(number)
        if recipe is None or record.happened not in RECIPE_MOVES:
            return
        if record.happened not in RECIPE_MOVES[recipe.state]:
            what = f"went from {recipe.state} to {record.happened}"
            yield self.broken([record.position], [record.subject], what)

    def _system(self, world: World, record: Record) -> Found:
        system, usage = world.systems.get(record.name), record.happened
        if system is None or usage not in USAGE_MOVES:
            return
        if usage not in USAGE_MOVES[system.usage]:
            what = f"went from {system.usage} to {usage}"
            yield self.broken([record.position], [record.subject], what)
        whose = record.data.get("recipe_id")
        if system.usage in FREE:
            for_a_recipe = whose is not None
            if usage not in FREE and for_a_recipe != (usage == "scheduled"):
                what = f"went from {system.usage} to {usage} with recipe {whose}"
                yield self.broken([record.position], [record.subject], what)
        elif usage not in FREE and whose != system.recipe_id:
            what = f"went from recipe {system.recipe_id} to recipe {whose} without being free"
            yield self.broken([record.position], [record.subject], what)
