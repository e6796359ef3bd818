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
from domain.recipe_set.events import RecipeSetChanged, RecipeSetPriorityChanged, RecipeSetSubmitted
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

# Return one object for all sets with equal facts, because most sets share theirs.
shared_facts = lru_cache(4096)(SubmittedFacts)


@dataclass(frozen=True, slots=True)
class RecipeSet:
    """A recipe set; `submission` is the position of its first event, `submitted_at` its recorded time.

    `profile` are the merged locks that its recipes declare, before any of them has a system.
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
    return changed(recipe_set, version=moment.version)


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
