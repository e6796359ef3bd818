"""The pages of partitions, with their queues and configurations."""

from __future__ import annotations

from falcon.asgi import Request, Response

from api.pages.actions import offered, offered_creation
from api.pages.page import page_view, show
from api.pages.partition_actions import OF_CONFIGURATION, PARTITION
from api.pages.security import HTML
from api.rest.context import request_of
from api.rest.contract.answers.partitions import ListedConfiguration
from api.rest.contract.operation import operation
from api.rest.contract.queries import ReadQuery
from api.rest.partitions import listed_partitions
from api.rest.ports import PageParts
from api.rest.resources import partition_answers as answers


class PartitionPages:
    def __init__(self, parts: PageParts) -> None:
        self._parts = parts

    @operation("Show the list of partitions", None, ReadQuery, gives=(HTML,))
    async def on_get_list(self, req: Request, resp: Response) -> None:
        view = await page_view(req, self._parts)
        creation = await offered_creation(self._parts, request_of(req), view, PARTITION)
        values = {"partitions": await listed_partitions(self._parts, view.at), "creation": creation}
        await show(req, resp, self._parts, view, "partitions.html", values)

    @operation("Show the page of a partition with its queues", None, ReadQuery, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response, name: str) -> None:
        view = await page_view(req, self._parts)
        _, partition = await answers.partition_answer(self._parts, view, name)
        actions = await offered(self._parts, request_of(req), view, PARTITION, name, partition)
        queues = await answers.queue_list(self._parts, view, name)
        values = {"partition": partition, "queues": queues, "actions": actions}
        await show(req, resp, self._parts, view, "partition.html", values)

    @operation("Show the page of a queue", None, ReadQuery, gives=(HTML,))
    async def on_get_queue(self, req: Request, resp: Response, name: str, path: str) -> None:
        view = await page_view(req, self._parts)
        values = {"partition": name, "queue": await answers.queue_answer(self._parts, view, name, path)}
        await show(req, resp, self._parts, view, "queue.html", values)

    @operation("Show the configuration of a partition and its versions", None, ReadQuery, gives=(HTML,))
    async def on_get_configuration(self, req: Request, resp: Response, name: str) -> None:
        view = await page_view(req, self._parts)
        _, configuration = await answers.configuration_answer(self._parts, view, name)
        versions = await answers.configuration_versions(self._parts, view, name)
        actions = await offered(self._parts, request_of(req), view, OF_CONFIGURATION, name, {})
        values = {"partition": name, "configuration": configuration, "versions": versions, "actions": actions}
        await show(req, resp, self._parts, view, "configuration.html", values)

    @operation("Show a version of the configuration of a partition", None, ReadQuery, gives=(HTML,))
    async def on_get_configuration_version(
        self, req: Request, resp: Response, name: str, version: int
    ) -> None:
        view = await page_view(req, self._parts)
        found = await answers.configuration_version(self._parts, view, name, version)
        of_version = {field: found.pop(field) for field in ListedConfiguration.model_fields}
        values = {"partition": name, "version": of_version, "configuration": found}
        await show(req, resp, self._parts, view, "configuration_version.html", values)
