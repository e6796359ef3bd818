"""/partitions: the states of the partitions, their configurations and operation tables"""

from __future__ import annotations

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
from api.rest.ports import PartitionParts
from api.rest.resources.documents import NAME, check_name
from api.rest.resources.partition_answers import (
    configuration_answer,
    configuration_version,
    configuration_versions,
    operation_table,
    partition_answer,
    queue_answer,
    queue_list,
)
from api.rest.views import read_view
from api.use_cases.change_partition import configure_partition, move_partition, would_configure
from api.use_cases.create_partition import create_partition
from api.use_cases.remove_partition import remove_partition
from domain.admission.configuration import (
    Configuration,
    configuration_from_json,
    configuration_to_json,
)
from domain.contention.operations import SHIPPED
from domain.directory.partition_labs import fault_of_lab
from domain.directory.partition_queues import faults_of_people, partition_queues
from domain.directory.partition_states import DRAIN, START, STOP, state_of
from domain.directory.partitions import (
    Document,
    configuration_of,
    existing_partition,
    partition_document,
)
from domain.directory.state import Directory
from domain.queues.changes import queue_changes
from domain.queues.document import tree_from_json
from domain.queues.placement_document import rules_from_json
from domain.requirements.findings import Path, Report


class Partitions:
    def __init__(self, parts: PartitionParts) -> None:
        self._parts = parts

    @operation("List the partitions with their states and labs", answers.PartitionList, queries.ReadQuery)
    async def on_get_list(self, req: Request, resp: Response) -> None:
        view = await read_view(req, self._parts)
        paging.answer_read(resp, view.at, {"partitions": await listed_partitions(self._parts, view.at)})

    @operation(
        "Show the state and the labs of a partition",
        answers.PartitionShown,
        queries.ReadQuery,
        versioned=True,
    )
    async def on_get(self, req: Request, resp: Response, name: str) -> None:
        view = await read_view(req, self._parts)
        version, body = await partition_answer(self._parts, view, name)
        paging.answer_read(resp, view.at, body, version=version)

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
        query, request = query_of(req, queries.ForceQuery), request_of(req)
        removal = await remove_partition(self._parts, request, name, force=query.force, reason=query.reason)
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
        queries.EndingQuery,
        versioned=True,
    )
    async def on_post_drain(self, req: Request, resp: Response, name: str) -> None:
        await self._move(req, resp, name, DRAIN, query_of(req, queries.EndingQuery).reason)

    @operation(
        "Stop a partition, so that it takes no new jobs and grants nothing; what has started goes on",
        answers.PartitionMoved,
        queries.EndingQuery,
        versioned=True,
    )
    async def on_post_stop(self, req: Request, resp: Response, name: str) -> None:
        await self._move(req, resp, name, STOP, query_of(req, queries.EndingQuery).reason)

    async def _move(
        self, req: Request, resp: Response, name: str, move: str, reason: str | None = None
    ) -> None:
        done = await move_partition(self._parts, request_of(req), name, move, reason)
        shown = _shown(name, partition_document(self._parts.feed.directory, name))
        await paging.answer_write(resp, self._parts.log, done, {**shown, "changed": done is not None})

    @operation(
        "Show the configuration of a partition", answers.ConfigurationShown, queries.ReadQuery, versioned=True
    )
    async def on_get_configuration(self, req: Request, resp: Response, name: str) -> None:
        view = await read_view(req, self._parts)
        version, body = await configuration_answer(self._parts, view, name)
        paging.answer_read(resp, view.at, body, version=version)

    @operation("List the queues of a partition with their usage", answers.QueueList, queries.ReadQuery)
    async def on_get_queues(self, req: Request, resp: Response, name: str) -> None:
        view = await read_view(req, self._parts)
        paging.answer_read(resp, view.at, {"queues": await queue_list(self._parts, view, name)})

    @operation("Show a queue of a partition with its usage", answers.QueueShown, queries.ReadQuery)
    async def on_get_queue(self, req: Request, resp: Response, name: str, path: str) -> None:
        view = await read_view(req, self._parts)
        paging.answer_read(resp, view.at, await queue_answer(self._parts, view, name, path))

    @operation(
        "List the versions of the configuration of a partition", answers.ConfigurationList, queries.ReadQuery
    )
    async def on_get_configurations(self, req: Request, resp: Response, name: str) -> None:
        view = await read_view(req, self._parts)
        found = await configuration_versions(self._parts, view, name)
        paging.answer_read(resp, view.at, {"configurations": found})

    @operation(
        "Show a version of the configuration of a partition",
        answers.ConfigurationVersionShown,
        queries.ReadQuery,
    )
    async def on_get_configuration_version(
        self, req: Request, resp: Response, name: str, version: int
    ) -> None:
        view = await read_view(req, self._parts)
        paging.answer_read(resp, view.at, await configuration_version(self._parts, view, name, version))

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
        read = partial(read_configuration, self._parts.feed.directory, name)
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
        view = await read_view(req, self._parts)
        paging.answer_read(resp, view.at, {"operations": await operation_table(self._parts, view, name)})


def _differing(before: Document, after: Document) -> dict[str, Any]:
    """Return the sections of a configuration that another one has with another value."""
    return {section: value for section, value in before.items() if value != after[section]}


def read_configuration(
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
