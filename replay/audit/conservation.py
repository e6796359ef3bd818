"""The conservation laws (design 6): sums over recipes, systems and limits agree after every commit.

The invariants have the names of the laws. They check the systems and sets that a commit may have changed, so
that sums which were right before it are right after it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import chain

from replay.audit.affected import Affected
from replay.audit.invariant import Invariant, Violations
from replay.audit.queue_sums import QueueInPartition, QueueSums, upward
from replay.audit.queue_tree import DEFAULT_QUEUE
from replay.audit.record import Commit, EventRecord
from replay.audit.tables import CLAIM_ENDED, CLAIMED, FINISHED, FREE, UNPLACED, WITHOUT_LAB
from replay.audit.values import Recipe, System
from replay.audit.world import FoldedWorld


class Usage(Invariant):
    """The systems that recipes hold are the systems in use. Guests use the system of their host.

    So the used systems of a queue are those that its recipes hold, and those of the queues below it.
    """

    name = "usage"

    def __init__(self) -> None:
        self.queues = QueueSums()

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        for system in affected.systems:
            held_by = _hosts_on(world, system)
            used_by = [] if system.recipe_id is None else [system.recipe_id]
            if held_by != used_by:
                subjects = [system.subject, *(f"recipe/{number}" for number in {*held_by, *used_by})]
                what = f"held by {_named(held_by)}, in use by {_named(used_by)}"
                yield self.violation(commit.about(*subjects), subjects, what)
        touched = self._touched(world, affected)
        for queue in dict.fromkeys(each for own in touched for each in upward(own)):
            if self.queues.report(queue):
                below = (subjects for own, subjects in touched.items() if queue in upward(own))
                users = list(dict.fromkeys(chain.from_iterable(below)))
                concerned = [f"queue/{queue.path}", *users]
                yield self.violation(commit.about(*users), concerned, self.queues.described(queue))

    def _touched(self, world: FoldedWorld, affected: Affected) -> Mapping[QueueInPartition, list[str]]:
        """Note the present usage; return the queues of the affected recipes and systems, with these."""
        touched = defaultdict[QueueInPartition, list[str]](list)
        for recipe in affected.recipes:
            if not recipe.is_guest:
                queue = _queue_of(world, recipe)
                is_holding = recipe.system is not None and recipe.state not in FINISHED
                self.queues.hold(recipe.recipe_id, queue if is_holding else None)
                if queue is not None:
                    touched[queue].append(recipe.subject)
        for system in affected.systems:
            user = world.recipes.get(system.recipe_id or 0) or world.finished.get(system.recipe_id or 0)
            queue = None if user is None else _queue_of(world, user)
            for each in (queue, self.queues.use(system.fqdn, queue)):
                if each is not None:
                    touched[each].append(system.subject)
        return touched


class Systems(Invariant):
    """Every system is one of used, free, reserved by a person, occupied, or away."""

    name = "systems"

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        for system in affected.systems:
            is_used = bool(_hosts_on(world, system))
            is_unused = not is_used and not system.reserved and system.usage in FREE
            counts = {
                "used": is_used,
                "reserved": system.reserved,
                "free": is_unused and system.takes_recipes,
                "occupied": is_unused and system.occupied,
                "away": is_unused and not system.takes_recipes and not system.occupied,
            }
            found = [name for name, counted in counts.items() if counted]
            if len(found) != 1:
                what = f"{system.usage} and {system.condition}, counts as {' and '.join(found) or 'nothing'}"
                yield self.violation(commit.about(system.subject), [system.subject], what)


class Charges(Invariant):
    """A set is charged under its limits while it holds a lab or systems, and then with its whole size."""

    name = "charges"

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        for set_id in affected.sets:
            is_placed = any(recipe.state not in WITHOUT_LAB for recipe in world.members(set_id))
            charged = world.rooms.charged.get(set_id)
            expected = world.needs(set_id) if is_placed else None
            if charged != expected:
                subject = f"recipe-set/{set_id}"
                what = f"charged with {charged}, should be {expected}"
                yield self.violation(commit.about(subject), [subject], what)


class Orphans(Invariant):
    """No recipe holds an unknown system, and no recipe or set is unknown to its set or job."""

    name = "orphans"
    topics = ("recipe.new", "recipe-set.submitted")

    def __init__(self) -> None:
        self._submitted: dict[int, EventRecord] = {}
        self._new: dict[int, EventRecord] = {}

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        (self._new if record.topic == "recipe.new" else self._submitted)[int(record.name)] = record
        yield from ()

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        new, self._new = self._new, {}
        submitted, self._submitted = self._submitted, {}
        for number, record in new.items():
            recipe_set = world.sets.get(record.data["recipe_set_id"])
            if recipe_set is None or number not in recipe_set.recipe_ids:
                what = f"recipe-set/{record.data['recipe_set_id']} does not know it"
                yield self.violation([record.position], [record.subject], what)
        for record in submitted.values():
            for number in record.data["recipe_ids"]:
                if number not in world.recipes and number not in world.finished:
                    yield self.violation([record.position], [record.subject], f"recipe/{number} is unknown")
        for recipe in affected.recipes:
            if recipe.state not in FINISHED and recipe.system and recipe.system not in world.systems:
                subjects = [recipe.subject, f"system/{recipe.system}"]
                yield self.violation(commit.about(*subjects), subjects, "it holds an unknown system")


class Signs(Invariant):
    """No sum is negative."""

    name = "signs"

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        for set_id in affected.sets if world.rooms.is_any_used else ():
            for limit in world.needs(set_id):
                if world.rooms.used(limit) < 0:
                    subject = f"recipe-set/{set_id}"
                    what = f"{world.rooms.used(limit)} are used under the limit of {limit}"
                    yield self.violation(commit.about(subject), [subject], what)


class Claims(Invariant):
    """Recipes and systems name the same claims, each of an unplaced recipe."""

    name = "claims"
    topics = (CLAIMED, CLAIM_ENDED)

    def __init__(self) -> None:
        # The claims that events of the present commit begin, end or replace.
        self._recipes: dict[int, None] = {}
        self._systems: dict[str, None] = {}

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        number, fqdn = int(record.name), record.data["system"]
        self._recipes.update(dict.fromkeys((number, world.claims.get(fqdn, number))))
        recipe = world.recipes.get(number)
        claimed = fqdn if recipe is None or recipe.claim is None else recipe.claim.system
        self._systems.update(dict.fromkeys((fqdn, claimed)))
        yield from ()

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        systems, self._systems = self._systems, {}
        numbers, self._recipes = self._recipes, {}
        systems |= {each.fqdn: None for each in affected.systems if each.fqdn in world.claims}
        numbers |= {world.claims[fqdn]: None for fqdn in systems if fqdn in world.claims}
        changed = (world.recipes.get(number) or world.finished.get(number) for number in numbers)
        recipes = {each.recipe_id: each for each in (*affected.recipes, *changed) if each is not None}
        for recipe in recipes.values():
            if recipe.claim is not None:
                systems[recipe.claim.system] = None
                if recipe.state not in UNPLACED:
                    what = f"it is {recipe.state}, but claims {recipe.claim.system}"
                    yield self.violation(commit.about(recipe.subject), [recipe.subject], what)
        for fqdn in systems:
            claimants = [each.recipe_id for each in recipes.values() if _claims(each, fqdn)]
            named = [world.claims[fqdn]] if fqdn in world.claims else []
            if claimants != named:
                subjects = [f"system/{fqdn}", *(f"recipe/{number}" for number in {*claimants, *named})]
                what = f"claimed by {_named(claimants)}, but names {_named(named)}"
                yield self.violation(commit.about(*subjects), subjects, what)


def laws() -> tuple[Invariant, ...]:
    """Return new instances of the laws."""
    return Usage(), Systems(), Charges(), Orphans(), Signs(), Claims()


def _hosts_on(world: FoldedWorld, system: System) -> list[int]:
    on = (world.recipes[number] for number in world.recipes_on.get(system.fqdn, ()))
    return [recipe.recipe_id for recipe in on if not recipe.is_guest]


def _queue_of(world: FoldedWorld, recipe: Recipe) -> QueueInPartition | None:
    """Return the queue of a recipe, None for a recipe of an unknown set."""
    recipe_set = world.sets.get(recipe.set_id)
    if recipe_set is None:
        return None
    facts = recipe_set.submitted
    return QueueInPartition(recipe_set.partition, DEFAULT_QUEUE if facts is None else facts.queue)


def _claims(recipe: Recipe, fqdn: str) -> bool:
    return recipe.claim is not None and recipe.claim.system == fqdn


def _named(recipe_ids: list[int]) -> str:
    return " and ".join(f"recipe/{number}" for number in recipe_ids) or "no recipe"
