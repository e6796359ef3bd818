"""Folds of recipes, their tasks, the queue and durations, and the commands that follow from recipes.

A guest recipe has a history and tasks like any other recipe. It is never in the queue, because it needs no
system of its own, and adds no durations, because its host spends the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from domain.estimates.kinds import WaitProperties, own_arch_of, wait_properties
from domain.events import Recorded
from domain.fast_dataclasses import maker
from domain.lab_commands.derive import PlacedRecipe, of_recipe
from domain.partition_numbers import of_job
from domain.priority import Priority
from domain.recipe import events as recipe_events
from domain.recipe.lifecycle import BEFORE_START, OPEN_TASK, UNPLACED
from domain.recipe.state import NOWHERE, place_after
from domain.recipe_set.provisioning import BEFORE_FIRST_TASK
from domain.roll_up import GIVEN_UP_RESULT, result_in, result_of
from projections.durations import NO_LABEL, bucket_of
from projections.fold_commands import put_command
from projections.fold_jobs import roll_up
from projections.fold_locks import put_locks
from projections.fold_waits import change_wait, update_wait
from projections.intervals import Instant
from projections.job_terms import property_term
from projections.read_models import ReadModels, number_of
from projections.recipe_cache import RecipeIdentity
from projections.rows import (
    DurationRow,
    JobSystemRow,
    QueueRow,
    RecipeChangeRow,
    RecipeDetailsRow,
    RecipeRow,
    TaskResultRow,
    TaskRow,
)

_placed_recipe = maker(PlacedRecipe)


def recipe_new(models: ReadModels, recorded: Recorded, event: recipe_events.RecipeNew, now: Instant) -> None:
    recipe_id = number_of(recorded)
    task_ids = [task["task_id"] for task in event.tasks]
    models.recipe_cache.add(recipe_id, _identity(recorded, event), task_ids)
    models.job_terms.add(event.job_id, _task_terms(event.tasks), now)
    for task_id in task_ids:
        models.tasks.put((task_id,), TaskRow(recipe_id, "new", "New"), now)
    recipe_state(models, recorded, event, now)


def _task_terms(tasks: Iterable[Mapping[str, Any]]) -> set[str]:
    return {property_term("task", task["name"]) for task in tasks}


def recipe_details(
    models: ReadModels, recorded: Recorded, event: recipe_events.RecipeNew, now: Instant
) -> None:
    row = RecipeDetailsRow(
        recipe_id=number_of(recorded),
        recipe_set_id=event.recipe_set_id,
        job_id=event.job_id,
        owner=event.owner,
        group_name=event.group,
        whiteboard=event.whiteboard,
        role=event.role,
        distro_tree_id=event.distro_tree_id,
        distro=event.distro,
        tasks=list(event.tasks),
        host_recipe_id=event.host_recipe_id,
        guestname=event.guestname,
        guestargs=event.guestargs,
        reservesys=event.reservesys,
        locks=event.locks,
        partition=of_job(recorded.partition),
    )
    models.recipe_details.add(row, now)


def _identity(recorded: Recorded, event: recipe_events.RecipeNew) -> RecipeIdentity:
    properties = _wait_properties(event)
    return RecipeIdentity(
        job_id=event.job_id,
        recipe_set_id=event.recipe_set_id,
        submission=recorded.position,
        distro_tree_id=event.distro_tree_id,
        host_recipe_id=event.host_recipe_id,
        locks=event.locks,
        partition=of_job(recorded.partition),
        group_name=event.group,
        requirement=properties.requirement,
        arch=properties.arch,
    )


def _wait_properties(event: recipe_events.RecipeNew | recipe_events.RecipeChanged) -> WaitProperties:
    return wait_properties(event.host_requires, event.distro_requires, own_arch_of(event.distro))


def recipe_state(models: ReadModels, recorded: Recorded, event: Any, now: Instant) -> None:
    recipe_id = number_of(recorded)
    before = models.recipes.get((recipe_id,))
    place = place_after((before.system, before.lab_controller) if before else NOWHERE, event)
    is_waiting = event.STATE == "waiting"
    awaits_locks = is_waiting and event.locks is None
    attempt = before.attempt if before else 1
    begins_again = before is not None and before.started and event.STATE in BEFORE_START
    after = RecipeRow(
        *(str(event.STATE), *place, getattr(event, "reason", None), awaits_locks),
        attempt=attempt + begins_again,
        preempted=_is_preempted(before, event),
    )
    models.recipes.put((recipe_id,), after, now)
    _add_system(models, recipe_id, before, after, now)
    counts = models.recipe_cache.jobs[models.recipe_cache.recipes[recipe_id].job_id]
    counts.preempted += after.preempted - (before is not None and before.preempted)
    counts.had_system = counts.had_system or after.system is not None
    models.recipe_cache.move(recipe_id, after.state, now[1])
    if is_waiting and not awaits_locks:
        models.recipe_cache.began[recipe_id]["locked"] = now[1]
    if is_waiting or recipe_id in models.recipe_cache.locks:
        put_locks(models, recipe_id, event, after, now)
    _update_queue(models, recipe_id, after, now)
    update_wait(models, recipe_id, before, after, now)
    ended = recipe_events.state_of_open_tasks(event)
    if ended is not None:
        _end_tasks(models, recipe_id, ended, now)
    if before is not None:
        count_durations(models, recipe_id, before, after.state, now)
    _put_command(models, recorded, before, now)
    if begins_again:
        _begin_tasks_again(models, recipe_id, now)
    result = "New" if ended is None else GIVEN_UP_RESULT
    roll_up(models, recipe_id, now, result, begins_again=begins_again)


def _add_system(
    models: ReadModels, recipe_id: int, before: RecipeRow | None, after: RecipeRow, now: Instant
) -> None:
    """Add the system on which a recipe starts. A guest starts where its host does."""
    ids = models.recipe_cache.recipes[recipe_id]
    has_started = before is not None and before.started
    if after.started and not has_started and after.system is not None and ids.host_recipe_id is None:
        models.job_systems.add(JobSystemRow(after.system, ids.job_id), now)


def _is_preempted(before: RecipeRow | None, event: Any) -> bool:
    """Return whether the recipe waits because its set was preempted, until it gets a system again."""
    if isinstance(event, recipe_events.RecipeQueued):
        return event.preempted_by is not None or (before is not None and before.preempted)
    return event.STATE == "assigned" and before is not None and before.preempted


def _begin_tasks_again(models: ReadModels, recipe_id: int, now: Instant) -> None:
    for task_id in models.recipe_cache.tasks[recipe_id]:
        models.tasks.put((task_id,), TaskRow(recipe_id, "new", "New"), now)


def recipe_locked(
    models: ReadModels, recorded: Recorded, event: recipe_events.RecipeLocked, now: Instant
) -> None:
    """Start a recipe that waited for its resource locks."""
    recipe_id = number_of(recorded)
    before = models.recipes.of((recipe_id,))
    after = before._replace(awaits_locks=False)
    models.recipes.put((recipe_id,), after, now)
    _add_system(models, recipe_id, before, after, now)
    put_locks(models, recipe_id, event, after, now)
    update_wait(models, recipe_id, before, after, now)
    models.recipe_cache.began[recipe_id]["locked"] = now[1]
    if models.recipe_cache.recipes[recipe_id].host_recipe_id is None:
        _add_duration(models, "locking", models.recipe_cache.began[recipe_id]["waiting"], now[1], now)
    _put_command(models, recorded, before, now)


def recipe_change(
    models: ReadModels, recorded: Recorded, event: recipe_events.RecipeChanged, now: Instant
) -> None:
    row = RecipeChangeRow(
        number_of(recorded), event.distro_tree_id, event.distro, list(event.tasks), event.locks
    )
    models.recipe_changes.add(row, now)


def recipe_changed(
    models: ReadModels, recorded: Recorded, event: recipe_events.RecipeChanged, now: Instant
) -> None:
    """Replace the tasks of a recipe after a change by a person; results stay under the former tasks."""
    recipe_id = number_of(recorded)
    cache, properties = models.recipe_cache, _wait_properties(event)
    cache.recipes[recipe_id] = cache.recipes[recipe_id]._replace(
        distro_tree_id=event.distro_tree_id,
        locks=event.locks,
        requirement=properties.requirement,
        arch=properties.arch,
    )
    models.job_terms.add(cache.recipes[recipe_id].job_id, _task_terms(event.tasks), now)
    change_wait(models, recipe_id, now)
    task_ids = [task["task_id"] for task in event.tasks]
    for task_id in cache.tasks[recipe_id]:
        if task_id not in task_ids:
            models.tasks.end((task_id,), now)
    for task_id in task_ids:
        if task_id not in cache.tasks[recipe_id]:
            models.tasks.put((task_id,), TaskRow(recipe_id, "new", "New"), now)
    cache.tasks[recipe_id] = task_ids
    put_locks(models, recipe_id, event, models.recipes.of((recipe_id,)), now)


def _put_command(models: ReadModels, recorded: Recorded, before: RecipeRow | None, now: Instant) -> None:
    placed = before and _placed(models, number_of(recorded), before)
    if placed is not None:
        put_command(models, recorded, of_recipe(placed, recorded.event), now)


def _update_queue(models: ReadModels, recipe_id: int, after: RecipeRow, now: Instant) -> None:
    ids = models.recipe_cache.recipes[recipe_id]
    if after.state not in UNPLACED or ids.host_recipe_id is not None:
        models.queue.end((recipe_id,), now)
        return
    row = QueueRow(
        state=after.state,
        assigned=after.state == "assigned",
        priority=int(Priority[models.recipe_sets.of((ids.recipe_set_id,)).priority]),
        submission=ids.submission,
        lab_controller=after.lab_controller,
        partition=ids.partition,
    )
    models.queue.put((recipe_id,), row, now)


def _placed(models: ReadModels, recipe_id: int, before: RecipeRow) -> PlacedRecipe | None:
    if before.system is None or before.lab_controller is None:
        return None
    ids = models.recipe_cache.recipes[recipe_id]
    host_state = None if ids.host_recipe_id is None else models.recipe_cache.state[ids.host_recipe_id]
    place = before.system, before.lab_controller
    tree = ids.distro_tree_id
    return _placed_recipe(
        recipe_id, before.state, *place, tree, host_state, before.awaits_locks, before.attempt
    )


def _end_tasks(models: ReadModels, recipe_id: int, state: str, now: Instant) -> None:
    for task_id in models.recipe_cache.tasks[recipe_id]:
        row = models.tasks.of((task_id,))
        if row.state in OPEN_TASK:
            models.tasks.put((task_id,), _ended_task(row, state), now)


def _ended_task(row: TaskRow, state: str) -> TaskRow:
    return TaskRow(row.recipe_id, state, result_in(state, row.result))


def task_state(state: str) -> Callable[[ReadModels, Recorded, Any, Instant], None]:
    def fold(models: ReadModels, recorded: Recorded, event: Any, now: Instant) -> None:
        row = models.tasks.of((event.task_id,))
        models.tasks.put((event.task_id,), row._replace(state=state), now)

    return fold


def task_aborted(
    models: ReadModels, recorded: Recorded, event: recipe_events.TaskAborted, now: Instant
) -> None:
    row = models.tasks.of((event.task_id,))
    models.tasks.put((event.task_id,), _ended_task(row, "aborted"), now)
    roll_up(models, number_of(recorded), now, GIVEN_UP_RESULT)


def task_result_details(
    models: ReadModels, recorded: Recorded, event: recipe_events.TaskResult, now: Instant
) -> None:
    row = TaskResultRow(
        event.task_id,
        number_of(recorded),
        event.result,
        event.message,
        event.score,
        list(event.log_urls),
        event.path,
        list(event.logs),
    )
    models.task_results.add(row, now)


def task_result(
    models: ReadModels, recorded: Recorded, event: recipe_events.TaskResult, now: Instant
) -> None:
    recipe_id = number_of(recorded)
    row = models.tasks.of((event.task_id,))
    worst = result_of((row.result, event.result))
    models.tasks.put((event.task_id,), TaskRow(row.recipe_id, row.state, worst), now)
    roll_up(models, recipe_id, now, event.result)


def count_durations(models: ReadModels, recipe_id: int, before: RecipeRow, after: str, now: Instant) -> None:
    """Count the durations that end with a change of state. Guests are not counted.

    The wait is that until the first start of the recipe, and counts once.
    """
    if models.recipe_cache.recipes[recipe_id].host_recipe_id is not None:
        return
    began = models.recipe_cache.began[recipe_id]
    if before.state == "waiting" and before.attempt == 1 and after not in BEFORE_START:
        # The wait counts only now, because the system of a waiting recipe may still be withdrawn.
        priority = models.recipe_sets.of((models.recipe_cache.recipes[recipe_id].recipe_set_id,)).priority
        _add_duration(models, "wait", began["new"], began["waiting"], now, priority)
    if after == "running":
        _add_duration(models, "provisioning", began["locked"], now[1], now)
    if before.started and before.state in BEFORE_FIRST_TASK and after in ("aborted", "reserved"):
        _add_duration(models, "failure", began["locked"], now[1], now, before.state)
    if before.state == "running" and after not in UNPLACED:
        _add_duration(models, "execution", began["running"], now[1], now)


def _add_duration(
    models: ReadModels, measure: str, since: datetime, until: datetime, now: Instant, label: str = NO_LABEL
) -> None:
    seconds = (until - since).total_seconds()
    key = (measure, label, bucket_of(measure, seconds))
    so_far = models.durations.get(key) or DurationRow(0, 0.0)
    models.durations.put(key, DurationRow(so_far.count + 1, so_far.seconds + seconds), now)
