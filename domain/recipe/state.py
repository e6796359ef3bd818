"""The state of a recipe, with its place: its system, and the lab to which it is bound."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any

from domain.contention.documents import stored_locks
from domain.contention.locks import NO_LOCKS, Locks
from domain.events import Event, Moment
from domain.fast_dataclasses import changed, changer, maker
from domain.recipe import events as recipe_events
from domain.recipe import watchdog
from domain.recipe.claim import Claim
from domain.recipe.events import RecipeAssigned, RecipeQueued, RecipeScheduled
from domain.recipe.lifecycle import BEFORE_START, FINISHED, OPEN_TASK, STARTED
from domain.recipe.results import NO_RESULTS, Results

Place = tuple[str | None, str | None]
"""System and lab controller."""

NOWHERE: Place = (None, None)


def place_after(before: Place, event: Event) -> Place:
    """Return the place after an event of the recipe. A recipe that ends keeps its place."""
    if isinstance(event, RecipeScheduled):
        return event.system, event.lab_controller
    if isinstance(event, RecipeAssigned):
        return None, event.lab_controller
    return NOWHERE if isinstance(event, RecipeQueued) else before


@dataclass(frozen=True, slots=True)
class Task:
    task_id: int
    name: str
    state: str = "new"
    watchdog_seconds: int = watchdog.TASK_SECONDS


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe; `submission` is the log position of its first event.

    The watchdog expires at `recorded_deadline`, which counts from the time at which the database recorded the
    event that set the watchdog. It is None until that event is in the log, or without a watchdog. Decisions
    before policy version 5 used `deadline`, which counts from the time of the decision.

    `locks` are the declared resource locks, for a host with those of its guests. `held` are the locks that a
    recipe has while it is started, for a guest none; None before, so also while its set waits for locks.

    `claim` is the claim of an unplaced host to a busy system, None without one.

    `attempt` counts the starts: a recipe that goes back after its start begins the next one, with new tasks.

    `extended_seconds`: by how much people have moved the deadlines of this attempt.

    `abort_reason` is set while a recipe that was given up keeps its system (`RecipeReserved.reason`).

    A guest has the id of its host in `host_recipe_id`, and the system of its host in `system`. Its events
    never change the usage of that system.
    """

    recipe_id: int
    version: int
    job_id: int
    recipe_set_id: int
    owner: str
    group: str | None
    submission: int
    host_requires: str
    distro_tree_id: int | None
    tasks: tuple[Task, ...]
    host_recipe_id: int | None = None
    distro: Mapping[str, Any] | None = None
    reservesys: Mapping[str, Any] | None = None
    autopick_random: bool = False
    autopick_pools: tuple[str, ...] = ()
    state: str = "new"
    system: str | None = None
    lab_controller: str | None = None
    # Kept only without a distro tree: the abort reason names the unknown names in it.
    distro_requires: str = ""
    deadline: datetime | None = None
    recorded_deadline: datetime | None = None
    abort_reason: str | None = None
    results: Results = NO_RESULTS
    locks: Locks = NO_LOCKS
    held: Locks | None = None
    attempt: int = 1
    claim: Claim | None = None
    extended_seconds: int = 0

    @property
    def subject(self) -> str:
        return f"recipe/{self.recipe_id}"

    @property
    def is_guest(self) -> bool:
        return self.host_recipe_id is not None

    @property
    def deadlines(self) -> watchdog.Deadlines:
        return self.deadline, self.recorded_deadline

    @property
    def finished(self) -> bool:
        return self.state in FINISHED

    @property
    def awaits_locks(self) -> bool:
        """Return whether all recipes of the set have systems, but the set does not have its locks."""
        return self.state == "waiting" and self.held is None

    @property
    def holds_early(self) -> bool:
        """Return whether the recipe has a system, but its set has not started."""
        return self.state == "scheduled" or (self.state == "waiting" and self.held is None)

    @property
    def started(self) -> bool:
        return self.state in STARTED and (self.held is not None or self.state != "waiting")

    def task(self, task_id: int) -> Task | None:
        index = _index(self.tasks, task_id)
        return None if index is None else self.tasks[index]


