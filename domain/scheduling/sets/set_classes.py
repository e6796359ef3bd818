"""The class of each set that needs room under limits, and the charged sets and jobs (design 5.4, 6.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from domain.admission.job_filters import JobFilter
from domain.recipe_set.state import RecipeSet
from domain.scheduling.admitting.room_limits import NO_NEEDS, Needs, RoomLimit, SetNeeds
from domain.scheduling.admitting.rooms import UNLIMITED, Rooms
from domain.scheduling.sets.queue_turns import ONE_LINE
from domain.scheduling.sets.set_states import SetStates


@dataclass(slots=True)
class _LimitedJob:
    """The sets of a job with maxima of jobs, and those of them that are charged."""

    sets: dict[int, None] = field(default_factory=dict)
    charged: dict[int, None] = field(default_factory=dict)


class SetClasses:
    """The classes of sets. Mutable: `put` the needs of each set, `charge` it when a recipe changes its state.

    `numbers` has the class of each set that needs room for its first system. `limited` has each set with a
    limit, with the needs of its job, which may be empty. Most partitions have no such set. While a set of a
    job is charged, the job's other sets need no room under its maxima of jobs, so they are in another class.
    `version` rises when the sets of a job change their classes for this reason.
    """

    def __init__(self, states: SetStates, rooms: Rooms) -> None:
        self.numbers: dict[int, int] = {}
        self.limited: dict[int, Needs] = {}
        self.version = 0
        self._states = states
        self._rooms = rooms
        self._jobs: dict[int, _LimitedJob] = {}

    def present_needs(self, recipe_set: RecipeSet, applying: JobFilter | None) -> SetNeeds:
        """Return the needs of a set by the present rules; `applying` is the job filter that applies to it."""
        host_count = self._states.host_counts[recipe_set.recipe_set_id]
        return self._rooms.needs(recipe_set, host_count, applying)

    def needs_of(self, recipe_set_id: int) -> SetNeeds:
        """Return the needs that were last put for a set."""
        of_job = self.limited.get(recipe_set_id, ())
        return SetNeeds(_without(self.needs(recipe_set_id), of_job), of_job)

    def put(self, recipe_set_id: int, needs: SetNeeds) -> None:
        """Put the needs of a set; the caller indexes its hosts again, and those of its job."""
        if needs == NO_NEEDS:
            self.drop(recipe_set_id)
            return
        job_id = self._states.sets[recipe_set_id].job_id
        if self.limited.get(recipe_set_id) and not needs.of_job:
            self._leave_job(job_id, recipe_set_id)
        self.limited[recipe_set_id] = needs.of_job
        if needs.of_job:
            self._jobs.setdefault(job_id, _LimitedJob()).sets[recipe_set_id] = None
        self._classify(recipe_set_id, needs.of_set)
        # A set that holds nothing is not charged.
        if not self._states.holds_nothing(self._states.sets[recipe_set_id]):
            self.charge(recipe_set_id)

    def drop(self, recipe_set_id: int) -> None:
        """Drop a set that has ended, or that has no limits any more."""
        of_job = self.limited.pop(recipe_set_id, None)
        if of_job is None:
            return
        self._rooms.release(recipe_set_id)
        self._join(recipe_set_id, ())
        if of_job:
            self._leave_job(self._states.sets[recipe_set_id].job_id, recipe_set_id)

    def _leave_job(self, job_id: int, recipe_set_id: int) -> None:
        job = self._jobs[job_id]
        del job.sets[recipe_set_id]
        job.charged.pop(recipe_set_id, None)
        self._charge_job(job_id)
        if not job.sets:
            del self._jobs[job_id]

    def _classify(self, recipe_set_id: int, of_set: Needs) -> None:
        """Put a set into the class of its needs and, unless its job is charged, those of the job."""
        is_job_charged = self._states.sets[recipe_set_id].job_id in self._rooms.charged_jobs
        of_job = () if is_job_charged else self.limited[recipe_set_id]
        self._join(recipe_set_id, (*of_set, *of_job))

    def requeue(self, recipe_set_id: int) -> None:
        """Put a set into its class again, after a change of the order among queues."""
        if recipe_set_id in self.numbers:
            self._join(recipe_set_id, self.needs(recipe_set_id))

    def _join(self, recipe_set_id: int, needs: Needs) -> None:
        before = self.numbers.get(recipe_set_id)
        queue = self._states.turns.queue_of(self._states.sets[recipe_set_id]) if needs else ONE_LINE
        if before is not None and self._rooms.key_of(before) == (needs, queue):
            return
        self.numbers.pop(recipe_set_id, None)
        if needs:
            self.numbers[recipe_set_id] = self._rooms.join(needs, queue)
        if before is not None:
            self._rooms.leave(before)

    def moved_by_charge(self, recipe_set_id: int) -> Collection[int]:
        """Return the sets of a job whose class `charge` changes, as the charge of the job begins or ends."""
        if not self.limited[recipe_set_id]:
            return ()
        recipe_set = self._states.sets[recipe_set_id]
        job = self._jobs[recipe_set.job_id]
        has_others = len(job.charged) > (recipe_set_id in job.charged)
        will_be_charged = has_others or not self._states.holds_nothing(recipe_set)
        return job.sets if will_be_charged != bool(job.charged) else ()

    def charge(self, recipe_set_id: int) -> None:
        """Charge a set with limits, and its job, if it holds systems or has started; else release them."""
        needs, recipe_set = self.needs_of(recipe_set_id), self._states.sets[recipe_set_id]
        job = self._jobs[recipe_set.job_id] if needs.of_job else _LimitedJob()
        if self._states.holds_nothing(recipe_set):
            self._rooms.release(recipe_set_id)
            job.charged.pop(recipe_set_id, None)
        else:
            self._rooms.charge(recipe_set_id, needs.of_set)
            job.charged[recipe_set_id] = None
        if needs.of_job:
            self._charge_job(recipe_set.job_id)

    def _charge_job(self, job_id: int) -> None:
        """Charge a job while one of its sets is charged; its sets change their classes with that."""
        rooms, job = self._rooms, self._jobs[job_id]
        was_charged = job_id in rooms.charged_jobs
        if job.charged:
            rooms.charge_job(job_id, self.limited[next(iter(job.charged))])
        else:
            rooms.release_job(job_id)
        if was_charged != bool(job.charged):
            self.version += len(job.sets) > 1
            of_sets = {each: self.needs_of(each).of_set for each in job.sets}
            for recipe_set_id, of_set in of_sets.items():
                self._classify(recipe_set_id, of_set)

    def needs(self, recipe_set_id: int) -> Needs:
        """Return the needs of a set before its first system, under each limit."""
        return self._rooms.needs_of(self.numbers.get(recipe_set_id, UNLIMITED))

    def charges_of(self, recipe_set_ids: Collection[int]) -> Counter[RoomLimit]:
        """Return the room that comes free if these sets hold nothing any more."""
        freed, rooms = Counter[RoomLimit](), self._rooms
        for recipe_set_id in recipe_set_ids:
            freed.update(dict(rooms.charged.get(recipe_set_id, ())))
        for job_id in dict.fromkeys(self._states.sets[each].job_id for each in recipe_set_ids):
            job = self._jobs.get(job_id)
            if job is not None and job.charged.keys() <= set(recipe_set_ids):
                freed.update(dict(rooms.charged_jobs.get(job_id, ())))
        return freed

    def lacks_room(self, recipe_set_id: int) -> bool:
        """Return whether a set that holds nothing has no room under some limit."""
        if recipe_set_id not in self.numbers or recipe_set_id in self._rooms.charged:
            return False
        return not self._rooms.has_room(self.needs(recipe_set_id))


def _without(needs: Needs, of_job: Needs) -> Needs:
    """Return the needs of a class without those of the job, which stand last, if the class has them."""
    return needs[: -len(of_job)] if of_job and needs[-len(of_job) :] == of_job else needs
