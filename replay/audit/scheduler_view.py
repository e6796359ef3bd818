"""The view of a scheduler: the state at the basis of a decision, with changes that can be rolled back."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, TypeVar, cast

from replay.audit.awaited_locks import own_locks, profile_of
from replay.audit.host_counts import HostCounts, is_placed
from replay.audit.locks import NO_LOCKS
from replay.audit.placed_locks import PlacedLocks
from replay.audit.profiles import Profiles
from replay.audit.queues import NEWLY_ASSIGNED, OWED, NewSets, QueueEntry, Queues, RecipeNeed
from replay.audit.record import EventRecord, RecordedDecision
from replay.audit.rights import NamedPeople, Submitter
from replay.audit.tables import (
    CLAIM_ENDED,
    CLAIMED,
    DEFAULT_PARTITION,
    IN_QUEUE,
    SERVED,
    URGENCY,
)
from replay.audit.unblocking import may_unblock_sets
from replay.audit.values import Distro, OwnRequirements, Recipe, RecipeSet, System

K = TypeVar("K")
V = TypeVar("V")


class SchedulerView(HostCounts):
    """A partition's world with indexes that `put` updates: queues, holders and changed systems. Mutable.

    `served` has, by system, the recipe whose claim the present decision ended as served, until its grant.
    """

    def __init__(self, partition: int = DEFAULT_PARTITION) -> None:
        super().__init__(partition)
        self.queues = Queues()
        # By lab: its systems, and the names of systems whose description or rights have changed, in order,
        # also tentatively.
        self.systems_of: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self.changed: defaultdict[str, list[str]] = defaultdict(list)
        # The number of changes that affect whole labs: of distro trees, and of labs that are enabled,
        # disabled, silent or heard, or change their partition.
        self.lab_version = 0
        # Recipes that were assigned in the present batch. They rank as queued until the batch is answered.
        self.newly_assigned: dict[int, None] = {}
        self.served: dict[str, int] = {}
        self.new_sets = NewSets()
        self.batch = 0
        self.answering: int | None = None
        # The time of the present decision, and the number of unfinished recipes that declare locks.
        self.now: Any = None
        self.declaring = 0
        self.placed = PlacedLocks()
        self.profiles = Profiles(self.placed)
        self._profile_of_set: dict[int, int] = {}
        # The position of the last event that may let a set have the locks for which it waits.
        self.eased_at = 0
        self._named = NamedPeople()
        self._representatives: dict[Submitter, Submitter] = {}
        self._in_queue: defaultdict[Submitter, dict[int, None]] = defaultdict(dict)
        self._needs: dict[tuple[OwnRequirements, tuple[Distro | None, ...]], RecipeNeed] = {}
        # Lab -> a version that changes whenever its holders may want or get other systems. A result that was
        # computed at a version is valid while the lab has that version, also after a rollback.
        self.holder_versions: dict[str, int] = {}
        self._next_version = itertools.count(1)

    # Batches

    def begin_decision(self, decision: RecordedDecision, *, in_batches: bool) -> None:
        """Note, before the check, the time and batch of a decision, and the new set that it answers."""
        self.now = decision.records[0].now
        self.served.clear()
        first = self.recipes.get(int(decision.records[0].name)) if _is_recipe(decision.records[0]) else None
        self.answering = first.set_id if first is not None and first.state == "new" else None
        if not in_batches or decision.batch != self.batch:
            self.batch = decision.batch
            self._end_batch()

    def _end_batch(self) -> None:
        """Let recipes that were assigned in the batch rank as assigned from now on."""
        assigned, self.newly_assigned = self.newly_assigned, {}
        for number in assigned:
            if number in self.recipes:
                self._enqueue(self.recipes[number])

    def before_event(self, record: EventRecord, *, in_batches: bool) -> None:
        """Store whether the recipe of an event ranks as queued until its batch is answered, and its claim."""
        if record.topic == "recipe.assigned" and in_batches:
            self.newly_assigned[int(record.name)] = None
        elif record.topic in (CLAIMED, CLAIM_ENDED):
            self._store_served(record)
        elif _is_recipe(record):
            self.newly_assigned.pop(int(record.name), None)
            if record.topic == "recipe.scheduled":
                self.served = {fqdn: each for fqdn, each in self.served.items() if each != int(record.name)}

    def _store_served(self, record: EventRecord) -> None:
        """Store the claim that an event ends as served, if the recipe has this claim."""
        number, data = int(record.name), record.data
        if data.get("reason") == SERVED and self.claims.get(data["system"]) == number:
            self.served[data["system"]] = number

    def apply(self, record: EventRecord) -> None:
        if may_unblock_sets(self, record):
            self.eased_at = record.position
        super().apply(record)

    def put(self, table: dict[K, V], key: K, value: V | None) -> None:
        before = table.get(key)
        super().put(table, key, value)
        for lab in self._affected_labs(table, before, value):
            self.put(self.holder_versions, lab, next(self._next_version))

    def _affected_labs(self, table: object, before: object, value: object) -> Iterable[str]:
        """Return the labs in which holders may now want or get other systems."""
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
        everywhere = self._concerns_labs(table)
        if table is self.former_people or table is self.removed_groups:
            everywhere = before != value
        return list(self.systems_of) if everywhere else ()

    def _concerns_labs(self, table: object) -> bool:
        if table is self.trees or table is self.lab_partitions:
            return True
        return table is self.enabled or table is self.silent

    def _may_hold(self, recipe: Recipe) -> bool:
        recipe_set = self.sets.get(recipe.set_id)
        may_hold = recipe.state in ("scheduled", "assigned")
        return may_hold and recipe_set is not None and len(recipe_set.recipe_ids) > 1

    def _index(self, table: dict[K, V], key: K, before: V | None, value: V | None) -> None:
        changed_table: object = table
        if changed_table is self.recipes:
            self._recipe_moved(cast("Recipe | None", before), cast("Recipe | None", value))
        elif changed_table is self.systems:
            self._system_changed(cast("System | None", before), cast("System | None", value))
        elif changed_table is self.sets or changed_table is self.overtakings:
            if isinstance(value, RecipeSet):
                self.new_sets.rank(value)
            for member in self.members(cast("int", key)):
                self._enqueue(member)
        elif changed_table is self.configurations:
            for number in list(self.queues):
                self._enqueue(self.recipes[number])
        elif changed_table is self.pools:
            for number in self.recipes_on.get(cast("str", key), ()):
                self._count_placed(None, self.recipes[number])
        elif self._concerns_labs(changed_table):
            self.lab_version += 1
        elif (
            changed_table is self.former_people or changed_table is self.removed_groups
        ) and before != value:
            self._refresh_representatives()

    # Queues and holders

    def need(self, host: Recipe) -> RecipeNeed:
        needed = host.requirements, tuple(guest.requirements.distro for guest in self.guests(host))
        if needed not in self._needs:
            self._needs[needed] = RecipeNeed(*needed)
        return self._needs[needed]

    def _recipe_moved(self, before: Recipe | None, recipe: Recipe | None) -> None:
        self.declaring += _declares(recipe) - _declares(before)
        was, now = is_placed(before), is_placed(recipe)
        if was or now:
            self._count_placed(before, recipe)
        self._count_hosts(before, recipe, placed=now - was)
        if recipe is not None and recipe.state == "new":
            self.new_sets.add(self.sets.get(recipe.set_id))
        elif before is not None and before.state == "new":
            self.new_sets.discard(before.set_id)
        if recipe is not None and recipe.state in IN_QUEUE:
            self._enqueue(recipe)
        elif before is not None and before.state in IN_QUEUE:
            self._dequeue(before)
        is_changed = before is None or (recipe is not None and before.requirements != recipe.requirements)
        if is_changed and recipe is not None and recipe.host_id in self.recipes:
            self._enqueue(self.recipes[recipe.host_id])
        if before is not None and recipe is not None and before.locks != recipe.locks:
            self._profile_of_set.pop(recipe.set_id, None)
            for member in self.members(recipe.set_id):
                self._enqueue(member)

    def _count_placed(self, before: Recipe | None, recipe: Recipe | None) -> None:
        """Count a placed host with the locks that it holds, or before it has them, those that it declares."""
        if recipe is not None and is_placed(recipe):
            locks = own_locks(self, recipe) if recipe.held is None else recipe.held
            self.placed.put(recipe.recipe_id, recipe.set_id, locks)
        elif before is not None:
            self.placed.put(before.recipe_id, before.set_id, None)

    def profile_number(self, set_id: int) -> int:
        """Return the number of the merged locks that the recipes of a set declare, for `profiles`."""
        number = self._profile_of_set.get(set_id)
        if number is None:
            number = self._profile_of_set[set_id] = self.profiles.number(profile_of(self, set_id))
        return number

    def _enqueue(self, recipe: Recipe) -> None:
        """Put a recipe in its queue, or move it there. New recipes and guests are in no queue."""
        recipe_set = self.sets.get(recipe.set_id)
        if recipe_set is not None and recipe.state in IN_QUEUE and recipe.host_id is None:
            rank = URGENCY[recipe_set.priority], recipe_set.submission, recipe.recipe_id
            lab = None if recipe.recipe_id in self.newly_assigned else recipe.lab
            if self.is_owed(recipe):
                lab = recipe.lab or OWED
            submitter, need = self.representative(recipe.submitter), self.need(recipe)
            entry = QueueEntry(lab, submitter, need, rank, self._profile_in_queue(recipe))
            self.queues.put(recipe.recipe_id, entry)
            self._in_queue[recipe.submitter][recipe.recipe_id] = None

    def _profile_in_queue(self, recipe: Recipe) -> int:
        """Return the profile of an entry, which is 0 for all sets while no recipe declares locks."""
        if recipe.recipe_id in self.newly_assigned:
            return NEWLY_ASSIGNED
        return self.profile_number(recipe.set_id) if self.declaring else 0

    def _dequeue(self, recipe: Recipe) -> None:
        self.queues.put(recipe.recipe_id, None)
        waiting = self._in_queue[recipe.submitter]
        waiting.pop(recipe.recipe_id, None)
        if not waiting:
            del self._in_queue[recipe.submitter]

    # Representatives of submitters

    def representative(self, submitter: Submitter) -> Submitter:
        """Return the common representative of all submitters with the same rights on every system."""
        representative = self._representatives.get(submitter)
        if representative is None:
            effective = submitter if self.group_counts(submitter) else Submitter(submitter.user, None)
            representative = self._representatives[submitter] = self._named.representative(effective)
        return representative

    def _refresh_representatives(self) -> None:
        """Recompute the representatives, because the set of named users and groups has changed."""
        before, self._representatives = self._representatives, {}
        for submitter, waiting in self._in_queue.items():
            if self.representative(submitter) != before[submitter]:
                for number in list(waiting):
                    self._enqueue(self.recipes[number])
                self.queues.close(before[submitter])

    # Systems

    def _system_changed(self, before: System | None, system: System | None) -> None:
        rights_before = None if before is None else before.rights
        rights = None if system is None else system.rights
        if rights_before is not rights and self._named.change(rights_before, rights):
            self._refresh_representatives()
        if before is not None and system is not None and _differ_in_usage_only(before, system):
            return
        if before is not None:
            self.systems_of[before.lab].pop(before.fqdn, None)
            self.changed[before.lab].append(before.fqdn)
        if system is not None:
            self.systems_of[system.lab][system.fqdn] = None
            self.changed[system.lab].append(system.fqdn)


def _declares(recipe: Recipe | None) -> bool:
    return recipe is not None and recipe.locks is not NO_LOCKS


def _is_recipe(record: EventRecord) -> bool:
    return record.kind == "recipe"


def _differ_in_usage_only(one: System, other: System) -> bool:
    is_alike = one.draining is other.draining and one.occupied is other.occupied
    return is_alike and one.described == other.described and one.rights is other.rights
