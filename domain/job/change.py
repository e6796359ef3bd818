"""A person changes what a job is called, and how long its results are kept."""

from __future__ import annotations

from collections.abc import Mapping

from domain.errors import Fault, FaultyInput
from domain.events import Decided
from domain.job.events import JobChanged
from domain.job.spec import RETENTION_TAGS
from domain.job.state import Job

CHANGEABLE = JobChanged.FIELDS


def change_job(job: Job, changes: Mapping[str, str | None]) -> Decided:
    """`changes` are some of CHANGEABLE with their new values; nothing if all of it is so.

    Raises FaultyInput for a retention tag that there is not, or that does not go with the product.
    """
    wanted = JobChanged(**{name: changes.get(name, getattr(job, name)) for name in CHANGEABLE})
    if wanted == JobChanged(job.whiteboard, job.retention_tag, job.product):
        return []
    if fault := _wrong(wanted):
        raise FaultyInput([fault])
    return [(job.subject, wanted)]


def _wrong(wanted: JobChanged) -> Fault | None:
    needs_product = RETENTION_TAGS.get(wanted.retention_tag)
    if needs_product is None:
        return Fault("retention_tag", f"must be one of {', '.join(RETENTION_TAGS)}")
    if needs_product and wanted.product is None:
        return Fault("product", f'retention tag "{wanted.retention_tag}" needs one')
    if not needs_product and wanted.product is not None:
        return Fault("product", f'retention tag "{wanted.retention_tag}" takes none: make it null')
    return None
