"""The partition of a job, which never changes."""

from __future__ import annotations

import asyncio

from api.use_cases.ports import WriteParts
from domain.job.state import Job
from domain.partition_numbers import PartitionIdentity


async def partition_of(parts: WriteParts, job: Job) -> PartitionIdentity:
    """Return the partition of a job."""
    numbers = await asyncio.to_thread(parts.aggregates.partitions, [job.subject])
    number = numbers[job.subject]
    return PartitionIdentity(number, parts.feed.directory.partition_names[number])