def evolve(recipe: Recipe | None, recipe_id: int, event: Event, moment: Moment) -> Recipe:
    if isinstance(event, recipe_events.RecipeNew):
        return _begin(recipe_id, event, moment)
    assert recipe is not None, f"recipe {recipe_id} has events before it was new"
    state = getattr(event, "STATE", None)
    if isinstance(event, recipe_events.TaskResult):
        return changed(recipe, version=moment.version, results=recipe.results.after(event))
    if state is None:
        return _in_its_state(recipe, event, moment)
    if recipe.started and state in BEFORE_START:
        recipe = _begin_again(recipe)
    deadlines = watchdog.after_state(recipe, event, moment)
    system, lab_controller = place_after((recipe.system, recipe.lab_controller), event)
    tasks = recipe.tasks
    task_state = recipe_events.state_of_open_tasks(event)
    if task_state is not None:
        tasks = tuple(_with_open_task_ended(task, task_state) for task in tasks)
    if isinstance(event, recipe_events.RecipeReserved):
        recipe = changed(recipe, abort_reason=event.reason)
    held = _held_after(recipe, event) if state in STARTED else None
    return _with_state(recipe, moment.version, state, system, lab_controller, tasks, *deadlines, held)


def _in_its_state(recipe: Recipe, event: Event, moment: Moment) -> Recipe:
    """Return a recipe after an event that keeps its state."""
    change = _RARE_CHANGES.get(type(event))
    if change is not None:
        return change(recipe, event, moment)
    if isinstance(event, recipe_events.RecipeLocked):
        recipe = changed(recipe, held=stored_locks(event.locks))
    recipe = changed(recipe, version=moment.version, tasks=_with_task(recipe.tasks, event))
    deadlines = watchdog.after_report(recipe, event, moment)
    if deadlines == recipe.deadlines:
        return recipe
    return changed(recipe, deadline=deadlines[0], recorded_deadline=deadlines[1])


def _changed_by_person(recipe: Recipe, event: recipe_events.RecipeChanged, moment: Moment) -> Recipe:
    """Return a recipe with other requirements, tasks and locks. It has not started, so its tasks are new."""
    return changed(
        recipe,
        version=moment.version,
        host_requires=event.host_requires,
        distro_requires=event.distro_requires if event.distro_tree_id is None else "",
        distro_tree_id=event.distro_tree_id,
        distro=event.distro,
        tasks=_new_tasks(event.tasks),
        locks=stored_locks(event.locks),
    )


def _extended(recipe: Recipe, event: recipe_events.RecipeExtended, moment: Moment) -> Recipe:
    deadline, recorded_deadline = watchdog.extended(recipe.deadlines, event.seconds)
    return changed(
        recipe,
        version=moment.version,
        deadline=deadline,
        recorded_deadline=recorded_deadline,
        extended_seconds=recipe.extended_seconds + event.seconds,
    )


def _claimed(recipe: Recipe, event: recipe_events.RecipeClaimed, moment: Moment) -> Recipe:
    claim = Claim(event.system, event.forced, moment.recorded_at)
    return changed(recipe, version=moment.version, claim=claim)


def _no_longer_claimed(recipe: Recipe, _: Event, moment: Moment) -> Recipe:
    return changed(recipe, version=moment.version, claim=None)


def _narrowed(recipe: Recipe, event: recipe_events.LocksNarrowed, moment: Moment) -> Recipe:
    return changed(recipe, version=moment.version, held=stored_locks(event.locks))


# The changes by rare events; reports of tasks, new deadlines and granted locks are frequent.
_RARE_CHANGES: dict[type[Event], Callable[[Recipe, Any, Moment], Recipe]] = {
    recipe_events.RecipeChanged: _changed_by_person,
    recipe_events.RecipeExtended: _extended,
    recipe_events.RecipeClaimed: _claimed,
    recipe_events.RecipeClaimEnded: _no_longer_claimed,
    recipe_events.LocksNarrowed: _narrowed,
}


