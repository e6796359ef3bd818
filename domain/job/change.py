"""Change of a job's whiteboard, retention tag and product."""

from __future__ import annotations

from collections.abc import Mapping

from domain.errors import Fault, FaultyInput
from domain.events import Decided
from domain.job.events import JobChanged
from domain.job.retention import RetentionTags
from domain.job.state import Job

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
