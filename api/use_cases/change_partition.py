"""Changes of the state, the configuration and the job filters of the partition."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from api.use_cases.commit import append_for, commit_directory, require_expected
from api.use_cases.ports import JobParts, RequestContext, WriteParts
from api.use_cases.rights import require_admin
from domain.admission.configuration import Configuration
from domain.admission.job_filters import JobFilter
from domain.directory import partition_states, partitions
from domain.directory.events import PartitionJobFilterPut
from domain.directory.partitions import PARTITION, partition_document
from domain.errors import Unknown, display_name
from domain.events import Event
from store.requests import AppendRequest, Committed


async def configure_partition(
    parts: WriteParts, request: RequestContext, configuration: Configuration
) -> Committed | None:
    """Put the configuration in force, and wait until the directory reflects it; None for equal content.

    Raises Stale, and NotPermitted unless the caller is an admin.
    """
    require_admin(request, "configure a partition")

    def decide() -> AppendRequest | None:
        return _append(parts, request, _configure(parts, configuration))

    return await commit_directory(parts, request, PARTITION, decide)


async def would_configure(parts: WriteParts, request: RequestContext, configuration: Configuration) -> bool:
    """Return whether `configure_partition` would change anything, and store nothing. Raises its errors."""
    require_admin(request, "configure a partition")
    await _require_current(parts, request)
    return bool(_configure(parts, configuration))


def _configure(parts: WriteParts, configuration: Configuration) -> list[Event]:
    return partitions.configure(partition_document(parts.feed.directory), configuration)


async def move_partition(parts: WriteParts, request: RequestContext, move: str) -> Committed | None:
    """Start, drain or stop the partition (`domain.directory.partition_states`); None if it has that state.

    Wait until the directory reflects the change. Raises Stale, Refused for a forbidden move, and NotPermitted
    unless the caller is an admin.
    """
    require_admin(request, f"{move} a partition")
    # Another process may have changed the state that forbids the move.
    await parts.feed.catch_up()

    def decide() -> AppendRequest | None:
        document = partition_document(parts.feed.directory)
        return _append(parts, request, partition_states.move(document, move))

    return await commit_directory(parts, request, PARTITION, decide)


class JobFilterChange(NamedTuple):
    """The job filter that is in force after a change, and the events of the change."""

    job_filter: JobFilter
    events: Sequence[Event]
    existed: bool


async def put_job_filter(
    parts: JobParts, request: RequestContext, wanted: JobFilter
) -> tuple[JobFilterChange, Committed | None]:
    """Add or replace a job filter, whose watermark becomes the last job id given out.

    For equal content nothing changes. Wait until the directory reflects the change. Raises Stale, and
    NotPermitted unless the caller is an admin.
    """
    require_admin(request, "change job filters")
    watermark = await parts.numbers.last()
    change = _put(parts, wanted, watermark)

    def decide() -> AppendRequest | None:
        nonlocal change
        change = _put(parts, wanted, watermark)
        return _append(parts, request, change.events)

    done = await commit_directory(parts, request, PARTITION, decide)
    return change, done


async def would_put_job_filter(
    parts: JobParts, request: RequestContext, wanted: JobFilter
) -> JobFilterChange:
    """Return the change that `put_job_filter` would make, and store nothing. Raises its errors."""
    require_admin(request, "change job filters")
    watermark = await parts.numbers.last()
    await _require_current(parts, request)
    return _put(parts, wanted, watermark)


def _put(parts: WriteParts, wanted: JobFilter, watermark: int) -> JobFilterChange:
    document = partition_document(parts.feed.directory)
    before = partitions.job_filter_of(document, wanted.name)
    new = replace(wanted, watermark=watermark)
    events = partitions.put_job_filter(document, new)
    return JobFilterChange(new if events or before is None else before, events, before is not None)


async def remove_job_filter(parts: WriteParts, request: RequestContext, name: str) -> Committed | None:
    """Remove a job filter, and wait until the directory reflects it; None if it was removed before.

    Raises Stale, Unknown if there never was one of this name, and NotPermitted unless the caller is an admin.
    """
    require_admin(request, "remove job filters")

    def decide() -> AppendRequest | None:
        document = partition_document(parts.feed.directory)
        return _append(parts, request, partitions.remove_job_filter(document, name))

    done = await commit_directory(parts, request, PARTITION, decide)
    if done is None and not await asyncio.to_thread(_was_put, parts, name):
        raise Unknown(display_name("job-filter", name))
    return done


def _was_put(parts: WriteParts, name: str) -> bool:
    """Return whether the log has a job filter of this name, which the directory drops at its removal."""
    past = (recorded.event for recorded in parts.log.load({PARTITION: 0})[PARTITION])
    return any(isinstance(event, PartitionJobFilterPut) and event.name == name for event in past)


async def _require_current(parts: WriteParts, request: RequestContext) -> None:
    """Make the directory current. Raises Stale if If-Match names another version of the partition."""
    await parts.feed.catch_up()
    require_expected(request, PARTITION, parts.feed.directory.version(PARTITION))


def _append(parts: WriteParts, request: RequestContext, events: Sequence[Event]) -> AppendRequest | None:
    """Return the append of events of the partition, None without any.

    It conflicts with every other change of the partition, whose rules count together.
    """
    if not events:
        return None
    decided = [(PARTITION, event) for event in events]
    return append_for(parts, request, decided, {PARTITION: parts.feed.directory.version(PARTITION)})