def recorded(recipe: Recipe, at: datetime, recorded_at: datetime) -> Recipe:
    """Return a tentative recipe with recorded times, after the commit of its events was recorded."""
    recipe = watchdog.recorded(recipe, at, recorded_at)
    if recipe.claim is None or recipe.claim.since is not None:
        return recipe
    return changed(recipe, claim=changed(recipe.claim, since=recorded_at))


@lru_cache(65_536)
def _shared(text: str) -> str:
    """Return an equal text that was read before, if any: a scheduler keeps the texts of many recipes."""
    return text


def _new_tasks(tasks: Sequence[Mapping[str, Any]]) -> tuple[Task, ...]:
    return tuple(
        [
            _new_task(task["task_id"], _shared(task["name"]), "new", watchdog.of_task(task["params"]))
            for task in tasks
        ]
    )


def _begin_again(recipe: Recipe) -> Recipe:
    """Return the recipe at the beginning of its next attempt, with new tasks without results."""
    tasks = tuple(changed(task, state="new") for task in recipe.tasks)
    return changed(recipe, attempt=recipe.attempt + 1, tasks=tasks, results=NO_RESULTS, extended_seconds=0)


_with_state = changer(
    Recipe, "version", "state", "system", "lab_controller", "tasks", "deadline", "recorded_deadline", "held"
)


def _held_after(recipe: Recipe, event: Event) -> Locks | None:
    """Return the locks that the recipe holds after an event of a placed recipe."""
    if isinstance(event, recipe_events.RecipeWaiting):
        return None if event.locks is None else stored_locks(event.locks)
    return recipe.held


_new_recipe, _new_task = maker(Recipe), maker(Task)


def _begin(recipe_id: int, event: recipe_events.RecipeNew, moment: Moment) -> Recipe:
    return _new_recipe(
        recipe_id=recipe_id,
        version=moment.version,
        job_id=event.job_id,
        recipe_set_id=event.recipe_set_id,
        owner=_shared(event.owner),
        group=None if event.group is None else _shared(event.group),
        submission=moment.position,
        host_requires=_shared(event.host_requires),
        distro_tree_id=event.distro_tree_id,
        state="new",
        tasks=_new_tasks(event.tasks),
        host_recipe_id=event.host_recipe_id,
        distro=event.distro,
        reservesys=event.reservesys,
        autopick_random=event.autopick_random,
        autopick_pools=tuple(event.autopick_pools),
        distro_requires=event.distro_requires if event.distro_tree_id is None else "",
        system=None,
        lab_controller=None,
        deadline=None,
        recorded_deadline=None,
        abort_reason=None,
        results=NO_RESULTS,
        locks=stored_locks(event.locks),
        held=None,
        attempt=1,
        claim=None,
        extended_seconds=0,
    )


def _with_open_task_ended(task: Task, state: str) -> Task:
    return changed(task, state=state) if task.state in OPEN_TASK else task


# A tuple, because `isinstance` takes three times as long for a union.
_OF_TASKS = (recipe_events.TaskStarted, recipe_events.TaskCompleted, recipe_events.TaskAborted)
_TASK_STATES: dict[type[Event], str] = {
    recipe_events.TaskStarted: "running",
    recipe_events.TaskCompleted: "completed",
    recipe_events.TaskAborted: "aborted",
}


def _with_task(tasks: tuple[Task, ...], event: Event) -> tuple[Task, ...]:
    if not isinstance(event, _OF_TASKS):
        return tasks
    index = _index(tasks, event.task_id)
    if index is None:
        return tasks
    return (*tasks[:index], changed(tasks[index], state=_TASK_STATES[type(event)]), *tasks[index + 1 :])


def _index(tasks: tuple[Task, ...], task_id: int) -> int | None:
    """Return the index of a task, None if there is none; tasks are sorted by id."""
    index = bisect_left(tasks, task_id, key=attrgetter("task_id"))
    return index if index < len(tasks) and tasks[index].task_id == task_id else None
