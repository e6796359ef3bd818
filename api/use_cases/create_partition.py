"""Creation of partitions."""

from __future__ import annotations

import asyncio

from api.use_cases.commit import append_for, commit, require_expected, wait_until_reflected
from api.use_cases.ports import JobParts, RequestContext
from api.use_cases.rights import require_admin
from domain.directory.events import PartitionCreated
from domain.directory.partitions import KIND, identity_of
from domain.events import subject
from store.requests import AppendRequest, Committed


async def create_partition(parts: JobParts, request: RequestContext, name: str) -> Committed | None:
    """Create a partition without labs, and wait until the directory reflects it; None if there is one.

    Raises Stale, and NotPermitted unless the caller is an admin.
    """
    require_admin(request, "create a partition")
    await parts.feed.catch_up()
    directory, partition = parts.feed.directory, subject(KIND, name)

    async def decide() -> AppendRequest | None:
        exists, version = identity_of(directory, name) is not None, directory.version(partition)
        require_expected(request, partition, version if exists else 0)
        if exists:
            return None
        number = await asyncio.to_thread(parts.log.take_partition_number)
        return append_for(parts, request, [(partition, PartitionCreated(number))], {partition: version})

    return await wait_until_reflected(parts, await commit(parts, decide))
