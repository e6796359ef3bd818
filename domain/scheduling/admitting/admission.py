"""Admission: whether a recipe set may get its first system (design 5.4).

Admission is a list of rows. Each row is asked for sets that hold nothing, never for a holder or a set that
has started. A row may hold a set back or end it. Such a set stands in no line, and does not count among the
recipes that could take a system. The answers change only with an outcome of a job or set, with the job
filters, with the state of a queue, and with the priority of the set, so that no row is asked when a trigger
is answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

from domain.admission.dependencies import JOB, RECIPE_SET, Dependency, Effect, verdict
from domain.admission.job_filters import PAUSE, REJECT, JobFilter, JobFilters
from domain.events import split_subject
from domain.queues.tree import WITHOUT_CONFIGURATION, QueueTree, paths_upward
from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet
from domain.scheduling.admitting.open_jobs import OpenJobs
from domain.scheduling.admitting.outcomes import Outcomes, worst_of
from domain.scheduling.supply.reasons import PAUSED, QUEUE_STOPPED

Subject = tuple[str, int]
"""The kind and the id of a job or recipe set."""

K = TypeVar("K")

DEPENDENCY: Final = "dependency"
JOB_FILTER: Final = "job-filter"
QUEUE_STATE: Final = "queue-state"


class HeldBack(NamedTuple):
    """The row of admission that keeps a set from its first system, the effect, and the reason.

    The effect is WAIT, or CANCEL or ABORT for a set that the scheduler is about to end.
    """

    row: str
    effect: Effect
    reason: str

    @property
    def ends(self) -> bool:
        return self.effect is not Effect.WAIT


class AdmissionRow(NamedTuple):
    """A row: its name, and the function that returns why it holds a set back, None if it does not.

    The function takes the job filter that applies to the set.
    """

    name: str
    ask: Callable[[Admission, RecipeSet, JobFilter | None], HeldBack | None]


class Admission:
    """The outcomes and rules of one partition, and the sets that they hold back. Mutable.

    `members` returns the recipes of a set that the scheduler has not dropped, `host_count` the number of its
    hosts. `held_back` are the sets that stand in no line, `ending` those of them that the scheduler must end.
    `held_by_filter` has the effect of each job filter that pauses or rejects. `held_back_counts` has the
    number of hosts that each row holds back.
    """

    def __init__(self, members: Callable[[int], Sequence[Recipe]], host_count: Callable[[int], int]) -> None:
        self.outcomes = Outcomes()
        self.job_filters = JobFilters()
        self.open_jobs = OpenJobs()
        self.tree = WITHOUT_CONFIGURATION
        self.held_by_filter: dict[str, HeldBack] = {}
        self.held_back: dict[int, HeldBack] = {}
        self.ending: dict[int, None] = {}
        self.held_back_counts: Counter[str] = Counter()
        self._members = members
        self._host_count = host_count
        # The unfinished sets by what they depend on, and by job.
        self._dependents: dict[Subject, dict[int, None]] = {}
        self._of_job: dict[int, dict[int, None]] = {}

    def add(self, recipe_set: RecipeSet) -> None:
        """Add an unfinished set. A set that was added before may differ in its priority only."""
        self._of_job.setdefault(recipe_set.job_id, {})[recipe_set.recipe_set_id] = None
        if recipe_set.depends_on:
            for subject in _subjects(recipe_set.depends_on):
                self._dependents.setdefault(subject, {})[recipe_set.recipe_set_id] = None

    def drop_recipe(self, recipe: Recipe) -> None:
        """Keep the final state of a recipe that is dropped."""
        self.outcomes.add(RECIPE_SET, recipe.recipe_set_id, recipe.state)

    def drop(self, recipe_set: RecipeSet) -> None:
        """Drop a set whose recipes are all dropped, and keep its outcome for its job."""
        number, job_id = recipe_set.recipe_set_id, recipe_set.job_id
        self.outcomes.add(JOB, job_id, self.outcomes.worst(RECIPE_SET, number))
        if number in self.held_back:
            self.hold_back(number, None)
        _remove(self._of_job, job_id, number)
        if recipe_set.depends_on:
            for subject in _subjects(recipe_set.depends_on):
                _remove(self._dependents, subject, number)

    def put_job_filters(self, job_filters: JobFilters) -> None:
        """Store new job filters; the caller then asks all sets again."""
        self.job_filters = job_filters
        self.held_by_filter = {
            rule.name: _held_by(rule) for rule in job_filters.ordered if rule.action in (PAUSE, REJECT)
        }

    def put_queues(self, tree: QueueTree) -> bool:
        """Store a new queue tree; return whether the caller must ask all sets again."""
        has_changed = tree.stopped != self.tree.stopped
        self.tree = tree
        return has_changed

    def hold_back(self, recipe_set_id: int, held: HeldBack | None) -> None:
        """Record why a set is held back, None for a set that is not."""
        host_count = self._host_count(recipe_set_id)
        before = self.held_back.pop(recipe_set_id, None)
        if before is not None:
            self.held_back_counts[before.row] -= host_count
        self.ending.pop(recipe_set_id, None)
        if held is not None:
            self.held_back[recipe_set_id] = held
            self.held_back_counts[held.row] += host_count
            if held.ends:
                self.ending[recipe_set_id] = None

    # Questions

    @property
    def has_rules(self) -> bool:
        """Return whether any set is or might be held back; most partitions have neither rules nor limits."""
        return bool(self._dependents or self.job_filters.ordered or self.tree.stopped or self.held_back)

    @property
    def has_dependents(self) -> bool:
        """Return whether any unfinished set depends on a job or set."""
        return bool(self._dependents)

    def concerns(self, recipe_set: RecipeSet) -> bool:
        """Return whether some row might hold the set back."""
        return bool(recipe_set.depends_on or self.job_filters.ordered or self.tree.stopped)

    def applying(self, recipe_set: RecipeSet) -> JobFilter | None:
        """Return the job filter that applies to a set."""
        return self.job_filters.applying(recipe_set.facts) if self.job_filters.ordered else None

    def answers(self, recipe_set: RecipeSet) -> list[HeldBack]:
        """Return the answers of all rows that hold a set back, which must hold nothing."""
        applying = self.applying(recipe_set)
        answers = (row.ask(self, recipe_set, applying) for row in ROWS)
        return [held for held in answers if held is not None]

    def why_held_back(self, recipe_set: RecipeSet, applying: JobFilter | None) -> HeldBack | None:
        """Return the first row that ends a set without systems, else the first that holds it back.

        `applying` is the job filter that applies to the set.
        """
        waits: HeldBack | None = None
        for row in ROWS:
            held = row.ask(self, recipe_set, applying)
            if held is None:
                continue
            if held.ends:
                return held
            waits = waits or held
        return waits

    @property
    def unfinished_jobs(self) -> Collection[int]:
        """Return the jobs with sets that have not ended, by the log."""
        return self._of_job.keys()

    def close_job(self, job_id: int) -> None:
        """Close a job: it has ended once its sets have, and at once if it has none."""
        self.open_jobs.close(job_id)
        self.outcomes.add(JOB, job_id, "completed")

    def final_state(self, kind: str, number: int) -> str | None:
        """Return the state in which a job or set has ended, None before. An open job has not ended."""
        if kind == JOB and number in self.open_jobs:
            return None
        states = [self.outcomes.worst(kind, number)]
        for recipe_set_id in self._of_job.get(number, ()) if kind == JOB else (number,):
            states.append(self.outcomes.worst(RECIPE_SET, recipe_set_id))
            for recipe in self._members(recipe_set_id):
                if not recipe.finished:
                    return None
                states.append(recipe.state)
        return worst_of(*states)

    def dependents(self, kind: str, number: int) -> Iterator[int]:
        """Yield the sets that depend on a job or set, without those that have ended tentatively."""
        for recipe_set_id in self._dependents.get((kind, number), ()):
            if any(not recipe.finished for recipe in self._members(recipe_set_id)):
                yield recipe_set_id

    def changed_with(self, recipe: Recipe) -> Iterator[int]:
        """Yield the sets whose dependencies may be affected, as a recipe has finished or no longer has."""
        for subject in self._depended_on(recipe):
            if not recipe.finished or self.final_state(*subject) is not None:
                yield from self.dependents(*subject)

    def ended_with(self, recipe: Recipe) -> Iterator[Subject]:
        """Yield the set and the job of a finished recipe if sets depend on them and they have ended."""
        for subject in self._depended_on(recipe):
            if self.final_state(*subject) is not None and any(self.dependents(*subject)):
                yield subject

    def _depended_on(self, recipe: Recipe) -> Iterator[Subject]:
        if self._dependents:
            subjects = (RECIPE_SET, recipe.recipe_set_id), (JOB, recipe.job_id)
            yield from (subject for subject in subjects if subject in self._dependents)

    def ending_after(self, subject: str) -> list[int]:
        """Return the sets to end after an event of an ended job or set, a changed set, or the partition."""
        kind, name = split_subject(subject)
        if kind not in (JOB, RECIPE_SET):
            return sorted(self.ending)
        concerned = {*self.dependents(kind, int(name)), *((int(name),) if kind == RECIPE_SET else ())}
        return sorted(concerned & self.ending.keys())


def _subjects(dependencies: Sequence[Dependency]) -> Collection[Subject]:
    """Return the jobs and sets of these dependencies, each once."""
    return {(dependency.kind, dependency.number): None for dependency in dependencies}


def _remove(index: dict[K, dict[int, None]], key: K, number: int) -> None:
    index[key].pop(number, None)
    if not index[key]:
        del index[key]


def _dependency(admission: Admission, recipe_set: RecipeSet, _: JobFilter | None) -> HeldBack | None:
    if not recipe_set.depends_on:
        return None
    effect, reason = verdict(recipe_set.depends_on, admission.final_state)
    return None if effect is Effect.PROCEED else HeldBack(DEPENDENCY, effect, reason)


def _job_filter(admission: Admission, _: RecipeSet, applying: JobFilter | None) -> HeldBack | None:
    return None if applying is None else admission.held_by_filter.get(applying.name)


def _queue_state(admission: Admission, recipe_set: RecipeSet, _: JobFilter | None) -> HeldBack | None:
    stopped = admission.tree.stopped
    if not stopped:
        return None
    path = next((path for path in paths_upward(recipe_set.submitted.queue) if path in stopped), None)
    return None if path is None else HeldBack(QUEUE_STATE, Effect.WAIT, f"{QUEUE_STOPPED} {path}")


def _held_by(rule: JobFilter) -> HeldBack:
    """Return the effect of a rule that pauses or rejects."""
    if rule.action == REJECT:
        return HeldBack(JOB_FILTER, Effect.CANCEL, rule.stated_reason)
    suffix = f": {rule.reason}" if rule.reason else ""
    return HeldBack(JOB_FILTER, Effect.WAIT, f'{PAUSED} "{rule.name}"{suffix}')


# If several rows hold a set back, the first one gives the reason.
ROWS: Final = (
    AdmissionRow(DEPENDENCY, _dependency),
    AdmissionRow(JOB_FILTER, _job_filter),
    AdmissionRow(QUEUE_STATE, _queue_state),
)
