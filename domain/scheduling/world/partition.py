"""The state of one scheduler, folded from the log (design section 4).

`apply` folds events in log order. `apply_tentatively` applies a decided event that is not in the log yet, so
that the next decision of the same commit sees the event. `confirm` keeps the tentative events if the log has
exactly these, and before them nothing else that must be folded first; otherwise it rolls them back, and the
caller reads the log. `rollback` discards them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from domain.admission.configuration import ALWAYS, Configuration
from domain.admission.job_filters import JobFilters
from domain.contention.locks import NO_LOCKS, Locks, names
from domain.contention.own_names import OwnNames, placed
from domain.directory import events as directory_events
from domain.directory.partition_queues import queue_tree_of
from domain.directory.partition_states import state_of
from domain.directory.partitions import configuration_of, job_filters_of, partition_document
from domain.directory.state import Directory
from domain.events import Event, Moment, Recorded, split_subject
from domain.fast_dataclasses import changed
from domain.intake_states import ACTIVE
from domain.job.events import JobClosed, JobOpened
from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity
from domain.recipe.events import RecipeChanged, RecipeQueued, RecipeScheduled
from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet
from domain.scheduling.demand.filters import Filters
from domain.scheduling.demand.order import Effort
from domain.scheduling.locking.lock_queue import LockQueue
from domain.scheduling.safety.holders import Holders
from domain.scheduling.sets.preemptions import Preemption
from domain.scheduling.sets.queue_turns import ONE_LINE
from domain.scheduling.sets.recipe_sets import RecipeSets
from domain.scheduling.supply.access_updates import AccessUpdates
from domain.scheduling.supply.availability import Availability
from domain.scheduling.supply.labs import Labs
from domain.scheduling.supply.visible import Visible
from domain.scheduling.world.absent_trees import AbsentTrees
from domain.scheduling.world.affected_names import Happened
from domain.scheduling.world.batches import end_batch_unless, is_newly_assigned, resume
from domain.scheduling.world.conservation import Conservation
from domain.scheduling.world.departed_names import DepartedNames, Name
from domain.scheduling.world.index_updates import IndexUpdates, has_equal_index
from domain.scheduling.world.lab_moves import MOVES, History, LabMoves, gone, no_history, states_after
from domain.scheduling.world.partition_queries import PartitionQueries
from domain.scheduling.world.tentative import CommitPlace, TentativeEvents
from domain.scheduling.world.trigger_rules import TriggerKey, TriggerRule, TriggerRules
from domain.scheduling.world.triggers import PENDING_SYSTEM, WAKE_UP, Trigger, Triggers
from domain.scheduling.world.wake_ups import TRIGGER_RULES
from domain.subjects import State, evolve, evolve_existing
from domain.system.events import SystemLabControllerChanged
from domain.system.state import System

HELD = ("recipe", "recipe-set", "system")
"""Kinds of subjects whose states the partition holds."""


class Partition(PartitionQueries):
    """The state of a scheduler. Mutable. Its own decisions are tentative until they are confirmed.

    `position` is the last folded position of the log. While the `state` is stopped,
    only deadlines are decided. `rules` say which events raise wake-ups and let-go triggers.
    """

    def __init__(
        self,
        identity: PartitionIdentity = DEFAULT_PARTITION,
        rules: Iterable[TriggerRule] = TRIGGER_RULES,
    ) -> None:
        self.identity = identity
        self.position = 0
        self.state = ACTIVE
        self.configuration = Configuration()
        self.effort = Effort()
        self.directory = Directory()
        self.labs = Labs()
        self.available = Availability(self.labs)
        self.filters = Filters(self.labs, self.effort)
        self.visible = Visible(self.directory, self.labs)
        self._access_updates = AccessUpdates(self.directory, self.labs, self.visible)
        self._index_updates = IndexUpdates(self.directory, self.labs, self.filters, self._access_updates)
        self.holders = Holders()
        self.locks = LockQueue(self.configuration.locks.max_overtaken)
        self.sets = RecipeSets(
            self.filters,
            self.holders,
            self._access_updates.submitter_of,
            self.locks_of_placed,
            self.locks,
            self.labs.number,
        )
        self.sets.set_max_overtaken(self.configuration.order.max_overtaken)
        self.triggers = Triggers(self._is_due, self._rank_of_new, self._queue_of_new)
        self.absent_trees = AbsentTrees()
        self.departed_names = DepartedNames()
        self.systems: dict[str, System] = {}
        self.reserved: dict[str, None] = {}
        self.lent: dict[str, None] = {}
        self._lab_moves = LabMoves(
            identity, self.directory, self.systems, lambda subject: self._find(subject) is not None
        )
        # Called before each grant, for explanations, which need the state of that moment.
        self.on_grant: Callable[..., None] | None = None
        self.conservation = Conservation(self.sets)
        self._tentative = TentativeEvents(0, None)
        self._trigger_rules = TriggerRules(rules)

    @property
    def document(self) -> Mapping[str, Any]:
        """Return its document in the directory, with its state, configuration and job filters."""
        return partition_document(self.directory, self.identity.name)

    # Events of the log

    def apply(self, recorded: Recorded, history: History = no_history) -> None:
        """Fold an event from the log and push its triggers. Events of other partitions have no effect.

        `history` returns the events of subjects before a position, for labs and systems that arrive. If it
        raises an error, the event is not folded, and can be applied again.
        """
        if not self._lab_moves.concerns(recorded):
            self.pass_over(recorded.position)
            return
        arriving = self._lab_moves.to_read(recorded) if type(recorded.event) in MOVES else ()
        past = history(arriving, recorded.position) if arriving else ()
        self.pass_over(recorded.position)
        if past:
            self._bring_in(recorded, past)
        self.filters.weighing.now = recorded.recorded_at
        resume(self.triggers, self.sets, recorded.stamp)
        happened = self._fold(recorded)
        for key in self._trigger_rules.triggers_of(happened, self):
            self._raise(recorded.position, recorded.commit_end, key)
        if isinstance(happened.after, Recipe) and happened.after.finished:
            self._drop(happened.after, recorded.recorded_at)

    def _drop(self, recipe: Recipe, at: datetime) -> None:
        """Drop a recipe that has finished according to the log, at a recorded time."""
        self.sets.drop(recipe)
        self.sets.admission.open_jobs.recipe_ended(recipe.job_id, at)

    def _bring_in(self, move: Recorded, history: Sequence[Recorded]) -> None:
        """Fold the past of a lab and its systems, or of one system, before their move.

        A pending system, which waits for a decision, waits for one of this partition since the move.
        """
        for kind, name in dict.fromkeys(split_subject(recorded.subject) for recorded in history):
            if kind == "lab-controller":
                self.directory.drop(kind, name)
        for recorded in history:
            if isinstance(recorded.event, directory_events.DirectoryEvent):
                self.directory.apply(recorded)
        for system in states_after(history):
            if system.usage != "pending":
                self._put_system(system)
                continue
            self._put_system(changed(system, since=move.position))
            self._raise(move.position, move.commit_end, (PENDING_SYSTEM, system.fqdn))

    def weigh_at(self, now: datetime | None) -> None:
        """Weigh recipes at this moment, until the next event or decision."""
        self.filters.weighing.now = now

    def pass_over(self, position: int) -> None:
        """Advance to a position; all events up to it were applied, except `SKIPPED_EVENTS`."""
        assert not self._tentative, "the log is read only while no decision is tentative"
        self.position = max(self.position, position)

    def _raise(self, position: int, commit_end: int, key: TriggerKey) -> None:
        if self._trigger_rules.is_new(commit_end, key):
            self.triggers.push(Trigger(position, *key))

    def _fold(self, recorded: Recorded) -> Happened:
        subject, event = recorded.subject, recorded.event
        kind, name = split_subject(subject)
        if kind in HELD:
            before = self._find(subject)
            after = evolve(subject, before, event, Moment.of(recorded))
            if isinstance(after, Recipe) and type(event) is RecipeChanged:
                self.sets.change(after)
                return Happened(subject, event, before, after)
            self._put(after, newly_assigned=is_newly_assigned(recorded.stamp))
            if type(event) is SystemLabControllerChanged and not self.has_lab(event.lab_controller):
                self._put_system(gone(self.systems[name]))
            if type(event) is RecipeScheduled and event.overtook is not None:
                self._count_overtaking(event.overtook, {})
            elif isinstance(after, Recipe) and type(event) is RecipeQueued:
                self._count_preemption(after, event, recorded.stamp.at, [])
            return Happened(subject, event, before, after)
        if isinstance(event, directory_events.DirectoryEvent):
            people = self.directory.people_of(name) if kind == "group" else ()
            self.directory.apply(recorded)
            self._document_changed(kind, name, recorded)
            self._note_departed(recorded, people)
        elif kind == "job":
            self._job_changed(int(name), recorded)
        return Happened(subject, event)

    def _job_changed(self, job_id: int, recorded: Recorded) -> None:
        """Fold an event of a job, which matters only while the job is open."""
        if isinstance(recorded.event, JobOpened):
            self.sets.admission.open_jobs.open(job_id, recorded.version, recorded.recorded_at)
        elif isinstance(recorded.event, JobClosed):
            self.sets.admission_updates.job_closed(job_id)
        else:
            self.sets.admission.open_jobs.change(job_id, recorded.version)

    def _put(self, state: State, *, newly_assigned: bool = False) -> None:
        if isinstance(state, Recipe):
            newly = newly_assigned and state.state == "assigned"
            self.conservation.put_recipe(self.sets.recipes.get(state.recipe_id), state)
            self.sets.put(state, newly_assigned=newly)
        elif isinstance(state, RecipeSet):
            # A set that was just submitted is in no batch yet, so the new sets of the batch keep their ranks.
            was_there = state.recipe_set_id in self.sets.sets
            self.sets.put_set(state)
            if was_there:
                self.triggers.ranks_changed()
        else:
            self._put_system(state)

    def _count_overtaking(self, recipe_id: int, before: dict[int, int]) -> None:
        """Count the set of a recipe that a grant overtook; note in `before` how often it was before."""
        overtaken = self.sets.recipes.get(recipe_id)
        if overtaken is not None:
            recipe_set_id = overtaken.recipe_set_id
            count = self.sets.overtakings.count(recipe_set_id)
            before.setdefault(recipe_set_id, count)
            self.sets.set_overtaken(recipe_set_id, count + 1)

    def _count_preemption(
        self, recipe: Recipe, event: RecipeQueued, at: datetime | None, counted: list[Preemption]
    ) -> None:
        """Count a preemption for the set of a recipe, once with its first recipe; add it to `counted`."""
        taking, recipe_set = event.preempted_by, self.sets.sets[recipe.recipe_set_id]
        if taking is not None and recipe.recipe_id == recipe_set.recipe_ids[0]:
            victim = recipe_set.recipe_set_id
            counted.append(self.sets.preemptions.add(recipe.job_id, victim, taking, at))

    def _document_changed(self, kind: str, name: str, recorded: Recorded) -> None:
        event = recorded.event
        if kind in ("user", "group", "pool"):
            self.visible.invalidate()
        if isinstance(event, directory_events.PoolSystemAdded | directory_events.PoolSystemRemoved):
            self._pools_changed(event.system)
        elif kind == "pool":
            for fqdn in self._access_updates.pool_changed(name):
                if fqdn in self.systems:
                    self._access_updates.update_system(self.systems[fqdn])
            self._reindex_recipes()
        elif kind == "group":
            self.sets.index.reindex((), (name,))
            self.holders.clear()
        elif kind == "distro-tree":
            self._tree_changed(name, recorded.recorded_at)
        elif kind == "lab-controller":
            self._lab_changed(name)
        elif kind == "partition":
            self._partition_changed(event)

    def has_lab(self, name: str) -> bool:
        """Return whether a lab belongs to the partition."""
        return self._lab_moves.is_here(name)

    def _lab_changed(self, name: str) -> None:
        if not self.has_lab(name):
            for system in self._lab_moves.systems_of(name):
                self._put_system(gone(system))
        self._serve(name)
        self.holders.clear()

    def _serve(self, lab: str) -> None:
        self.available.serve(lab, self.has_lab(lab) and self.directory.is_serving(lab))

    def _partition_changed(self, event: Event) -> None:
        if isinstance(event, directory_events.PartitionConfigured):
            self._configure()
        elif isinstance(event, directory_events.PartitionStateChanged):
            self.state = state_of(self.document)
        elif isinstance(event, directory_events.PartitionCreated | directory_events.PartitionRemoved):
            # An earlier partition may have had the name.
            self._read_document()
        else:
            self._put_job_filters()

    def _read_document(self) -> None:
        self.state = state_of(self.document)
        self._configure()
        self._put_job_filters()

    def _configure(self) -> None:
        self.configuration = configuration_of(self.document)
        self.filters.weighing.configure(self.configuration.weights)
        self.locks.configure(self.configuration.locks.max_overtaken)
        self.sets.set_max_overtaken(self.configuration.order.max_overtaken)
        tree, was_one_line = queue_tree_of(self.configuration, self.document), self.sets.turns.is_one_line
        is_assigned_first = self.configuration.order.assigned_first == ALWAYS
        self.sets.admission_updates.put_limits(
            self.configuration.limits, tree, is_assigned_first=is_assigned_first
        )
        if self.sets.turns.is_one_line != was_one_line:
            self.sets.wait_again()
        self.triggers.ranks_changed()

    def _put_job_filters(self) -> None:
        job_filters = JobFilters(job_filters_of(self.document))
        self.sets.admission_updates.put_job_filters(job_filters)

    def locks_of_placed(self, host: Recipe) -> Locks:
        """Return the locks that a placed recipe holds, or before it has them, those that it declares.

        Declared locks have real names in place of the recipe's own names.
        """
        if host.held is not None:
            return host.held
        if host.locks == NO_LOCKS:
            return NO_LOCKS
        assert host.system is not None and host.lab_controller is not None, f"{host.subject} is placed"
        pools = names(*self.directory.pools_of(host.system))
        return placed(host.locks, OwnNames(host.system, host.lab_controller, pools))

    def _pools_changed(self, fqdn: str) -> None:
        """Update the indexes after a system has joined or left a pool; it may be of another partition."""
        system = self.systems.get(fqdn)
        if system is None:
            return
        self._update_system(system)
        recipe = None if system.recipe_id is None else self.sets.recipes.get(system.recipe_id)
        if recipe is not None:
            self.sets.lock_records.pools_changed(recipe)

    def _note_departed(self, recorded: Recorded, people: Iterable[str]) -> None:
        """Record departed names, and drop old ones. For a group, `people` are its users before the event."""
        subject, at = recorded.subject, recorded.recorded_at
        if isinstance(recorded.event, directory_events.REMOVED):
            self.departed_names.add(Name(subject), at)
        for user in people:
            if self.directory.former_members.has_left(split_subject(subject)[1], user):
                self.departed_names.add(Name(subject, user), at)
        for each in self.departed_names.pop_due(at, self._is_used):
            if each.user is None:
                self.directory.forget(each.subject)
            else:
                self.directory.former_members.forget(split_subject(each.subject)[1], each.user)

    def _is_used(self, name: Name) -> bool:
        kind, group = split_subject(name.subject)
        return kind == "group" and self.sets.index.has_recipe_for(group, name.user)

    def _tree_changed(self, name: str, at: datetime) -> None:
        tree_id = int(name)
        before = self.labs.tree(tree_id)
        self._index_updates.update_tree(name)
        self.absent_trees.changed(tree_id, before, self.labs.tree(tree_id), at)
        self.holders.clear()

    def _put_system(self, system: System) -> None:
        before = self.systems.get(system.fqdn)
        self.systems[system.fqdn] = system
        self.conservation.put_system(before, system)
        if before is None or not has_equal_index(before, system):
            self._update_system(system)
        elif before.active_pool != system.active_pool:
            self.visible.put(system)
        if self.available.put(system):
            self.holders.clear()
        if system.reservation is None:
            self.reserved.pop(system.fqdn, None)
        else:
            self.reserved[system.fqdn] = None
        if system.loan is None:
            self.lent.pop(system.fqdn, None)
        else:
            self.lent[system.fqdn] = None

    def _update_system(self, system: System) -> None:
        self._index_updates.update_system(system)
        self._reindex_recipes()

    def _reindex_recipes(self) -> None:
        """Re-index recipes whose user or group some access class began or ceased to name."""
        changes = self.labs.access.name_changes()
        if changes:
            users = {name for kind, name in changes if kind == "user"}
            self.sets.index.reindex(users, {name for kind, name in changes if kind == "group"})
        self.holders.clear()

    def restore(self, position: int, systems: Iterable[System]) -> None:
        """Restore systems and position: after the directory, before the filters and then the sets."""
        self.position = position
        self._read_document()
        for tree_id, tree in self.directory.trees():
            self.labs.put_tree(tree_id, tree)
        for name, _ in self.directory.items("lab-controller"):
            self._serve(name)
        for system in systems:
            self._put_system(system)

    @property
    def has_only_new_sets(self) -> bool:
        """Return whether the unanswered triggers are new sets, and no system is free for them."""
        supply = self.available
        return not (self.triggers.has_quiet or supply.pending() or supply.idle(forced=True))

    # Tentative decisions

    def begin_tentative(self, now: datetime | None) -> None:
        """Begin tentative decisions at the time `now`. Without a time they can only be rolled back."""
        assert not self._tentative, "no decision is tentative yet"
        self._tentative = TentativeEvents(self.position, now, self.sets.newly_assigned)
        self.weigh_at(now)
        self.locks.begin_tentative()

    def apply_tentatively(self, subject: str, event: Event) -> State:
        """Apply a decided event tentatively; return the state of its subject before the event."""
        before = self.state_of(subject)
        moment = self._tentative.next_moment(subject, before)
        after = evolve_existing(before, event, moment)
        self._put(after, newly_assigned=True)
        if type(event) is RecipeScheduled and event.overtook is not None:
            self._count_overtaking(event.overtook, self._tentative.overtaken_before)
        elif isinstance(after, Recipe) and type(event) is RecipeQueued:
            self._count_preemption(after, event, moment.at, self._tentative.preempted)
        if self._trigger_rules.may_raise(event):
            for key in self._trigger_rules.triggers_of(Happened(subject, event, before, after), self):
                self._tentative.raised.append((moment.position, key))
                if key[0] == WAKE_UP:
                    self.triggers.raise_tentatively(key[1])
        return before

    def answered(self) -> None:
        """End tentative decisions without any event, and mark their triggers as answered."""
        self._end_tentative()
        self._answered()

    def confirm(self, place: CommitPlace) -> bool:
        """Confirm the tentative decisions, which the log has at this place.

        If the log has unread events that must be folded before it, or if the commit has more events than the
        decisions, roll back and return False: the caller must read the commit from the log. Unread events
        that may follow it (`late_events`) are to be applied next.
        """
        tentative = self._end_tentative()
        self._answered()
        if tentative.is_commit(place):
            tentative.move_to(place)
            self._confirm_tentative(tentative, place.recorded_at)
            return True
        self._roll_back(tentative)
        return False

    def _answered(self) -> None:
        self.triggers.confirm()
        end_batch_unless(self.sets, self.triggers.batch.left)

    def rollback(self) -> None:
        """Discard the tentative decisions, which are not in the log, and queue their triggers again."""
        self._roll_back(self._end_tentative())
        self.triggers.rollback()

    def _end_tentative(self) -> TentativeEvents:
        tentative, self._tentative = self._tentative, TentativeEvents(0, None)
        return tentative

    def _confirm_tentative(self, tentative: TentativeEvents, recorded_at: datetime) -> None:
        """Do what `apply` does after folding: advance the position, drop finished recipes, push triggers."""
        self.locks.confirm()
        self.position = tentative.last_position
        for subject in tentative.states_before:
            state = self._find(subject)
            if isinstance(state, Recipe) and state.finished:
                self._drop(state, recorded_at)
            elif isinstance(state, Recipe):
                self.sets.refresh(tentative.as_recorded(state, recorded_at))
            elif isinstance(state, System):
                self.systems[state.fqdn] = tentative.moved(state)
        for position, key in tentative.raised:
            self._raise(position, tentative.last_position, key)

    def _roll_back(self, tentative: TentativeEvents) -> None:
        for preempted in reversed(tentative.preempted):
            self.sets.preemptions.undo(preempted)
        for recipe_set_id, count in tentative.overtaken_before.items():
            self.sets.set_overtaken(recipe_set_id, count)
        for before in tentative.states_before.values():
            newly = isinstance(before, Recipe) and before.recipe_id in tentative.newly_assigned
            self._put(before, newly_assigned=newly)
        self.locks.rollback()

    # Triggers

    def _is_due(self, trigger: Trigger) -> bool:
        if trigger.kind == PENDING_SYSTEM:
            system = self.systems[trigger.name]
            return system.usage == "pending" and system.since == trigger.position
        return self.sets.is_new(int(trigger.name))

    def _rank_of_new(self, trigger: Trigger) -> tuple[int, ...]:
        return self.sets.rank_of_set(int(trigger.name))

    def _queue_of_new(self, trigger: Trigger) -> str:
        recipe_set = self.sets.sets.get(int(trigger.name))
        return ONE_LINE if recipe_set is None else self.sets.turns.queue_of(recipe_set)

    # States

    def state_of(self, subject: str) -> State:
        """Return the state of a system, or of a recipe or set that has not finished."""
        state = self._find(subject)
        assert state is not None, f"{subject} has a state"
        return state

    def _find(self, subject: str) -> State | None:
        kind, _, name = subject.partition("/")
        if kind == "system":
            return self.systems.get(name)
        return self.sets.recipes.get(int(name)) if kind == "recipe" else self.sets.sets.get(int(name))
