"""Events of jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domain.events import Event, event


@event("job.submitted", version=4)
class JobSubmitted(Event):
    """A job was submitted.

    `document` is the normalised job; `original_sha256` (hex) and `original_type` are of its bytes. `queue` is
    that of its recipe sets, `origin` the id of the job that was copied.
    """

    owner: str
    submitter: str
    group: str | None
    whiteboard: str
    recipe_set_ids: Sequence[int]
    document: Mapping[str, Any]
    original_sha256: str | None = None
    original_type: str | None = None
    queue: str | None = None
    origin: int | None = None

    @classmethod
    def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
        # Version 1 did not store the submitted bytes, version 2 had no queues, and version 3 no origins.
        return data if version < 4 else super().upcast(data, version)


@event("job.changed")
class JobChanged(Event):
    """The new values of all fields that people may change after the submission."""

    whiteboard: str
    retention_tag: str
    product: str | None


@event("job.opened")
class JobOpened(Event):
    """The job takes further recipe sets until it is closed. The event follows `job.submitted` at once.

    `depends_on` are the dependencies of the job, with ids, which hold for sets that are added, too.
    """

    depends_on: Sequence[Mapping[str, Any]]


@event("job.extended")
class JobExtended(Event):
    """Recipe sets were added to an open job; `document` is {"recipe_sets": […]}, as in `job.submitted`."""

    recipe_set_ids: Sequence[int]
    document: Mapping[str, Any]


@event("job.closed")
class JobClosed(Event):
    """The job takes no more recipe sets, and is over once all its recipes have ended."""

    reason: str


@event("job.kept")
class JobKept(Event):
    """The results and logs of the job are kept, whatever its retention tag says."""

    reason: str


@event("job.keep-ended")
class JobKeepEnded(Event):
    """The retention tag of the job applies again."""

    reason: str


@event("job.results-deleted")
class JobResultsDeleted(Event):
    """The results and logs of the job were deleted from the read models, by its `tag` and the days of it."""

    tag: str
    days: int


@event("job.logs-expired")
class JobLogsExpired(Event):
    """A lab controller must delete its logs of the job: a command follows. Follows `job.results-deleted`."""

    lab_controller: str


@event("job-key.used")
class JobKeyUsed(Event):
    """The key of an owner belongs to a job; the subject names the owner and the key (`domain.job.keys`)."""

    job_id: int
