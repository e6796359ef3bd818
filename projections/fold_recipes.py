"""Jobs, recipes, tasks and the queue, and the commands that follow from recipes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain.events import Event, Recorded
from domain.job import events as job
from domain.job.roll_up import result_of
from domain.priority import Priority
from domain.recipe import events as recipe
from domain.recipe.lifecycle import FINISHED, STARTED, UNPLACED
from projections.intervals import Now
from projections.read_models import ReadModels, number_of


def job_submitted(models: ReadModels, recorded: Recorded, event: job.JobSubmitted, now: Now) -> None:
    models.job_documents.add(
        (
            number_of(recorded),
            event.owner,
            event.submitter,
            event.group,
            event.whiteboard,
            event.document,
        ),
        now,
    )


def recipe_new(models: ReadModels, recorded: Recorded, event: recipe.RecipeNew, now: Now) -> None:
    recipe_id = number_of(recorded)
    models.recipe_details.add(
        (
            recipe_id,
            event.recipe_set_id,
            event.job_id,
            event.owner,
            event.group,
            event.whiteboard,
            event.role,
            event.distro_tree_id,
            event.kernel_options,
            event.ks_meta,
            list(event.tasks),
        ),
        now,
    )
    models.members.add(event.job_id, event.recipe_set_id, recipe_id, recorded.position, event.priority)
    for task in event.tasks:
        models.tasks.put((task["task_id"],), (recipe_id, "new", "New"), now)
        models.members.tasks[recipe_id].append(task["task_id"])
    recipe_state(models, recorded, event, now)


def recipe_state(models: ReadModels, recorded: Recorded, event: Any, now: Now) -> None:
    recipe_id, state = number_of(recorded), str(event.STATE)
    before = models.recipes.get((recipe_id,))
    fqdn, lab_controller = _place(before, event)
    models.recipes.put((recipe_id,), (state, fqdn, lab_controller, getattr(event, "reason", None)), now)
    _, _, submission, priority = models.members.place[recipe_id]
    if state in UNPLACED:
        row = (state, state == "assigned", int(Priority[priority]), submission, lab_controller)
        models.queue.put((recipe_id,), row, now)
    else:
        models.queue.end((recipe_id,), now)
    if state in ("aborted", "cancelled"):
        _end_tasks(models, recipe_id, state, now)
    _command(models, recorded, before, state, now)
    models.members.state[recipe_id] = state
    _roll_up(models, recipe_id, now)


def _place(before: tuple[Any, ...] | None, event: Event) -> tuple[str | None, str | None]:
    """System and lab controller after a recipe's event."""
    if isinstance(event, recipe.RecipeScheduled):
        return event.system, event.lab_controller
    if before is None or isinstance(event, recipe.RecipeQueued):
        return None, None
    return before[1], before[2]


def _command(
    models: ReadModels, recorded: Recorded, before: tuple[Any, ...] | None, state: str, now: Now
) -> None:
    """A recipe that waits wants its system provisioned; one that ends after that gives it back."""
    kind = "provision" if state == "waiting" else "release" if state in FINISHED else None
    if kind is None or before is None or before[1] is None:
        return
    if kind == "release" and before[0] not in STARTED:
        return
    row = (before[2], kind, before[1], number_of(recorded), "queued", None)
    models.commands.put((recorded.position,), row, now)


def _end_tasks(models: ReadModels, recipe_id: int, state: str, now: Now) -> None:
    for task_id in models.members.tasks[recipe_id]:
        row = models.tasks.get((task_id,))
        if row is not None and row[1] in ("new", "running"):
            models.tasks.put((task_id,), (recipe_id, state, row[2]), now)


def _roll_up(models: ReadModels, recipe_id: int, now: Now) -> None:
    members = models.members
    job_id, set_id, _, priority = members.place[recipe_id]
    models.recipe_sets.put((set_id,), (job_id, priority, *members.roll_up(members.of_set[set_id])), now)
    models.jobs.put((job_id,), members.roll_up(members.of_job[job_id]), now)


def task_state(state: str) -> Callable[[ReadModels, Recorded, Any, Now], None]:
    def folded(models: ReadModels, recorded: Recorded, event: Any, now: Now) -> None:
        row = models.tasks.get((event.task_id,))
        assert row is not None, f"task {event.task_id} is unknown"
        models.tasks.put((event.task_id,), (row[0], state, row[2]), now)

    return folded


def task_result(models: ReadModels, recorded: Recorded, event: recipe.TaskResult, now: Now) -> None:
    recipe_id = number_of(recorded)
    row = models.tasks.get((event.task_id,))
    assert row is not None, f"task {event.task_id} is unknown"
    models.task_results.add(
        (event.task_id, recipe_id, event.result, event.message, event.score, list(event.log_urls)), now
    )
    models.tasks.put((event.task_id,), (recipe_id, row[1], result_of((row[2], event.result))), now)
    models.members.results[recipe_id].append(event.result)
    _roll_up(models, recipe_id, now)
