"""The unfinished recipe sets of a partition: each new state, and the updates that follow from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter

from domain.access.submit_rights import Submitter
from domain.contention.locks import NO_LOCKS, Locks
from domain.recipe.lifecycle import BEFORE_START, FINISHED, PLACED, UNPLACED
from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet
from domain.scheduling.admitting.admission import Admission
from domain.scheduling.admitting.rooms import Rooms
from domain.scheduling.demand.filters import Filters
from domain.scheduling.demand.overtakings import is_owed_at
from domain.scheduling.locking.lock_queue import LockQueue
from domain.scheduling.safety.holders import Holders
from domain.scheduling.sets.admission_updates import AdmissionUpdates
from domain.scheduling.sets.claims import Claims
from domain.scheduling.sets.host_index import HostIndex
from domain.scheduling.sets.host_places import HostPlaces
from domain.scheduling.sets.lock_records import LockRecords
from domain.scheduling.sets.set_classes import SetClasses
from domain.scheduling.sets.set_states import FREE, SetStates, holds_something
from domain.scheduling.sets.watchdogs import Watchdogs


class RecipeSets(SetStates):
    """The unfinished sets. Mutable: `put` each new state of a set or recipe, and `drop` finished recipes.

    A recipe is dropped once it has finished according to the log, a set with its last recipe. `submitter_of`
    returns the submitter of a recipe, `locks_of_placed` the locks with which a placed host counts for the
    weights of others, `number_of` the number of a system.

    Data goes one way: `places` follow from the states, from `admission` and from the `classes` of sets that
    need room; `index` follows from the places. `admission_updates` changes admission and classes, and has the
    index follow. The sets that admission holds back are in no index but those of states and people.
    """

    def __init__(
        self,
        filters: Filters,
        holders: Holders,
        submitter_of: Callable[[Recipe], Submitter],
        locks_of_placed: Callable[[Recipe], Locks],
        locks: LockQueue,
        number_of: Callable[[str], int],
    ) -> None:
        super().__init__()
        self.watchdogs = Watchdogs(self.recipes)
        self.placed: dict[int, None] = {}
        self.claims = Claims(number_of)
        self.rooms = Rooms()
        self.admission = Admission(self.members, self.host_count)
        self.classes = SetClasses(self, self.rooms)
        self.places = HostPlaces(self, self.admission, self.classes, filters.weighing)
        self.index = HostIndex(self, self.places, filters, holders, submitter_of)
        self.admission_updates = AdmissionUpdates(self, self.admission, self.rooms, self.classes, self.index)
        self.lock_records = LockRecords(self, locks, filters.weighing, locks_of_placed)
        self._holders = holders
        self._weighing = filters.weighing
        self._weighing.submitted_at = self.submitted_at
        self._weighing.recipe_ids_of = self.recipe_ids
        self._weighing.systems_of_job = self.turns.systems_of_job

    # Sets

    def put_set(self, recipe_set: RecipeSet) -> None:
        """Store a new set before its recipes, or one with another priority, facts or profile."""
        recipe_set_id = recipe_set.recipe_set_id
        hosts = self.hosts(recipe_set_id)
        for host in hosts:
            self.index.remove(host)
        if hosts and not self.turns.is_one_line:
            self.turns.stop_waiting(self.sets[recipe_set_id])
        if hosts:
            self._note_declaring(recipe_set)
        self.sets[recipe_set_id] = recipe_set
        if not hosts:
            self._begin(recipe_set)
            return
        self.admission_updates.put_unindexed(recipe_set)
        for host in hosts:
            self.index.add(host)
        self._note_waiting(recipe_set_id)
        self.lock_records.update(recipe_set_id)

    def _begin(self, recipe_set: RecipeSet) -> None:
        self.admission.add(recipe_set)
        self.turns.add(recipe_set)
        self._note_declaring(recipe_set)

    def _note_declaring(self, recipe_set: RecipeSet) -> None:
        if recipe_set.profile != NO_LOCKS:
            self._weighing.declaring[recipe_set.recipe_set_id] = None
        else:
            self._weighing.declaring.pop(recipe_set.recipe_set_id, None)

    def _complete(self, recipe_set: RecipeSet) -> None:
        """Ask admission for a set once all its recipes are stored, and index its hosts."""
        self.host_counts[recipe_set.recipe_set_id] = len(self.hosts(recipe_set.recipe_set_id))
        self.admission_updates.put_unindexed(recipe_set)
        self.index.complete(recipe_set.recipe_set_id)

    def _note_forcing(self, host: Recipe) -> None:
        forced = self.index.key(host).forced
        if forced is not None:
            self.claims.force(host, forced)

    def set_overtaken(self, recipe_set_id: int, count: int) -> None:
        """Set the count of overtakings of a set; its recipes get another place if the set becomes owed."""
        is_owed = is_owed_at(count, self.overtakings.maximum)
        changed = is_owed != self.overtakings.is_owed(recipe_set_id)
        with self.index.reindexed([recipe_set_id] if changed else []):
            self.overtakings.put(recipe_set_id, count)

    def set_max_overtaken(self, maximum: int | None) -> None:
        """Set the bound of all counts; the recipes of sets that become owed get another place."""
        if maximum == self.overtakings.maximum:
            return
        count, is_owed = self.overtakings.count, self.overtakings.is_owed
        changed = [each for each in self.sets if is_owed(each) != is_owed_at(count(each), maximum)]
        with self.index.reindexed(changed):
            self.overtakings.maximum = maximum

    # Recipes

    def put(self, recipe: Recipe, *, newly_assigned: bool = False) -> None:
        """Store a state of a recipe, which may be tentative."""
        recipe_id, recipe_set_id = recipe.recipe_id, recipe.recipe_set_id
        before = self.recipes.get(recipe_id)
        if recipe_set_id in self.admission.held_back and recipe.state not in (*FREE, *FINISHED):
            # Rolling back: the set held a system before the decision that let it go.
            self.admission_updates.admit(recipe_set_id)
        # A recipe that has started, or has finished, is in no line and binds its set to no lab.
        may_move = before is not None and (before.state in BEFORE_START or recipe.state in BEFORE_START)
        line_before = self.places.line_of(before) if before is not None and may_move else None
        if newly_assigned or recipe_id in self.newly_assigned:
            _keep(self.newly_assigned, recipe, newly_assigned)
        self.recipes[recipe_id] = recipe
        self._holders.hopeless.pop(recipe_set_id, None)
        if recipe.deadline is not None or (before is not None and before.deadline is not None):
            self.watchdogs.put(before, recipe)
        if before is None or before.state != recipe.state or before.held is not recipe.held:
            self._note_placed(before, recipe)
        if before is not None and may_move and recipe.host_recipe_id is None:
            self.index.move(before, line_before, recipe)
        elif before is None and recipe_id == self.sets[recipe_set_id].recipe_ids[-1]:
            self._complete(self.sets[recipe_set_id])
        if before is not None and before.state != recipe.state:
            if recipe.host_recipe_id is None:
                self._note_forcing(recipe)
            if self.admission.has_rules:
                self.admission_updates.recipe_changed(before, recipe)
            if recipe_set_id in self.classes.limited and holds_something(before) != holds_something(recipe):
                self.admission_updates.charge(recipe_set_id)
        if before is None or (before.state in UNPLACED) != (recipe.state in UNPLACED):
            self._note_waiting(recipe_set_id)
        self.claims.put(before, recipe)

    def change(self, recipe: Recipe) -> None:
        """Store a recipe with other requirements, tasks or locks, in a set that has not started."""
        host = recipe if recipe.host_recipe_id is None else self.recipes[recipe.host_recipe_id]
        self.index.remove(host)
        forced = self.index.key(host).forced
        if forced is not None:
            self.claims.drop(host, forced)
        self.recipes[recipe.recipe_id] = recipe
        self._holders.hopeless.pop(recipe.recipe_set_id, None)
        host = self.recipes[host.recipe_id]
        self.index.demand_changed(host)
        self.index.add(host)
        self._note_forcing(host)
        self.lock_records.weigh(host)
        self.lock_records.update(recipe.recipe_set_id)

    def _note_waiting(self, recipe_set_id: int) -> None:
        """Tell the turns of queues whether a recipe of a set waits for a system."""
        if not self.turns.is_one_line:
            update = self.turns.wait if self._is_waiting(recipe_set_id) else self.turns.stop_waiting
            update(self.sets[recipe_set_id])

    def _is_waiting(self, recipe_set_id: int) -> bool:
        # A loop, because a configuration asks for each set.
        for recipe in self.members(recipe_set_id):
            if recipe.state in UNPLACED and recipe.host_recipe_id is None:
                return True
        return False

    def wait_again(self) -> None:
        """Tell the turns of queues about all sets, after a change of the tree or a restart."""
        sets = () if self.turns.is_one_line else self.sets.values()
        self.turns.only_wait(each for each in sets if self._is_waiting(each.recipe_set_id))

    def _note_placed(self, before: Recipe | None, recipe: Recipe) -> None:
        """Update the placed recipes and the lock records for a recipe with a new state or new locks."""
        was_placed, is_placed = recipe.recipe_id in self.placed, recipe.state in PLACED
        if was_placed != is_placed:
            _keep(self.placed, recipe, is_placed)
        if recipe.host_recipe_id is None and (was_placed or is_placed):
            # A recipe that declares nothing weighs the same as long as it is placed.
            if was_placed != is_placed or recipe.locks != NO_LOCKS:
                self.lock_records.weigh(recipe)
            if was_placed != is_placed:
                self._note_turn(recipe, is_placed)
            self.lock_records.note(before, recipe)

    def _note_turn(self, host: Recipe, is_placed: bool) -> None:
        """Count the system that a host has got or lost for its queue and its job."""
        recipe_set = self.sets[host.recipe_set_id]
        self.turns.place(recipe_set) if is_placed else self.turns.displace(recipe_set)
        self._weighing.job_changed(recipe_set.job_id)

    def refresh(self, recipe: Recipe) -> None:
        """Replace a recipe by a state that differs only in its deadlines."""
        before = self.recipes[recipe.recipe_id]
        self.recipes[recipe.recipe_id] = recipe
        if recipe.deadline is not None:
            self.watchdogs.put(before, recipe)

    def end_batch(self) -> None:
        """Make all newly assigned recipes rank with the assigned ones."""
        if not self.newly_assigned:
            return
        line_of, recipes = self.places.line_of, self.recipes
        lines = {recipe_id: line_of(recipes[recipe_id]) for recipe_id in self.newly_assigned}
        self.newly_assigned.clear()
        self.index.move_from(lines)

    def drop(self, recipe: Recipe) -> None:
        """Drop a recipe that has finished according to the log, and its set with the last one."""
        recipe_set_id = recipe.recipe_set_id
        del self.recipes[recipe.recipe_id]
        self.admission.drop_recipe(recipe)
        self.index.drop(recipe)
        self._holders.hopeless.pop(recipe_set_id, None)
        if self.members(recipe_set_id):
            self.incomplete[recipe_set_id] = None
        else:
            self.classes.drop(recipe_set_id)
            recipe_set = self.sets.pop(recipe_set_id)
            self.admission.drop(recipe_set)
            self.turns.drop(recipe_set)
            self.host_counts.pop(recipe_set_id, None)
            self.incomplete.pop(recipe_set_id, None)
            self.overtakings.put(recipe_set_id, 0)
            self.preemptions.drop_set(recipe_set_id)
            if recipe_set.job_id not in self.admission.unfinished_jobs:
                self.preemptions.drop_job(recipe_set.job_id)
            self._weighing.declaring.pop(recipe_set_id, None)

    # A snapshot

    def restore(
        self,
        recipe_sets: Sequence[RecipeSet],
        recipes: Sequence[Recipe],
        newly_assigned: Iterable[int] = (),
        overtaken: Iterable[tuple[int, int]] = (),
        host_counts: Iterable[tuple[int, int]] = (),
    ) -> None:
        """Restore sets and recipes from a snapshot; finished recipes are missing from their sets.

        The outcomes and job filters of `admission` are restored before.
        """
        self.restore_states(recipe_sets, recipes, newly_assigned, overtaken, host_counts)
        for recipe_set in self.sets.values():
            self._begin(recipe_set)
        # A set may depend on any other, so all are stored first.
        for recipe_set in self.sets.values():
            self.admission_updates.put_unindexed(recipe_set)
        for recipe in self.recipes.values():
            if recipe.deadline is not None:
                self.watchdogs.put(None, recipe)
        # Held locks before awaited ones: no set that waits for locks is overtaken by a restored one.
        placed = [recipe for recipe in self.recipes.values() if recipe.state in PLACED]
        for recipe in sorted(placed, key=attrgetter("awaits_locks")):
            self._note_placed(None, recipe)
        self.wait_again()
        forcing = self.index.restore()
        for recipe in self.recipes.values():
            if recipe.claim is not None:
                self.claims.put(None, recipe)
        for host in forcing:
            self._note_forcing(host)


def _keep(index: dict[int, None], recipe: Recipe, belongs: bool) -> None:
    if belongs:
        index[recipe.recipe_id] = None
    else:
        index.pop(recipe.recipe_id, None)
