"""Changes of the state, the configuration and the job filters of a partition."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from api.use_cases.commit import commit, require_expected, wait_until_reflected
from api.use_cases.move_labs import Moving, append_with, moving
from api.use_cases.ports import JobParts, RequestContext, WriteParts
from api.use_cases.rights import require_admin
from domain.admission.configuration import Configuration
from domain.admission.job_filters import JobFilter
from domain.directory import partition_states, partitions
from domain.directory.events import PartitionJobFilterPut
from domain.directory.partition_labs import faults_of_labs, labs_named_by, moves_to
from domain.directory.partition_queues import faults_of_people
from domain.directory.partitions import KIND, existing_partition, partition_document
from domain.errors import FaultyInput, Unknown, display_name
from domain.events import Event, subject
from store.requests import AppendRequest, Committed


async def configure_partition(
    parts: WriteParts, request: RequestContext, name: str, configuration: Configuration
) -> Committed | None:
    """Put the configuration in force, and wait until the directory reflects it; None for equal content.

    Labs that it names, or names no more, move in the same commit. Raises Unknown, Stale, FaultyInput for labs
    that it may not name and for unknown users and groups, Refused while a lab is not free to leave, and
    NotPermitted unless the caller is an admin.
    """
    require_admin(request, "configure a partition")

    async def decide() -> AppendRequest | None:
        return await _configure(parts, request, name, configuration)

    return await _commit(parts, request, name, decide)


async def would_configure(
    parts: WriteParts, request: RequestContext, name: str, configuration: Configuration
) -> bool:
    """Return whether `configure_partition` would change anything, and store nothing. Raises its errors."""
    require_admin(request, "configure a partition")
    await _require_current(parts, request, name)
    return await _configure(parts, request, name, configuration) is not None


async def _configure(
    parts: WriteParts, request: RequestContext, name: str, configuration: Configuration
) -> AppendRequest | None:
    directory, seen = parts.feed.directory, parts.feed.position
    partition = existing_partition(directory, name)
    faults = [
        *faults_of_labs(directory, name, configuration.lab_controllers),
        *faults_of_people(directory, configuration.queues, configuration.placement),
    ]
    if faults:
        raise FaultyInput(faults)
    events = partitions.configure(partition_document(directory, name), configuration)
    labs = configuration.lab_controllers
    if not events or labs == labs_named_by(directory, name):
        return _append(parts, request, name, events)
    moves = await moving(parts, moves_to(directory, partition, labs), labs, seen=seen)
    return _append(parts, request, name, events, moves)


async def move_partition(
    parts: WriteParts, request: RequestContext, name: str, move: str, reason: str | None = None
) -> Committed | None:
    """Start, drain or stop the partition (`domain.directory.partition_states`); None if it has that state.

    Wait until the directory reflects the change. Raises Unknown, Stale, Refused for a forbidden move, and
    NotPermitted unless the caller is an admin.
    """
    require_admin(request, f"{move} a partition")

    async def decide() -> AppendRequest | None:
        document = partition_document(parts.feed.directory, name)
        return _append(parts, request, name, partition_states.move(document, move, reason))

    return await _commit(parts, request, name, decide)


class JobFilterChange(NamedTuple):
    """The job filter that is in force after a change, and the events of the change."""

    job_filter: JobFilter
    events: Sequence[Event]
    existed: bool


async def put_job_filter(
    parts: JobParts, request: RequestContext, name: str, wanted: JobFilter
) -> tuple[JobFilterChange, Committed | None]:
    """Add or replace a job filter, whose watermark becomes the last job id given out.

    For equal content nothing changes. Wait until the directory reflects the change. Raises Unknown, Stale,
    and NotPermitted unless the caller is an admin.
    """
    require_admin(request, "change job filters")
    watermark = await parts.numbers.last()
    changes: list[JobFilterChange] = []

    async def decide() -> AppendRequest | None:
        changes.append(_put(parts, name, wanted, watermark))
        return _append(parts, request, name, changes[-1].events)

    done = await _commit(parts, request, name, decide)
    return changes[-1], done


async def would_put_job_filter(
    parts: JobParts, request: RequestContext, name: str, wanted: JobFilter
) -> JobFilterChange:
    """Return the change that `put_job_filter` would make, and store nothing. Raises its errors."""
    require_admin(request, "change job filters")
    watermark = await parts.numbers.last()
    await _require_current(parts, request, name)
    return _put(parts, name, wanted, watermark)


def _put(parts: WriteParts, name: str, wanted: JobFilter, watermark: int) -> JobFilterChange:
    document = partition_document(parts.feed.directory, name)
    before = partitions.job_filter_of(document, wanted.name)
    new = replace(wanted, watermark=watermark)
    events = partitions.put_job_filter(document, new)
    return JobFilterChange(new if events or before is None else before, events, before is not None)


async def remove_job_filter(
    parts: WriteParts, request: RequestContext, name: str, job_filter: str, reason: str | None = None
) -> Committed | None:
    """Remove a job filter, and wait until the directory reflects it; None if it was removed before.

    Raises Stale, Unknown if there never was one of this name, and NotPermitted unless the caller is an admin.
    """
    require_admin(request, "remove job filters")

    async def decide() -> AppendRequest | None:
        document = partition_document(parts.feed.directory, name)
        return _append(parts, request, name, partitions.remove_job_filter(document, job_filter, reason))

    done = await _commit(parts, request, name, decide)
    if done is None and not await asyncio.to_thread(_was_put, parts, name, job_filter):
        raise Unknown(display_name("job-filter", job_filter))
    return done


def _was_put(parts: WriteParts, name: str, job_filter: str) -> bool:
    """Return whether the log has a job filter of this name, which the directory drops at its removal."""
    partition = subject(KIND, name)
    past = (recorded.event for recorded in parts.log.load({partition: 0})[partition])
    return any(isinstance(event, PartitionJobFilterPut) and event.name == job_filter for event in past)


async def _commit(
    parts: WriteParts,
    request: RequestContext,
    name: str,
    decide: Callable[[], Awaitable[AppendRequest | None]],
) -> Committed | None:
    """Commit a decision on a partition, on the current directory. Raises Unknown and Stale."""
    await parts.feed.catch_up()

    async def decide_on_expected() -> AppendRequest | None:
        _require_expected(parts, request, name)
        return await decide()

    return await wait_until_reflected(parts, await commit(parts, decide_on_expected))


async def _require_current(parts: WriteParts, request: RequestContext, name: str) -> None:
    """Make the directory current. Raises Unknown, and Stale if If-Match names another version."""
    await parts.feed.catch_up()
    _require_expected(parts, request, name)


def _require_expected(parts: WriteParts, request: RequestContext, name: str) -> None:
    partition = existing_partition(parts.feed.directory, name).subject
    require_expected(request, partition, parts.feed.directory.version(partition))


def _append(
    parts: WriteParts,
    request: RequestContext,
    name: str,
    events: Sequence[Event],
    labs: Moving | None = None,
) -> AppendRequest | None:
    """Return the append of events of a partition with the moves of labs, None without any event.

    It conflicts with every other change of the partition, whose rules count together.
    """
    if not events:
        return None
    partition = subject(KIND, name)
    versions = {partition: parts.feed.directory.version(partition)}
    return append_with(parts, request, [(partition, event) for event in events], versions, labs)
