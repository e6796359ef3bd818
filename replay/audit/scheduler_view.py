"""The scheduler's view: the lab at the basis of a decision, with changes that can be rolled back."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from replay.audit.named_people import NamedPeople
from replay.audit.new_sets import NewSets
from replay.audit.queues import QueuePlace, Queues, RecipeNeed
from replay.audit.record import EventRecord, RecordedDecision
from replay.audit.rights import Submitter
from replay.audit.tables import URGENCY
from replay.audit.values import Distro, Recipe, RecipeSet, System, Wants
from replay.audit.world import FoldedWorld

K = TypeVar("K")
V = TypeVar("V")

WAITING = ("queued", "assigned")


class SchedulerView(FoldedWorld):
    """The world with its waiting recipes (`queues`), its holders and the changes of its systems. Mutable.

    `put` keeps the indexes in step.
    """

    def __init__(self) -> None:
        super().__init__()
        self.queues = Queues()
        # Lab -> its systems; the names of systems whose description or rights changed, in order, tentative
        # changes included; the sets with scheduled hosts; and the systems of these hosts.
        self.systems_of: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self.changed: defaultdict[str, list[str]] = defaultdict(list)
        self.holding: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self.held: defaultdict[str, Counter[str | None]] = defaultdict(Counter)
        # Counts the changes that affect whole labs: distro trees, and labs that are enabled, disabled, silent
        # or heard.
        self.lab_version = 0
        # Recipes that became assigned in the present batch: they rank as queued until it is answered.
        self.newly_assigned: dict[int, None] = {}
        self.new_sets = NewSets()
        self.batch = 0
        self.answering: int | None = None
        self._named = NamedPeople()
        self._parties: dict[Submitter, Submitter] = {}
        self._waiting: defaultdict[Submitter, dict[int, None]] = defaultdict(dict)
        self._needs: dict[tuple[Wants, tuple[Distro | None, ...]], RecipeNeed] = {}
        # Lab -> a number that changes whenever its holders may want or get other systems. A result that was
        # found for a number holds while the lab has that number, also after a rollback.
        self.states: dict[str, int] = {}
        self._next_state = itertools.count(1)
        self._changes: list[tuple[dict[Any, Any], Any, Any]] = []
        self._tentative_depth = 0

    # Batches

    def begin_decision(self, decision: RecordedDecision, *, in_batches: bool) -> None:
        """Note the batch of a decision, and the new set that the decision answers.

        Call it before the check.
        """
        first = self.recipes.get(int(decision.records[0].name)) if _is_recipe(decision.records[0]) else None
        self.answering = first.set_id if first is not None and first.state == "new" else None
        if not in_batches or decision.batch != self.batch:
            self.batch = decision.batch
            self._end_batch()

    def _end_batch(self) -> None:
        """Let recipes that were assigned in the batch rank as assigned from here on."""
        newly, self.newly_assigned = self.newly_assigned, {}
        for number in newly:
            if number in self.recipes:
                self._enqueue(self.recipes[number])

    def before_event(self, record: EventRecord, *, in_batches: bool) -> None:
        """Note whether the recipe of an event ranks as queued until its batch is answered."""
        if record.topic == "recipe.assigned" and in_batches:
            self.newly_assigned[int(record.name)] = None
        elif _is_recipe(record):
            self.newly_assigned.pop(int(record.name), None)

    @contextmanager
    def tentatively(self) -> Iterator[None]:
        """Roll back at the end whatever is applied within."""
        mark = self.begin_tentative()
        try:
            yield
        finally:
            self.rollback(mark)

    def begin_tentative(self) -> int:
        """Begin tentative changes and return their mark.

        `confirm` confirms them, `rollback` rolls them back.
        """
        self._tentative_depth += 1
        return len(self._changes)

    def rollback(self, mark: int = 0) -> None:
        self._tentative_depth -= 1
        while len(self._changes) > mark:
            table, key, before = self._changes.pop()
            self._replace(table, key, table.get(key), before)

    def confirm(self) -> None:
        """Confirm all tentative changes."""
        self._tentative_depth -= 1
        self._changes.clear()

    def put(self, table: dict[K, V], key: K, value: V | None) -> None:
        before = table.get(key)
        if self._tentative_depth:
            self._changes.append((table, key, before))
        self._replace(table, key, before, value)
        for lab in self._affected_labs(table, before, value):
            self.put(self.states, lab, next(self._next_state))

    def _affected_labs(self, table: object, before: object, value: object) -> Iterable[str]:
        """Return the labs in which holders may want or get other systems now."""
        if table is self.recipes:
            return (
                recipe.lab
                for recipe in (before, value)
                if isinstance(recipe, Recipe) and recipe.lab is not None and self._may_hold(recipe)
            )
        if table is self.systems:
            systems = [system for system in (before, value) if isinstance(system, System)]
            return (
                ()
                if len(systems) == 2 and _differ_in_usage_only(*systems)
                else [system.lab for system in systems]
            )
        everywhere = table is self.trees or table is self.enabled or table is self.silent
        if table is self.left or table is self.gone:
            everywhere = before != value
        return list(self.systems_of) if everywhere else ()

    def _may_hold(self, recipe: Recipe) -> bool:
        """Return whether the set of a recipe may hold some systems and want others."""
        recipe_set = self.sets.get(recipe.set_id)
        held = recipe.state in ("scheduled", "assigned")
        return held and recipe_set is not None and len(recipe_set.recipe_ids) > 1

    def _replace(self, table: dict[K, V], key: K, before: V | None, value: V | None) -> None:
        super().put(table, key, value)
        changed_table: object = table
        if changed_table is self.recipes:
            self._recipe_moved(cast("Recipe | None", before), cast("Recipe | None", value))
        elif changed_table is self.systems:
            self._system_changed(cast("System | None", before), cast("System | None", value))
        elif changed_table is self.sets:
            self.new_sets.rank(cast("RecipeSet | None", value))
            for member in self.members(cast("int", key)):
                self._enqueue(member)
        elif changed_table is self.trees or changed_table is self.enabled or changed_table is self.silent:
            self.lab_version += 1
        elif (changed_table is self.left or changed_table is self.gone) and before != value:
            self._refresh_parties()

    # Waiting recipes and holders

    def need(self, host: Recipe) -> RecipeNeed:
        needed = host.wants, tuple(guest.wants.distro for guest in self.guests(host))
        if needed not in self._needs:
            self._needs[needed] = RecipeNeed(*needed)
        return self._needs[needed]

    def _recipe_moved(self, before: Recipe | None, recipe: Recipe | None) -> None:
        if recipe is not None and recipe.state == "new":
            self.new_sets.add(self.sets.get(recipe.set_id))
        elif before is not None and before.state == "new":
            self.new_sets.discard(before.set_id)
        if before is not None and before.state == "scheduled":
            self._count(before, -1)
        if recipe is not None and recipe.state == "scheduled":
            self._count(recipe, 1)
        if recipe is not None and recipe.state in WAITING:
            self._enqueue(recipe)
        elif before is not None and before.state in WAITING:
            self._dequeue(before)
        if before is None and recipe is not None and recipe.host_id in self.recipes:
            self._enqueue(self.recipes[recipe.host_id])

    def _count(self, recipe: Recipe, change: int) -> None:
        if recipe.host_id is None and recipe.lab is not None:
            _add(self.holding[recipe.lab], recipe.set_id, change)
            _add(self.held[recipe.lab], recipe.system, change)

    def _enqueue(self, recipe: Recipe) -> None:
        """Put a waiting recipe in its queue. New recipes and guests are in no queue."""
        recipe_set = self.sets.get(recipe.set_id)
        if recipe_set is not None and recipe.state in WAITING and recipe.host_id is None:
            rank = URGENCY[recipe_set.priority], recipe_set.submission, recipe.recipe_id
            lab = None if recipe.recipe_id in self.newly_assigned else recipe.lab
            place = QueuePlace(lab, self.party(recipe.submitter), self.need(recipe), rank)
            self.queues.put(recipe.recipe_id, place)
            self._waiting[recipe.submitter][recipe.recipe_id] = None

    def _dequeue(self, recipe: Recipe) -> None:
        self.queues.put(recipe.recipe_id, None)
        waiting = self._waiting[recipe.submitter]
        waiting.pop(recipe.recipe_id, None)
        if not waiting:
            del self._waiting[recipe.submitter]

    # Parties

    def party(self, submitter: Submitter) -> Submitter:
        """Return the party of a submitter: submitters with equal rights on every system are one party."""
        party = self._parties.get(submitter)
        if party is None:
            counting = submitter if self.group_counts(submitter) else Submitter(submitter.user, None)
            party = self._parties[submitter] = self._named.party(counting)
        return party

    def _refresh_parties(self) -> None:
        """Recompute the parties: the users and groups that policies name have changed."""
        before, self._parties = self._parties, {}
        for submitter, waiting in self._waiting.items():
            if self.party(submitter) != before[submitter]:
                for number in list(waiting):
                    self._enqueue(self.recipes[number])
                self.queues.close(before[submitter])

    # Systems

    def _system_changed(self, before: System | None, system: System | None) -> None:
        had = None if before is None else before.rights
        has = None if system is None else system.rights
        if had is not has and self._named.change(had, has):
            self._refresh_parties()
        if before is not None and system is not None and _differ_in_usage_only(before, system):
            return
        if before is not None:
            self.systems_of[before.lab].pop(before.fqdn, None)
            self.changed[before.lab].append(before.fqdn)
        if system is not None:
            self.systems_of[system.lab][system.fqdn] = None
            self.changed[system.lab].append(system.fqdn)


def _is_recipe(record: EventRecord) -> bool:
    return record.kind == "recipe"


def _add(counter: Counter[K], key: K, change: int) -> None:
    counter[key] += change
    if not counter[key]:
        del counter[key]


def _differ_in_usage_only(one: System, other: System) -> bool:
    """Return whether two states of a system differ at most in its usage."""
    return one.described == other.described and one.rights is other.rights and one.draining is other.draining
