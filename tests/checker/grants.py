"""What a decision gives to whom, judged on what the scheduler knew: its basis and the decisions before it."""

from __future__ import annotations

from collections.abc import Iterator

from tests.checker.invariant import Found, Invariant
from tests.checker.record import Decision, Record
from tests.checker.safety import could_take_safely, stuck, wants_more
from tests.checker.tables import FREE, PRIORITIES, UNPLACED
from tests.checker.values import Recipe, System
from tests.checker.viable import Judge
from tests.checker.world import World


def standing(world: World, recipe: Recipe, system: System) -> tuple[int, int, int]:
    """Where it stands in the queue for this system: assigned in its lab, priority, submission; low first."""
    recipe_set = world.sets[recipe.set_id]
    bound = any(member.lab == system.lab for member in world.members(recipe.set_id))
    return (0 if bound else 1), PRIORITIES.index(recipe_set.priority), recipe_set.submission


def in_queue(world: World) -> Iterator[Recipe]:
    """Whoever waits for a system; a new recipe does not stand there yet."""
    for recipe in world.recipes.values():
        if recipe.state in ("queued", "assigned") and not recipe.is_guest and recipe.set_id in world.sets:
            yield recipe


class OfGrants(Invariant):
    """Base: goes through the events of a decision, each in the world that those before it made."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def decision(self, world: World, decision: Decision) -> Found:
        known = world.copy()
        for record in decision.records:
            if record.topic == "recipe.scheduled":
                yield from self._granted(known, record)
            system = known.systems.get(record.name)
            if record.topic == "system.idle" and system is not None and system.usage == "pending":
                yield from self.unwanted(known, system, record)
            known.apply(record)
        yield from self.decided(known)

    def _granted(self, known: World, record: Record) -> Found:
        recipe = known.recipes.get(int(record.name))
        system = known.systems.get(record.data["system"])
        if recipe is None or system is None or recipe.set_id not in known.sets:
            return
        if recipe.state in UNPLACED and not recipe.is_guest:
            yield from self.grant(known, recipe, system, record)

    def grant(self, known: World, recipe: Recipe, system: System, record: Record) -> Found:
        """Before the system is given to the recipe."""
        yield from ()

    def unwanted(self, known: World, system: System, record: Record) -> Found:
        """Before a pending system becomes idle."""
        yield from ()

    def decided(self, known: World) -> Found:
        """After the decision."""
        yield from ()


class UsableGrant(OfGrants):
    """What is granted was free, and usable for the recipe."""

    name = "usable_grant"

    def grant(self, known: World, recipe: Recipe, system: System, record: Record) -> Found:
        subjects = recipe.subject, system.subject
        if system.usage not in FREE and system.recipe_id != recipe.recipe_id:
            what = f"{system.fqdn} was {system.usage} with recipe {system.recipe_id}"
            yield self.broken([record.position], subjects, what)
        if not self._judge.could_take(known, recipe, system):
            yield self.broken([record.position], subjects, f"{system.fqdn} is not usable for it")


class NobodyJumped(OfGrants):
    """Nobody who stood before the winner could have used the system, and safely."""

    name = "nobody_jumped"

    def grant(self, known: World, recipe: Recipe, system: System, record: Record) -> Found:
        place = standing(known, recipe, system)
        for other in in_queue(known):
            if other.set_id == recipe.set_id or standing(known, other, system) > place:
                continue
            if could_take_safely(known, self._judge, other, system):
                what = f"{system.fqdn} went past {other.subject}, which stood before {recipe.subject}"
                subjects = recipe.subject, other.subject, system.subject
                yield self.broken([record.position], subjects, what)


class NobodyOverlooked(OfGrants):
    """A pending system becomes idle only if nobody in the queue could take it."""

    name = "nobody_overlooked"

    def unwanted(self, known: World, system: System, record: Record) -> Found:
        for recipe in in_queue(known):
            if could_take_safely(known, self._judge, recipe, system):
                what = f"{system.fqdn} became idle, and {recipe.subject} could take it"
                yield self.broken([record.position], [recipe.subject, system.subject], what)


class NoUnsafeGrant(OfGrants):
    """A grant that does not complete its set leaves an order in which every holder can be completed."""

    name = "no_unsafe_grant"

    def __init__(self, judge: Judge) -> None:
        super().__init__(judge)
        self._grants: list[tuple[Recipe, System, Record]] = []

    def grant(self, known: World, recipe: Recipe, system: System, record: Record) -> Found:
        self._grants.append((recipe, system, record))
        yield from ()

    def decided(self, known: World) -> Found:
        grants, self._grants = self._grants, []
        partial = [grant for grant in grants if wants_more(known, grant[0].set_id)]
        for recipe, system, record in partial:
            left = [f"recipe-set/{number}" for number in stuck(known, self._judge, system.lab)]
            if left:
                what = f"the grant of {system.fqdn} leaves {', '.join(left)} that cannot be completed"
                yield self.broken([record.position], [recipe.subject, system.subject, *left], what)
