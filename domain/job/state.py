"""The state of a job: its owner, its sets, the fields that people may change, and whether it is open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from domain.errors import Fault, FaultyInput, Refused
from domain.events import Decided, Event, Moment, Recorded
from domain.job.events import (
    JobChanged,
    JobClosed,
    JobExtended,
    JobKeepEnded,
    JobKept,
    JobOpened,
    JobResultsDeleted,
    JobSubmitted,
)
from domain.job.retention_tags import RetentionTags
from domain.job.spec import DEFAULT_RETENTION_TAG
from domain.queues.tree import DEFAULT_QUEUE

CLOSED_BY_PERSON: Final = "closed"


@dataclass(frozen=True, slots=True)
class Job:
    """A job without the states of its recipes. `since` is the log position of the submission.

    `reasons` and `depends_on`, which are documents with ids, hold for all sets of the job. A job that
    `is_open` takes further sets. `sets_by_key` has the ids of the sets with keys, `documents` those
    of all sets as they were submitted. The results of a job that `is_kept` are not deleted by its tag.
    """

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
    reasons: tuple[str, ...] = ()
    depends_on: tuple[Mapping[str, Any], ...] = ()
    is_open: bool = False
    is_kept: bool = False
    has_deleted_results: bool = False
    sets_by_key: Mapping[str, int] = field(default_factory=dict)
    documents: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

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
            reasons=tuple(event.document.get("reasons", ())),
            sets_by_key=_by_key(event.recipe_set_ids, event.document),
            documents=_documents(event.recipe_set_ids, event.document),
        )
    assert job is not None, f"job {job_id} has events before it was submitted"
    job = replace(job, version=moment.version)
    if isinstance(event, JobChanged):
        return replace(
            job, whiteboard=event.whiteboard, retention_tag=event.retention_tag, product=event.product
        )
    if isinstance(event, JobOpened):
        return replace(job, is_open=True, depends_on=tuple(event.depends_on))
    if isinstance(event, JobExtended):
        sets_by_key = {**job.sets_by_key, **_by_key(event.recipe_set_ids, event.document)}
        set_ids = (*job.recipe_set_ids, *event.recipe_set_ids)
        documents = {**job.documents, **_documents(event.recipe_set_ids, event.document)}
        return replace(job, recipe_set_ids=set_ids, sets_by_key=sets_by_key, documents=documents)
    changed = _FLAGS.get(type(event))
    return replace(job, **changed) if changed else job


_FLAGS: Final[Mapping[type[Event], Mapping[str, Any]]] = {
    JobClosed: {"is_open": False},
    JobKept: {"is_kept": True},
    JobKeepEnded: {"is_kept": False},
    JobResultsDeleted: {"has_deleted_results": True},
}


def _documents(set_ids: Sequence[int], document: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    return dict(zip(set_ids, document.get("recipe_sets", ()), strict=False))


def _by_key(set_ids: Sequence[int], document: Mapping[str, Any]) -> dict[str, int]:
    sets = _documents(set_ids, document).items()
    return {recipe_set["key"]: set_id for set_id, recipe_set in sets if "key" in recipe_set}


def require_open(job: Job) -> None:
    """Raise Refused for a job that takes no further sets."""
    if not job.is_open:
        raise Refused(f"job {job.job_id} is closed and takes no further recipe sets")


def close_job(job: Job, reason: str = CLOSED_BY_PERSON) -> Decided:
    """Return the event that closes a job, none if it is closed."""
    return [(job.subject, JobClosed(reason))] if job.is_open else []


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
