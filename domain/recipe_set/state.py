"""The state of a recipe set: its recipes and its priority, which may change until the set starts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from domain.admission.dependencies import Dependency, stored_dependency
from domain.admission.predicates import SetFacts
from domain.contention.documents import stored_locks
from domain.contention.locks import NO_LOCKS, Locks
from domain.errors import Refused, display_subject
from domain.events import Decided, Event, Moment
from domain.fast_dataclasses import changed, maker
from domain.priority import Priority
from domain.queues.tree import DEFAULT_QUEUE
from domain.recipe_set.events import (
    RecipeSetChanged,
    RecipeSetPriorityChanged,
    RecipeSetReviewed,
    RecipeSetSubmitted,
    RecipeSetWaived,
    RecipeSetWaiverEnded,
)
from domain.recipe_set.members import Members
from domain.roll_up import state_of


class SubmittedFacts(NamedTuple):
    """The facts of a set on which its admission depends; many sets share them."""

    owner: str = ""
    submitter: str = ""
    group: str | None = None
    queue: str = DEFAULT_QUEUE
    tasks: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


NO_FACTS = SubmittedFacts()
NOT_REVIEWED = "none"

# Return one object for all sets with equal facts, because most sets share theirs.
shared_facts = lru_cache(4096)(SubmittedFacts)


@dataclass(frozen=True, slots=True)
class RecipeSet:
    """A recipe set; `submission` is the position of its first event, `submitted_at` its recorded time.

    `profile` are the merged locks that its recipes declare, before any of them has a system.

    `review` is that of a person. `waived`: all failures of the set are waived; `waived_tasks` have waivers of
    their own. Only ended sets have these, and schedulers keep no ended sets.
    """

    recipe_set_id: int
    version: int
    job_id: int
    priority: Priority
    submission: int
    recipe_ids: tuple[int, ...]
    submitted_at: datetime | None = None
    profile: Locks = NO_LOCKS
    submitted: SubmittedFacts = NO_FACTS
    depends_on: tuple[Dependency, ...] = ()
    preemptible: bool = False
    review: str = NOT_REVIEWED
    waived: bool = False
    waived_tasks: tuple[int, ...] = ()

    @property
    def subject(self) -> str:
        return f"recipe-set/{self.recipe_set_id}"

    @property
    def facts(self) -> SetFacts:
        """Return the present facts of the set that job filters compare."""
        owner, submitter, group, _, tasks, operations, reasons = self.submitted
        return SetFacts(self.job_id, owner, submitter, group, self.priority, tasks, operations, reasons)


_new_recipe_set = maker(RecipeSet)


def evolve(recipe_set: RecipeSet | None, recipe_set_id: int, event: Event, moment: Moment) -> RecipeSet:
    if isinstance(event, RecipeSetSubmitted):
        return _new_recipe_set(
            recipe_set_id=recipe_set_id,
            version=moment.version,
            job_id=event.job_id,
            priority=Priority[event.priority],
            submission=moment.position,
            recipe_ids=tuple(event.recipe_ids),
            submitted_at=moment.recorded_at,
            profile=stored_locks(event.profile),
            submitted=_facts(event),
            depends_on=tuple(map(stored_dependency, event.depends_on)),
            preemptible=event.preemptible,
            review=NOT_REVIEWED,
            waived=False,
            waived_tasks=(),
        )
    assert recipe_set is not None, f"recipe set {recipe_set_id} has events before it was submitted"
    if isinstance(event, RecipeSetPriorityChanged):
        return changed(recipe_set, version=moment.version, priority=Priority[event.priority])
    if isinstance(event, RecipeSetChanged):
        owner, submitter, group, queue, _, _, reasons = recipe_set.submitted
        facts = shared_facts(
            owner, submitter, group, queue, tuple(event.tasks), tuple(event.operations), reasons
        )
        profile = stored_locks(event.profile)
        return changed(recipe_set, version=moment.version, submitted=facts, profile=profile)
    if isinstance(event, RecipeSetReviewed):
        return changed(recipe_set, version=moment.version, review=event.review)
    if isinstance(event, RecipeSetWaived | RecipeSetWaiverEnded):
        return _with_waiver(recipe_set, event, moment)
    return changed(recipe_set, version=moment.version)


def _with_waiver(
    recipe_set: RecipeSet, event: RecipeSetWaived | RecipeSetWaiverEnded, moment: Moment
) -> RecipeSet:
    is_waived = isinstance(event, RecipeSetWaived)
    if event.task_id is None:
        return changed(recipe_set, version=moment.version, waived=is_waived)
    others = tuple(task_id for task_id in recipe_set.waived_tasks if task_id != event.task_id)
    waived_tasks = (*others, event.task_id) if is_waived else others
    return changed(recipe_set, version=moment.version, waived_tasks=waived_tasks)


def _facts(event: RecipeSetSubmitted) -> SubmittedFacts:
    names = tuple(event.tasks), tuple(event.operations), tuple(event.reasons)
    return shared_facts(event.owner, event.submitter, event.group, event.queue or DEFAULT_QUEUE, *names)


def change_priority(recipe_set: RecipeSet, members: Members, priority: Priority) -> Decided:
    """Return the event of a new priority, none if unchanged. Raises Refused for a started or finished set."""
    if recipe_set.priority == priority:
        return []
    require_not_started(recipe_set, members)
    return [(recipe_set.subject, RecipeSetPriorityChanged(priority=priority.name))]


def require_not_started(recipe_set: RecipeSet, members: Members) -> None:
    """Raise Refused for a set that has started or finished."""
    name = display_subject(recipe_set.subject)
    if not members.unfinished:
        raise Refused(f"{name} is already {state_of(recipe.state for recipe in members.recipes)}")
    if members.started:
        raise Refused(f"{name} has already started")
