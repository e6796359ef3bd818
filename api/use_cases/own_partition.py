"""The partition of a job, which never changes."""

from __future__ import annotations

import asyncio

from api.use_cases.ports import WriteParts
from domain.errors import Refused
from domain.job.state import Job
from domain.partition_numbers import PartitionIdentity


async def partition_of(parts: WriteParts, job: Job) -> PartitionIdentity:
    """Return the partition of a job. Raises Refused if that was removed."""
    numbers = await asyncio.to_thread(parts.aggregates.partitions, [job.subject])
    number = numbers[job.subject]
    name = parts.feed.directory.partition_names.get(number)
    if name is None:
        raise Refused(f"the partition of job {job.job_id} was removed")
    return PartitionIdentity(number, name)
