"""/partitions: the states of the partitions, their configurations and operation tables"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from falcon.asgi import Request, Response

from api.intake.declarations import LockContext, report_unknown_in_rows
from api.rest import paging
from api.rest.body import read_document
from api.rest.context import query_of, request_of
from api.rest.contract import queries
from api.rest.contract.answers import partitions as answers
from api.rest.contract.inputs import partitions as inputs
from api.rest.contract.operation import operation
from api.rest.partitions import listed_partitions
from api.rest.ports import PartitionParts, ReadParts
from api.rest.queue_usage import queues_at
from api.rest.resources.documents import NAME, check_name
from api.use_cases.change_partition import configure_partition, move_partition, would_configure
from api.use_cases.create_partition import create_partition
from api.use_cases.remove_partition import remove_partition
from domain.admission.configuration import (
    Configuration,
    configuration_from_json,
    configuration_to_json,
    stored_configuration,
)
from domain.contention.operation_rows import row_to_json
from domain.contention.operations import SHIPPED
from domain.directory.events import PartitionConfigured, PartitionCreated
from domain.directory.partition_labs import fault_of_lab
from domain.directory.partition_queues import faults_of_people, partition_queues
from domain.directory.partition_states import DRAIN, START, STOP, state_of
from domain.directory.partitions import (
    DEFAULT,
    KIND,
    Document,
    configuration_of,
    existing_partition,
    operations_in_force,
    partition_document,
)
from domain.directory.state import Directory
from domain.errors import Unknown, display_name
from domain.events import Recorded, data_of, subject
from domain.queues.changes import queue_changes
from domain.queues.document import tree_from_json
from domain.queues.placement_document import rules_from_json
from domain.requirements.findings import Path, Report
from projections.reader import At


async def partition_at(parts: ReadParts, at: At, name: str) -> tuple[int, Document]:
    """Return the version and the document of a partition; before the first event of `default` 0 and {}.

    Raises Unknown if there was none of this name.
    """
    row = await parts.reader.row("document", {"kind": KIND, "name": name, "at": at.position})
    if row is None and name != DEFAULT:
        raise Unknown(display_name(KIND, name))
    return (0, {}) if row is None else (row["version"], row["document"])


class Partitions:
    def __init__(self, parts: PartitionParts) -> None:
        self._parts = parts

    @operation("List the partitions with their states and labs", answers.PartitionList, queries.ReadQuery)
    async def on_get_list(self, req: Request, resp: Response) -> None:
        at = await paging.read_at(req, self._parts)
        paging.answer_read(resp, at, {"partitions": await listed_partitions(self._parts, at)})

    @operation(
        "Show the state and the labs of a partition",
        answers.PartitionShown,
        queries.ReadQuery,
        versioned=True,
    )
    async def on_get(self, req: Request, resp: Response, name: str) -> None:
        at = await paging.read_at(req, self._parts)
        version, _ = await partition_at(self._parts, at, name)
        resp.etag = str(version)
        (shown,) = (row for row in await listed_partitions(self._parts, at) if row["name"] == name)
        paging.answer_read(resp, at, shown)

    @operation("Create a partition", answers.PartitionCreated, versioned=True)
    async def on_put(self, req: Request, resp: Response, name: str) -> None:
        check_name(NAME, name)
        done = await create_partition(self._parts, request_of(req), name)
        document = partition_document(self._parts.feed.directory, name)
        answer = {**_shown(name, document), "added": done is not None}
        await paging.answer_write(resp, self._parts.log, done, answer)

    @operation(
        "Remove a partition, which is draining or stopped, and empty; its labs are in no partition then",
        answers.PartitionRemoved,
        queries.ForceQuery,
        versioned=True,
    )
    async def on_delete(self, req: Request, resp: Response, name: str) -> None:
        force = query_of(req, queries.ForceQuery).force
        removal = await remove_partition(self._parts, request_of(req), name, force=force)
        answer = {
            "name": name,
            "removed": removal.done is not None,
            "aborted_recipe_sets": removal.aborted_sets_count,
            "lab_controllers": removal.labs,
        }
        await paging.answer_write(resp, self._parts.log, removal.done, answer)

    @operation(
        "Start a partition, so that it takes jobs and grants systems",
        answers.PartitionMoved,
        versioned=True,
    )
    async def on_post_start(self, req: Request, resp: Response, name: str) -> None:
        await self._move(req, resp, name, START)

    @operation(
        "Drain a partition, so that it takes no new jobs and finishes those that it has",
        answers.PartitionMoved,
        versioned=True,
    )
    async def on_post_drain(self, req: Request, resp: Response, name: str) -> None:
        await self._move(req, resp, name, DRAIN)

    @operation(
        "Stop a partition, so that it takes no new jobs and grants nothing; what has started goes on",
        answers.PartitionMoved,
        versioned=True,
    )
    async def on_post_stop(self, req: Request, resp: Response, name: str) -> None:
        await self._move(req, resp, name, STOP)

    async def _move(self, req: Request, resp: Response, name: str, move: str) -> None:
        done = await move_partition(self._parts, request_of(req), name, move)
        shown = _shown(name, partition_document(self._parts.feed.directory, name))
        await paging.answer_write(resp, self._parts.log, done, {**shown, "changed": done is not None})

    @operation(
        "Show the configuration of a partition", answers.ConfigurationShown, queries.ReadQuery, versioned=True
    )
    async def on_get_configuration(self, req: Request, resp: Response, name: str) -> None:
        at = await paging.read_at(req, self._parts)
        version, document = await partition_at(self._parts, at, name)
        resp.etag = str(version)
        paging.answer_read(resp, at, configuration_to_json(configuration_of(document)))

    @operation("List the queues of a partition with their usage", answers.QueueList, queries.ReadQuery)
    async def on_get_queues(self, req: Request, resp: Response, name: str) -> None:
        at = await paging.read_at(req, self._parts)
        _, document = await partition_at(self._parts, at, name)
        paging.answer_read(resp, at, {"queues": await queues_at(self._parts, at, document)})

    @operation("Show a queue of a partition with its usage", answers.QueueShown, queries.ReadQuery)
    async def on_get_queue(self, req: Request, resp: Response, name: str, path: str) -> None:
        at = await paging.read_at(req, self._parts)
        _, document = await partition_at(self._parts, at, name)
        found = await queues_at(self._parts, at, document)
        shown = next((queue for queue in found if queue["path"] == path), None)
        if shown is None:
            raise Unknown(display_name("queue", path))
        paging.answer_read(resp, at, shown)

    @operation(
        "List the versions of the configuration of a partition", answers.ConfigurationList, queries.ReadQuery
    )
    async def on_get_configurations(self, req: Request, resp: Response, name: str) -> None:
        at = await paging.read_at(req, self._parts)
        found = [_version(recorded) for recorded in await self._configured(at, name)]
        paging.answer_read(resp, at, {"configurations": found})

    @operation(
        "Show a version of the configuration of a partition",
        answers.ConfigurationVersionShown,
        queries.ReadQuery,
    )
    async def on_get_configuration_version(
        self, req: Request, resp: Response, name: str, version: int
    ) -> None:
        at = await paging.read_at(req, self._parts)
        found = [each for each in await self._configured(at, name) if each.version == version]
        if not found:
            raise Unknown(f"version {version} of the configuration of {display_name(KIND, name)}")
        document = configuration_to_json(stored_configuration(data_of(found[0].event)["configuration"]))
        paging.answer_read(resp, at, {**_version(found[0]), **document})

    async def _configured(self, at: At, name: str) -> list[Recorded]:
        """Return the events that configured a partition, up to a position, oldest first.

        An earlier partition of this name has other configurations. Raises Unknown.
        """
        await partition_at(self._parts, at, name)
        partition = subject(KIND, name)
        events = (await asyncio.to_thread(self._parts.log.load, {partition: 0}))[partition]
        found: list[Recorded] = []
        for recorded in events:
            if recorded.position <= at.position and isinstance(recorded.event, PartitionCreated):
                found.clear()
            elif recorded.position <= at.position and isinstance(recorded.event, PartitionConfigured):
                found.append(recorded)
        return found

    @operation(
        "Configure a partition",
        answers.ConfigurationPut,
        queries.DryRunQuery,
        body=inputs.Configuration,
        versioned=True,
    )
    async def on_put_configuration(self, req: Request, resp: Response, name: str) -> None:
        # Names in the configuration may have been registered a moment ago.
        await self._parts.feed.catch_up()
        identity = existing_partition(self._parts.feed.directory, name)
        read = partial(_read_configuration, self._parts.feed.directory, name)
        configuration = await read_document(req, read)
        request, dry_run = request_of(req), query_of(req, queries.DryRunQuery).dry_run
        document = configuration_to_json(configuration)
        done, effects = None, None
        present = configuration_of(partition_document(self._parts.feed.directory, name))
        before = partition_queues(self._parts.feed.directory, name).tree
        if dry_run:
            changed = await would_configure(self._parts, request, name, configuration)
            effects = await self._parts.explainers.ask(identity, "configuration", document=document)
        else:
            done = await configure_partition(self._parts, request, name, configuration)
            changed = done is not None
        answer = {
            **document,
            "changed": changed,
            "replaced": _differing(configuration_to_json(present), document),
            "queue_changes": queue_changes(before, configuration.queues)._asdict(),
            "dry_run": dry_run,
            "effects": effects,
        }
        await paging.answer_write(resp, self._parts.log, done, answer)

    @operation(
        "Show the operation table of a partition: the locks that tasks declare",
        answers.OperationTableShown,
        queries.ReadQuery,
    )
    async def on_get_operations(self, req: Request, resp: Response, name: str) -> None:
        at = await paging.read_at(req, self._parts)
        _, document = await partition_at(self._parts, at, name)
        rows = [
            {**row_to_json(row), "source": source, "replaces_shipped": replaces_shipped}
            for row, source, replaces_shipped in operations_in_force(document)
        ]
        paging.answer_read(resp, at, {"operations": rows})


def _differing(before: Document, after: Document) -> dict[str, Any]:
    """Return the sections of a configuration that another one has with another value."""
    return {section: value for section, value in before.items() if value != after[section]}


def _version(recorded: Recorded) -> dict[str, Any]:
    """Return the version of a configuration, with its author and time."""
    return {
        "version": recorded.version,
        "position": recorded.position,
        "recorded_at": recorded.recorded_at,
        "actor": recorded.stamp.actor,
    }


def _read_configuration(
    directory: Directory, name: str, document: Any, report: Report
) -> Configuration | None:
    """Return the configuration of a document; report every fault, unknown names and labs included."""
    if isinstance(document, dict):
        names = directory.name_index()
        context = LockContext(names, names, SHIPPED)
        report_unknown_in_rows(document.get("operations"), ("operations",), context, report)
        labs = document.get("lab_controllers")
        for index, lab in enumerate(labs if isinstance(labs, list) else ()):
            if isinstance(lab, str) and (fault := fault_of_lab(directory, name, lab)) is not None:
                report(("lab_controllers", index), fault)
        for where, message in _faults_of_people(directory, document):
            report((where,), message)
    return configuration_from_json(document, (), report)


def _faults_of_people(directory: Directory, document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the unknown users and groups in queues and rules, whatever other faults these have."""

    def ignore(path: Path, message: str) -> None:
        """Leave other faults to the reader of the whole document."""

    tree = tree_from_json(document.get("queues", {}), (), ignore)
    rules = rules_from_json(document.get("placement", []), (), ignore)
    yield from ((fault.where, fault.message) for fault in faults_of_people(directory, tree, rules))


def _shown(name: str, document: Document) -> dict[str, Any]:
    return {"name": name, "state": state_of(document)}
