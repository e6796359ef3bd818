"""Folds of the retention of results: kept jobs, deletions, and the commands that follow."""

from __future__ import annotations

from domain.events import Recorded
from domain.job.events import JobKeepEnded, JobKept, JobLogsExpired, JobResultsDeleted
from domain.lab_commands.derive import of_job
from projections.fold_commands import put_command
from projections.intervals import Instant
from projections.made_by import made_by, shown_time
from projections.read_models import ReadModels, number_of


def kept(models: ReadModels, recorded: Recorded, event: JobKept, now: Instant) -> None:
    key = (number_of(recorded),)
    models.jobs.put(key, models.jobs.of(key)._replace(kept=made_by(recorded, event.reason, now[1])), now)


def keep_ended(models: ReadModels, recorded: Recorded, _: JobKeepEnded, now: Instant) -> None:
    key = (number_of(recorded),)
    models.jobs.put(key, models.jobs.of(key)._replace(kept=None), now)


def results_deleted(models: ReadModels, recorded: Recorded, event: JobResultsDeleted, now: Instant) -> None:
    """Mark the job, and delete the rows of its results, which no read of the past finds any more."""
    job_id, (position, at) = number_of(recorded), now
    deleted = {"tag": event.tag, "days": event.days, "at": shown_time(at), "position": position}
    models.jobs.put((job_id,), models.jobs.of((job_id,))._replace(deleted=deleted), now)
    models.result_deletions.add(job_id, position)


def logs_expired(models: ReadModels, recorded: Recorded, event: JobLogsExpired, now: Instant) -> None:
    put_command(models, recorded, of_job(number_of(recorded), event), now)
