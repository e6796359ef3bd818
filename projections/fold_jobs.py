"""Folds of jobs and recipe sets, which take state and result from their recipes."""

from __future__ import annotations

from domain.events import Recorded, data_of
from domain.job import events as job_events
from domain.job.spec import DEFAULT_RETENTION_TAG
from domain.job.stages import COMPLETED
from domain.partition_numbers import of_job
from domain.priority import Priority
from domain.queues.tree import DEFAULT_QUEUE
from domain.recipe.lifecycle import FINISHED
from domain.recipe_set import events as recipe_set_events
from domain.roll_up import result_of
from projections.fold_waits import change_wait
from projections.intervals import Instant
from projections.job_terms import job_terms, property_term
from projections.read_models import ReadModels, number_of
from projections.rows import AddedSetsRow, ChangedSetRow, JobDocumentRow, JobRow, RecipeSetRow


def job_document(
    models: ReadModels, recorded: Recorded, event: job_events.JobSubmitted, now: Instant
) -> None:
    row = JobDocumentRow(
        job_id=number_of(recorded),
        owner=event.owner,
        submitter=event.submitter,
        group_name=event.group,
        whiteboard=event.whiteboard,
        document=event.document,
        partition=of_job(recorded.partition),
        queue=event.queue or DEFAULT_QUEUE,
        origin=event.origin,
    )
    models.job_documents.add(row, now)


def job_submitted(
    models: ReadModels, recorded: Recorded, event: job_events.JobSubmitted, now: Instant
) -> None:
    job_id = number_of(recorded)
    tag = event.document.get("retention_tag", DEFAULT_RETENTION_TAG)
    models.jobs.put((job_id,), JobRow("new", "New", tag), now)
    properties = {
        "whiteboard": event.whiteboard,
        "owner": event.owner,
        "group": event.group,
        "partition": of_job(recorded.partition),
        "product": event.document.get("product"),
    }
    models.job_terms.add_job(job_id, job_terms(properties), now)


def job_opened(models: ReadModels, recorded: Recorded, _: job_events.JobOpened, now: Instant) -> None:
    key = (number_of(recorded),)
    models.jobs.put(key, models.jobs.of(key)._replace(is_open=True), now)


def added_sets(models: ReadModels, recorded: Recorded, event: job_events.JobExtended, now: Instant) -> None:
    models.added_sets.add(AddedSetsRow(number_of(recorded), event.document["recipe_sets"]), now)


def job_extended(models: ReadModels, recorded: Recorded, _: job_events.JobExtended, now: Instant) -> None:
    """Fold nothing: the events of the sets and recipes that follow have all that the row of the job shows."""


def job_closed(models: ReadModels, recorded: Recorded, _: job_events.JobClosed, now: Instant) -> None:
    job_id = number_of(recorded)
    before, counts = models.jobs.of((job_id,)), models.recipe_cache.jobs[job_id]
    # A closed job without recipes has nothing left to do.
    state = counts.rolled_up or COMPLETED
    after = before._replace(state=state, is_open=False, stage=counts.stage(is_open=False))
    _put_job(models, job_id, before, after, now)


def _put_job(models: ReadModels, job_id: int, before: JobRow, after: JobRow, now: Instant) -> None:
    """Replace the row of a job, with the time of its end, and add the terms of its end and of its result."""
    has_ended = after.state in FINISHED and not after.is_open
    models.jobs.put((job_id,), after._replace(ended=(before.ended or now[1]) if has_ended else None), now)
    terms = []
    if after.result not in (before.result, "New"):
        terms.append(property_term("result", after.result))
    if after.state != before.state and after.state in FINISHED:
        terms.append(property_term("state", after.state))
    if terms:
        models.job_terms.add(job_id, terms, now)


def job_changed(models: ReadModels, recorded: Recorded, event: job_events.JobChanged, now: Instant) -> None:
    key = (number_of(recorded),)
    row = models.jobs.of(key)._replace(changed=data_of(event), retention_tag=event.retention_tag)
    models.jobs.put(key, row, now)
    changed = {"whiteboard": event.whiteboard, "product": event.product}
    models.job_terms.add(*key, job_terms(changed), now)


def recipe_set_submitted(
    models: ReadModels, recorded: Recorded, event: recipe_set_events.RecipeSetSubmitted, now: Instant
) -> None:
    row = RecipeSetRow(event.job_id, event.priority, "new", "New")
    models.recipe_sets.put((number_of(recorded),), row, now)


def priority_changed(
    models: ReadModels, recorded: Recorded, event: recipe_set_events.RecipeSetPriorityChanged, now: Instant
) -> None:
    set_id = number_of(recorded)
    row = models.recipe_sets.of((set_id,))
    models.recipe_sets.put((set_id,), row._replace(priority=event.priority), now)
    for recipe_id in models.recipe_cache.of_set[set_id]:
        queued = models.queue.get((recipe_id,))
        if queued is not None:
            models.queue.put((recipe_id,), queued._replace(priority=int(Priority[event.priority])), now)
        change_wait(models, recipe_id, now)


def changed_set(
    models: ReadModels, recorded: Recorded, event: recipe_set_events.RecipeSetChanged, now: Instant
) -> None:
    set_id = number_of(recorded)
    job_id = models.recipe_sets.of((set_id,)).job_id
    place = sorted(models.recipe_cache.sets_of_job[job_id]).index(set_id)
    models.changed_sets.add(ChangedSetRow(set_id, job_id, place, event.document), now)


def roll_up(
    models: ReadModels, recipe_id: int, now: Instant, result: str = "New", *, begins_again: bool = False
) -> None:
    """Update state and result of a recipe's set and job after a change of the recipe.

    `result` is a reported result, or Warn for a task or recipe that was given up; "New" stands for none. If
    the recipe `begins_again`, its whole set does, and former results do not count any more.
    """
    cache = models.recipe_cache
    job_id, set_id = cache.recipes[recipe_id][:2]
    recipe_set = models.recipe_sets.of((set_id,))
    state, worst = cache.sets[set_id].rolled_up, _worst("New" if begins_again else recipe_set.result, result)
    if state != recipe_set.state or worst != recipe_set.result:
        models.recipe_sets.put((set_id,), recipe_set._replace(state=state, result=worst), now)
    job, counts = models.jobs.of((job_id,)), cache.jobs[job_id]
    of_sets = _result_of_sets(models, job_id) if begins_again else job.result
    stage = counts.stage(is_open=job.is_open)
    after = job._replace(state=counts.rolled_up, result=_worst(of_sets, result), stage=stage)
    if after != job:
        _put_job(models, job_id, job, after, now)


def _result_of_sets(models: ReadModels, job_id: int) -> str:
    return result_of(models.recipe_sets.of((one,)).result for one in models.recipe_cache.sets_of_job[job_id])


def _worst(so_far: str, result: str) -> str:
    return so_far if result == "New" else result_of((so_far, result))
