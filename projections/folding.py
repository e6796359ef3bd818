"""From events to read models: the table at the bottom says which event moves what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain.command import events as command
from domain.directory import events as directory
from domain.directory.state import document_after
from domain.events import Event, Recorded, split_subject
from domain.job import events as job
from domain.job.roll_up import result_of
from domain.priority import Priority
from domain.recipe import events as recipe
from domain.recipe.lifecycle import FINISHED, STARTED, UNPLACED
from domain.system import events as system
from domain.system.usage import in_idle_pool
from projections.intervals import Now
from projections.read_models import ReadModels


def fold(models: ReadModels, recorded: Recorded) -> None:
    """Take one event into the read models; events that nobody shows are passed over."""
    folded = FOLDED.get(type(recorded.event))
    if folded is not None:
        folded(models, recorded, recorded.event, (recorded.position, recorded.recorded_at))


def _number(recorded: Recorded) -> int:
    return int(split_subject(recorded.subject)[1])


def _job_submitted(models: ReadModels, recorded: Recorded, event: job.JobSubmitted, now: Now) -> None:
    models.job_documents.add(
        (
            _number(recorded),
            event.owner,
            event.submitter,
            event.group,
            event.whiteboard,
            event.document,
        ),
        now,
    )


def _recipe_new(models: ReadModels, recorded: Recorded, event: recipe.RecipeNew, now: Now) -> None:
    recipe_id = _number(recorded)
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
    _recipe_state(models, recorded, event, now)


def _recipe_state(models: ReadModels, recorded: Recorded, event: Any, now: Now) -> None:
    recipe_id, state = _number(recorded), str(event.STATE)
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
    row = (before[2], kind, before[1], _number(recorded), "queued", None)
    models.commands.put((recorded.position,), row, now)


def _end_tasks(models: ReadModels, recipe_id: int, state: str, now: Now) -> None:
    for key, (owner, task_state, result) in models.tasks.items():
        if owner == recipe_id and task_state in ("new", "running"):
            models.tasks.put(key, (recipe_id, state, result), now)


def _roll_up(models: ReadModels, recipe_id: int, now: Now) -> None:
    members = models.members
    job_id, set_id, _, priority = members.place[recipe_id]
    models.recipe_sets.put((set_id,), (job_id, priority, *members.roll_up(members.of_set[set_id])), now)
    models.jobs.put((job_id,), members.roll_up(members.of_job[job_id]), now)


def _task_state(state: str) -> Callable[[ReadModels, Recorded, Any, Now], None]:
    def folded(models: ReadModels, recorded: Recorded, event: Any, now: Now) -> None:
        row = models.tasks.get((event.task_id,))
        assert row is not None, f"task {event.task_id} is unknown"
        models.tasks.put((event.task_id,), (row[0], state, row[2]), now)

    return folded


def _task_result(models: ReadModels, recorded: Recorded, event: recipe.TaskResult, now: Now) -> None:
    recipe_id = _number(recorded)
    row = models.tasks.get((event.task_id,))
    assert row is not None, f"task {event.task_id} is unknown"
    models.task_results.add(
        (event.task_id, recipe_id, event.result, event.message, event.score, list(event.log_urls)), now
    )
    models.tasks.put((event.task_id,), (recipe_id, row[1], result_of((row[2], event.result))), now)
    models.members.results[recipe_id].append(event.result)
    _roll_up(models, recipe_id, now)


def _system_registered(
    models: ReadModels, recorded: Recorded, event: system.SystemRegistered, now: Now
) -> None:
    fqdn = split_subject(recorded.subject)[1]
    models.systems.put(
        (fqdn,),
        (recorded.version, event.lab_controller, event.owner, event.condition, [], event.inventory),
        now,
    )
    models.system_usage.put((fqdn,), (event.condition, "idle", None), now)
    _index_idle(models, fqdn, now)


def _system_usage(models: ReadModels, recorded: Recorded, event: Any, now: Now) -> None:
    fqdn = split_subject(recorded.subject)[1]
    before = models.system_usage.get((fqdn,))
    assert before is not None, f"{fqdn} is unknown"
    recipe_id = getattr(event, "recipe_id", None)
    models.system_usage.put((fqdn,), (before[0], event.USAGE, recipe_id), now)
    _index_idle(models, fqdn, now)


def _index_idle(models: ReadModels, fqdn: str, now: Now) -> None:
    usage, row = models.system_usage.get((fqdn,)), models.systems.get((fqdn,))
    if usage is not None and row is not None and in_idle_pool(*usage[:2]):
        models.idle_pool.put((fqdn,), (row[1],), now)
    else:
        models.idle_pool.end((fqdn,), now)


def _pool_system(models: ReadModels, recorded: Recorded, event: Any, now: Now) -> None:
    pool = split_subject(recorded.subject)[1]
    row = models.systems.get((event.system,))
    assert row is not None, f"{event.system} is unknown"
    others = [name for name in row[4] if name != pool]
    added = isinstance(event, directory.PoolSystemAdded)
    models.systems.put((event.system,), (*row[:4], [*others, pool] if added else others, row[5]), now)


def _document(models: ReadModels, recorded: Recorded, event: Event, now: Now) -> None:
    kind, name = split_subject(recorded.subject)
    before = models.documents.get((kind, name))
    document = document_after(before[1] if before else {}, event)
    models.documents.put((kind, name), (recorded.version, document), now)


def _command_state(models: ReadModels, recorded: Recorded, event: Any, now: Now) -> None:
    row = models.commands.get((_number(recorded),))
    assert row is not None, f"{recorded.subject} is unknown"
    reason = getattr(event, "reason", None)
    models.commands.put((_number(recorded),), (*row[:4], event.STATE, reason), now)


Fold = Callable[[ReadModels, Recorded, Any, Now], None]

FOLDED: dict[type[Event], Fold] = {
    job.JobSubmitted: _job_submitted,
    recipe.RecipeNew: _recipe_new,
    recipe.RecipeQueued: _recipe_state,
    recipe.RecipeScheduled: _recipe_state,
    recipe.RecipeWaiting: _recipe_state,
    recipe.RecipeInstalling: _recipe_state,
    recipe.RecipeRunning: _recipe_state,
    recipe.RecipeCompleted: _recipe_state,
    recipe.RecipeCancelled: _recipe_state,
    recipe.RecipeAborted: _recipe_state,
    recipe.TaskStarted: _task_state("running"),
    recipe.TaskCompleted: _task_state("completed"),
    recipe.TaskAborted: _task_state("aborted"),
    recipe.TaskResult: _task_result,
    system.SystemRegistered: _system_registered,
    system.SystemIdle: _system_usage,
    system.SystemPending: _system_usage,
    system.SystemScheduled: _system_usage,
    system.SystemWaiting: _system_usage,
    system.SystemInstalling: _system_usage,
    system.SystemRunning: _system_usage,
    directory.PoolSystemAdded: _pool_system,
    directory.PoolSystemRemoved: _pool_system,
    directory.UserRegistered: _document,
    directory.GroupRegistered: _document,
    directory.GroupChanged: _document,
    directory.PoolRegistered: _document,
    directory.PoolChanged: _document,
    directory.LabControllerRegistered: _document,
    directory.LabControllerEnabled: _document,
    directory.LabControllerDisabled: _document,
    directory.DistroTreeRegistered: _document,
    directory.DistroTreeChanged: _document,
    directory.TokenCreated: _document,
    directory.TokenRevoked: _document,
    command.CommandRunning: _command_state,
    command.CommandCompleted: _command_state,
    command.CommandFailed: _command_state,
}
