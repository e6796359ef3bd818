"""Answers about a partition: its state, queues, configuration with its versions, and operation table."""

from __future__ import annotations

import asyncio
from typing import Any

from api.rest.partitions import listed_partitions
from api.rest.ports import ReadParts
from api.rest.queue_usage import queues_at
from api.rest.views import View
from domain.admission.configuration import configuration_to_json, stored_configuration
from domain.contention.operation_rows import row_to_json
from domain.directory.events import PartitionConfigured, PartitionCreated
from domain.directory.partitions import DEFAULT, KIND, Document, configuration_of, operations_in_force
from domain.errors import Unknown, display_name
from domain.events import Recorded, data_of, subject
from projections.reader import At


async def partition_at(parts: ReadParts, at: At, name: str) -> tuple[int, Document]:
    """Return the version and the document of a partition; before the first event of `default` 0 and {}.

    Raises Unknown if there was none of this name, as all functions here do.
    """
    row = await parts.reader.row("document", {"kind": KIND, "name": name, "at": at.position})
    if row is None and name != DEFAULT:
        raise Unknown(display_name(KIND, name))
    return (0, {}) if row is None else (row["version"], row["document"])


async def partition_answer(parts: ReadParts, view: View, name: str) -> tuple[int, dict[str, Any]]:
    """Return the version of a partition, and the answer about its state and labs."""
    version, _ = await partition_at(parts, view.at, name)
    (shown,) = (row for row in await listed_partitions(parts, view.at) if row["name"] == name)
    return version, shown


async def queue_list(parts: ReadParts, view: View, name: str) -> list[dict[str, Any]]:
    """Return the queues of a partition with their usage, each before those below it."""
    _, document = await partition_at(parts, view.at, name)
    return await queues_at(parts, view.at, document)


async def queue_answer(parts: ReadParts, view: View, name: str, path: str) -> dict[str, Any]:
    """Return a queue of a partition with its usage. Raises Unknown also for the queue."""
    for queue in await queue_list(parts, view, name):
        if queue["path"] == path:
            return queue
    raise Unknown(display_name("queue", path))


async def configuration_answer(parts: ReadParts, view: View, name: str) -> tuple[int, dict[str, Any]]:
    """Return the version of a partition, and its configuration in force."""
    version, document = await partition_at(parts, view.at, name)
    return version, configuration_to_json(configuration_of(document))


async def configuration_versions(parts: ReadParts, view: View, name: str) -> list[dict[str, Any]]:
    """Return the versions of the configuration of a partition, oldest first, without their contents."""
    return [_version(recorded) for recorded in await _configured(parts, view, name)]


async def configuration_version(parts: ReadParts, view: View, name: str, version: int) -> dict[str, Any]:
    """Return a version of the configuration of a partition. Raises Unknown also for the version."""
    for recorded in await _configured(parts, view, name):
        if recorded.version == version:
            stored = data_of(recorded.event)["configuration"]
            return {**_version(recorded), **configuration_to_json(stored_configuration(stored))}
    raise Unknown(f"version {version} of the configuration of {display_name(KIND, name)}")


async def operation_table(parts: ReadParts, view: View, name: str) -> list[dict[str, Any]]:
    """Return the rows of the operation table in force."""
    _, document = await partition_at(parts, view.at, name)
    return [
        {**row_to_json(row), "source": source, "replaces_shipped": replaces_shipped}
        for row, source, replaces_shipped in operations_in_force(document)
    ]


async def _configured(parts: ReadParts, view: View, name: str) -> list[Recorded]:
    """Return the events that configured a partition, up to a position, oldest first.

    An earlier partition of this name has other configurations.
    """
    await partition_at(parts, view.at, name)
    partition = subject(KIND, name)
    events = (await asyncio.to_thread(parts.log.load, {partition: 0}))[partition]
    found: list[Recorded] = []
    for recorded in events:
        if recorded.position <= view.position and isinstance(recorded.event, PartitionCreated):
            found.clear()
        elif recorded.position <= view.position and isinstance(recorded.event, PartitionConfigured):
            found.append(recorded)
    return found


def _version(recorded: Recorded) -> dict[str, Any]:
    """Return the version of a configuration, with its author and time."""
    return {
        "version": recorded.version,
        "position": recorded.position,
        "recorded_at": recorded.recorded_at,
        "actor": recorded.stamp.actor,
    }
