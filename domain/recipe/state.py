"""A recipe as its events have made it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from domain.events import Event
from domain.priority import Priority
from domain.recipe import events as happened
from domain.recipe.lifecycle import FINISHED


@dataclass(frozen=True, slots=True)
class Task:
    """`results` are what was reported, in order: (result, message, score, log URLs)."""

    task_id: int
    name: str
    state: str = "new"
    results: tuple[tuple[str, str, float | None, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """`submission` is the log position of its first event: the order of submission."""

    recipe_id: int
    version: int
    job_id: int
    recipe_set_id: int
    owner: str
    group: str | None
    priority: Priority
    submission: int
    host_requires: str
    distro_tree_id: int | None
    tasks: tuple[Task, ...]
    state: str = "new"
    system: str | None = None
    lab_controller: str | None = None

    @property
    def subject(self) -> str:
        return f"recipe/{self.recipe_id}"

    @property
    def finished(self) -> bool:
        return self.state in FINISHED

    def task(self, task_id: int) -> Task | None:
        return next((task for task in self.tasks if task.task_id == task_id), None)


def evolve(recipe: Recipe | None, recipe_id: int, event: Event, version: int, position: int) -> Recipe:
    """The recipe after one more of its events, which the log has as `version` at `position`."""
    if isinstance(event, happened.RecipeNew):
        return _begin(recipe_id, event, version, position)
    assert recipe is not None, f"recipe {recipe_id} has events before it was new"
    state = getattr(event, "STATE", None)
    if state is not None:
        return _move(recipe, state, event, version)
    return replace(recipe, version=version, tasks=_with_task(recipe.tasks, event))


def _begin(recipe_id: int, event: happened.RecipeNew, version: int, position: int) -> Recipe:
    return Recipe(
        recipe_id=recipe_id,
        version=version,
        job_id=event.job_id,
        recipe_set_id=event.recipe_set_id,
        owner=event.owner,
        group=event.group,
        priority=Priority[event.priority],
        submission=position,
        host_requires=event.host_requires,
        distro_tree_id=event.distro_tree_id,
        tasks=tuple(Task(task["task_id"], task["name"]) for task in event.tasks),
    )


def _move(recipe: Recipe, state: str, event: Event, version: int) -> Recipe:
    if isinstance(event, happened.RecipeScheduled):
        return replace(
            recipe, version=version, state=state, system=event.system, lab_controller=event.lab_controller
        )
    if state == "queued":
        return replace(recipe, version=version, state=state, system=None, lab_controller=None)
    if state in ("aborted", "cancelled"):
        tasks = tuple(
            replace(task, state=state) if task.state in ("new", "running") else task for task in recipe.tasks
        )
        return replace(recipe, version=version, state=state, tasks=tasks)
    return replace(recipe, version=version, state=state)


_TASK_STATES = {
    happened.TaskStarted: "running",
    happened.TaskCompleted: "completed",
    happened.TaskAborted: "aborted",
}


def _with_task(tasks: tuple[Task, ...], event: Event) -> tuple[Task, ...]:
    task_id = getattr(event, "task_id", None)
    return tuple(_task_after(task, event) if task.task_id == task_id else task for task in tasks)


def _task_after(task: Task, event: Event) -> Task:
    if isinstance(event, happened.TaskResult):
        return replace(task, results=(*task.results, result_of(event)))
    state = _TASK_STATES.get(type(event))
    return replace(task, state=state) if state else task


def result_of(event: happened.TaskResult) -> tuple[str, str, float | None, tuple[str, ...]]:
    """A result by its content, which is how a repeated message is known."""
    return event.result, event.message, event.score, tuple(event.log_urls)
