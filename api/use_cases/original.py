"""The bytes of a submitted job."""

from __future__ import annotations

from domain.errors import Unknown
from domain.job.events import JobSubmitted
from domain.job.submission import Original
from store.event_log import EventLog
from store.sql import SQL


def original_of(log: EventLog, job_id: int) -> Original:
    """Return the submitted bytes of a job in the log. Blocking.

    Raises Unknown for a job from before the service kept these bytes.
    """
    subject = f"job/{job_id}"
    submitted = log.load({subject: 0})[subject][0].event
    assert isinstance(submitted, JobSubmitted), "the first event of a job"
    if submitted.original_sha256 is None or submitted.original_type is None:
        raise Unknown(f"original of job {job_id}", "the job was submitted before originals were stored")
    ((content,),) = log.rows(SQL["original"], (bytes.fromhex(submitted.original_sha256),))
    return Original(content, submitted.original_type)
