"""The state of a job: its owner, and the fields that people may change, with their change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from domain.errors import Fault, FaultyInput
from domain.events import Decided, Event, Moment, Recorded
from domain.job.events import JobChanged, JobSubmitted
from domain.job.retention import RetentionTags
from domain.job.spec import DEFAULT_RETENTION_TAG
from domain.queues.tree import DEFAULT_QUEUE


@dataclass(frozen=True, slots=True)
class Job:
    """A job without the states of its recipes. `since` is the log position of the submission."""

    job_id: int
    version: int
    since: int
    owner: str
    submitter: str
    group: str | None
    recipe_set_ids: tuple[int, ...]
    whiteboard: str
    retention_tag: str
    product: str | None
    queue: str

    @property
    def subject(self) -> str:
        return f"job/{self.job_id}"


def folded(job_id: int, past: Iterable[Recorded]) -> Job | None:
    """Return the job after all of its events, None without events."""
    job: Job | None = None
    for recorded in past:
        job = _evolve(job, job_id, recorded.event, Moment.of(recorded))
    return job


def _evolve(job: Job | None, job_id: int, event: Event, moment: Moment) -> Job:
    if isinstance(event, JobSubmitted):
        return Job(
            job_id=job_id,
            version=moment.version,
            since=moment.position,
            owner=event.owner,
            submitter=event.submitter,
            group=event.group,
            recipe_set_ids=tuple(event.recipe_set_ids),
            whiteboard=event.whiteboard,
            retention_tag=event.document.get("retention_tag", DEFAULT_RETENTION_TAG),
            product=event.document.get("product"),
            queue=event.queue or DEFAULT_QUEUE,
        )
    assert job is not None, f"job {job_id} has events before it was submitted"
    job = replace(job, version=moment.version)
    if isinstance(event, JobChanged):
        return replace(
            job, whiteboard=event.whiteboard, retention_tag=event.retention_tag, product=event.product
        )
    return job


CHANGEABLE = JobChanged.FIELDS


def change_job(job: Job, changes: Mapping[str, str | None], tags: RetentionTags) -> Decided:
    """Return the event for new values of fields in CHANGEABLE, none if no value changes.

    Raises FaultyInput for an unknown retention tag, a missing product, or a product that the tag forbids.
    """
    changed = JobChanged(**{name: changes.get(name, getattr(job, name)) for name in CHANGEABLE})
    if changed == JobChanged(job.whiteboard, job.retention_tag, job.product):
        return []
    if fault := tags.fault(changed.retention_tag, changed.product):
        raise FaultyInput([Fault(*fault)])
    return [(job.subject, changed)]
