"""Plans of a preemption: which sets give way, so that another one has systems and room (design 6.4).

The victims are as few as will do: they are taken in order until the set can be placed, and each of them that
is not needed after all is left out again, the last one first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from domain.queues.tree import QueueTree, paths_upward
from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet
from domain.scheduling.admitting.room_limits import Needs, RoomLimit
from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.safety.matching import match
from domain.scheduling.world.partition import Partition

OF_ITS_JOB: Final = "of its job"
OF_HIGHER_PRIORITY: Final = "of higher priority"
HAS_PREEMPTED_IT: Final = "that preempted it"
OF_ITS_QUEUE: Final = "of its queue"
BEHIND_A_FENCE: Final = "behind a fence"
PARTLY_ENDED: Final = "with a recipe that has ended or is reserved"
NOT_PREEMPTIBLE: Final = "started and not preemptible"


class Taking(NamedTuple):
    """A set that may preempt others: its hosts without a system, and its needs of room for its first one."""

    recipe_set: RecipeSet
    missing: Sequence[Recipe]
    needs: Needs

    @property
    def queue(self) -> str:
        return self.recipe_set.submitted.queue


class TakingDemand(NamedTuple):
    """The wants and rights of a taking set. In one queue, sets with the same demand find the same victims.

    `systems` has the bitmap of systems for each missing recipe. `spared` are the sets that have preempted it.
    """

    systems: tuple[int, ...]
    lab_controller: str | None
    priority: int
    needs: Needs
    spared: tuple[int, ...]


class Victim(NamedTuple):
    """A set that may be preempted, the bitmap of its systems, and whether it has started."""

    recipe_set: RecipeSet
    systems: int
    started: bool

    @property
    def order(self) -> tuple[bool, int, int]:
        return self.started, self.recipe_set.priority, -self.recipe_set.submission


class Plan(NamedTuple):
    """The victims of a preemption, and a system for each recipe of the taking set without one."""

    victims: tuple[Victim, ...]
    numbers: tuple[int, ...]


def demand_of(partition: Partition, taking: Taking) -> TakingDemand:
    recipe_set, missing = taking.recipe_set, taking.missing
    systems = tuple(map(partition.usable, missing))
    spared = partition.sets.preemptions.takings.get(recipe_set.recipe_set_id, ())
    return TakingDemand(systems, missing[0].lab_controller, recipe_set.priority, taking.needs, spared)


class VictimLists:
    """The sets that may give way, in order, to sets of a queue and priority. Valid until the next decision.

    Most placed sets have started and are not preemptible; each is looked at once for all taking sets.
    """

    def __init__(self, partition: Partition) -> None:
        self._partition = partition
        self._lists: dict[tuple[str, int, tuple[int, ...]], list[Victim]] = {}

    def of(self, taking: RecipeSet) -> list[Victim]:
        """Return the sets that may be preempted for another one, whatever else is preempted."""
        spared = self._partition.sets.preemptions.takings.get(taking.recipe_set_id, ())
        key = taking.submitted.queue, taking.priority, spared
        if key not in self._lists:
            victims = _victims(self._partition, taking)
            self._lists[key] = sorted(victims, key=lambda victim: victim.order)
        return [victim for victim in self._lists[key] if victim.recipe_set.job_id != taking.job_id]


def plan_for(partition: Partition, taking: Taking, victim_lists: VictimLists) -> Plan | None:
    """Return the plan with the fewest victims of all labs, None if no lab can place the set.

    Without victims the set is placed by the usual order, which also answers pending systems first.
    """
    bound = taking.missing[0].lab_controller
    labs = [of_lab for name, of_lab in sorted(partition.labs.each()) if bound in (None, name)]
    wants = [partition.usable(host) for host in taking.missing]
    if union(wants) & union(labs) & partition.available.pending():
        return None
    searches = [VictimSearch(partition, taking, [want & of_lab for want in wants]) for of_lab in labs]
    if any(search.numbers(()) is not None for search in searches):
        return None
    victims = victim_lists.of(taking.recipe_set)
    found = (plan for search in searches if (plan := search.plan(victims)) is not None)
    return min(found, key=lambda plan: len(plan.victims), default=None)


class VictimSearch:
    """The search for the victims whose systems and room suffice for a set in one lab."""

    def __init__(self, partition: Partition, taking: Taking, wants: Sequence[int]) -> None:
        self._partition = partition
        self._taking = taking
        self._wants = wants
        self._wanted = union(wants)
        self._idle = partition.available.idle(forced=True)
        rooms = partition.sets.rooms
        self._lacking = frozenset(rooms.lacking(taking.needs))

    def plan(self, victims: Sequence[Victim]) -> Plan | None:
        """Return a plan with the first victims that suffice, without those that are not needed."""
        chosen, losses = list[Victim](), PreemptionLosses(self._partition, self._taking)
        for victim in victims:
            if self._is_useful(victim) and losses.may_add(victim):
                losses.add(victim)
                chosen.append(victim)
                if self.numbers(chosen) is not None:
                    break
        else:
            return None
        for victim in chosen[::-1]:
            fewer = [each for each in chosen if each is not victim]
            if self.numbers(fewer) is not None:
                chosen = fewer
        numbers = self.numbers(chosen)
        assert numbers is not None, "the victims suffice"
        return Plan(tuple(chosen), tuple(numbers))

    def numbers(self, victims: Sequence[Victim]) -> list[int] | None:
        """Return a system for each missing recipe, None if the victims do not suffice."""
        if self._taking.needs and not self._has_room(victims):
            return None
        systems = self._idle | union(victim.systems for victim in victims)
        return match([want & systems for want in self._wants])

    def _is_useful(self, victim: Victim) -> bool:
        """Return whether a victim has a wanted system, or it or its job has room that lacks."""
        rooms, recipe_set = self._partition.sets.rooms, victim.recipe_set
        of_set = rooms.charged.get(recipe_set.recipe_set_id, ())
        charged = (*of_set, *rooms.charged_jobs.get(recipe_set.job_id, ()))
        return bool(victim.systems & self._wanted) or any(limit in self._lacking for limit, _ in charged)

    def _has_room(self, victims: Sequence[Victim]) -> bool:
        """Return whether the set has room once the victims have given up theirs."""
        rooms, freed = self._partition.sets.rooms, self._freed_by(victims)
        return all(rooms.free(limit) + freed[limit] >= count for limit, count in self._taking.needs)

    def _freed_by(self, victims: Sequence[Victim]) -> Counter[RoomLimit]:
        numbers = [victim.recipe_set.recipe_set_id for victim in victims]
        return self._partition.sets.classes.charges_of(numbers)


class PreemptionLosses:
    """The systems that queues lose by a preemption, and how often it preempts each job. Mutable."""

    def __init__(self, partition: Partition, taking: Taking) -> None:
        self._partition = partition
        self._taking_queues = frozenset(paths_upward(taking.queue))
        self._gained = len(taking.missing)
        self._systems = Counter[str]()
        self._jobs = Counter[int]()

    def add(self, victim: Victim) -> None:
        self._jobs[victim.recipe_set.job_id] += 1
        for path in paths_upward(victim.recipe_set.submitted.queue):
            self._systems[path] += victim.systems.bit_count()

    def may_add(self, victim: Victim) -> bool:
        """Return whether the job of a victim may give way, and its queues keep what they are guaranteed.

        Queues above both sets get back what the taking set gets; they may have less before.
        """
        partition, job_id = self._partition, victim.recipe_set.job_id
        count = partition.sets.preemptions.of_job.get(job_id, 0) + self._jobs[job_id]
        if count >= partition.configuration.preemption.max_per_job:
            return False
        for path in paths_upward(victim.recipe_set.submitted.queue):
            queue, used = partition.sets.admission.tree.find(path), partition.sets.turns.used.get(path, 0)
            least = 0 if queue is None or queue.guaranteed is None else queue.guaranteed
            left = used - self._systems[path] - victim.systems.bit_count()
            if path in self._taking_queues:
                left, least = left + self._gained, min(least, used)
            if left < least:
                return False
        return True


def _victims(partition: Partition, taking: RecipeSet) -> Iterator[Victim]:
    """Yield the sets that may be preempted for another one, or for another one of its queue and priority."""
    sets, seen = partition.sets, dict[int, None]()
    for recipe in map(sets.recipes.__getitem__, sets.placed):
        recipe_set = sets.sets[recipe.recipe_set_id]
        # This first test is the cheapest one, and rules out most sets.
        if (recipe.started and not recipe_set.preemptible) or recipe_set.recipe_set_id in seen:
            continue
        seen[recipe_set.recipe_set_id] = None
        if _why_spared(partition, taking, recipe_set) is None:
            members = partition.members(recipe_set.recipe_set_id)
            held = (host.system for host in members.hosts if host.system is not None)
            systems = union(1 << partition.labs.number(fqdn) for fqdn in held)
            yield Victim(recipe_set, systems, members.started)


def why_spared(partition: Partition, taking: RecipeSet, other: RecipeSet) -> str | None:
    """Return why a set with systems is no victim of a taking set; None if it may be one."""
    return OF_ITS_JOB if other.job_id == taking.job_id else _why_spared(partition, taking, other)


def _why_spared(partition: Partition, taking: RecipeSet, other: RecipeSet) -> str | None:
    """Return what `why_spared` returns, for sets of different jobs."""
    preemptions, queue = partition.sets.preemptions, taking.submitted.queue
    if other.priority > taking.priority:
        return OF_HIGHER_PRIORITY
    # Otherwise two sets could take a system from each other in turn.
    if other.recipe_set_id in preemptions.takings.get(taking.recipe_set_id, ()):
        return HAS_PREEMPTED_IT
    # The queue of the taking set is below its guarantee, so its own sets are no victims.
    if other.submitted.queue == queue:
        return OF_ITS_QUEUE
    is_fenced = _is_across_fence(partition.sets.admission.tree, queue, other.submitted.queue)
    return _why_unmovable(partition, other) or (BEHIND_A_FENCE if is_fenced else None)


def _why_unmovable(partition: Partition, recipe_set: RecipeSet) -> str | None:
    """Return why a set keeps its systems: a recipe has ended or is reserved, or it has started for good."""
    members = partition.members(recipe_set.recipe_set_id)
    is_whole = len(members.recipes) == len(recipe_set.recipe_ids)
    if not is_whole or any(recipe.finished or recipe.state == "reserved" for recipe in members.recipes):
        return PARTLY_ENDED
    return None if recipe_set.preemptible or not members.started else NOT_PREEMPTIBLE


def _is_across_fence(tree: QueueTree, one: str, other: str) -> bool:
    """Return whether a queue from either one up to below their common queue has a fence."""
    common = set(paths_upward(one)) & set(paths_upward(other))
    below = [path for each in (one, other) for path in paths_upward(each) if path not in common]
    return any(queue.fence for path in below if (queue := tree.find(path)) is not None)
