"""/inventory: export and import of all systems, as JSON or as a table."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import Any

import falcon
import orjson
from falcon.asgi import Request, Response

from api.concurrency_limits import share_of
from api.headers import CSV
from api.intake.systems_csv import write_systems
from api.rest import paging
from api.rest.body import media_type, read_body
from api.rest.context import client_address, keyed_request, query_of
from api.rest.contract import queries
from api.rest.contract.answers import inventory as answers
from api.rest.contract.inputs.systems import Inventory as Given
from api.rest.contract.operation import JSON, MAX_BATCH_BYTES, operation
from api.rest.ports import ChangeParts
from api.rest.resources.inventory_items import ImportedRows, read_json, read_table
from api.rest.resources.shapes import exported, shown_differences
from api.rest.resources.systems import BEFORE_ALL, system_rows
from api.rest.views import read_view
from api.use_cases.idempotency import commit_once
from api.use_cases.import_systems import counted, import_systems, preview_import
from domain.errors import Fault, FaultyInput
from domain.rfc3339 import rfc3339

READERS = {JSON: read_json, CSV: read_table}


class Inventory:
    def __init__(self, parts: ChangeParts) -> None:
        self._parts = parts

    @operation(
        "Export the systems, in the form that the import accepts",
        answers.InventoryList,
        queries.SystemPage,
        gives=(JSON, CSV),
        refuses=(404,),
    )
    async def on_get(self, req: Request, resp: Response) -> None:
        view = await read_view(req, self._parts)
        page = paging.page_at(req, view.at, BEFORE_ALL)
        rows, _ = await system_rows(self._parts, view, query_of(req, queries.SystemPage), page)
        systems = [exported(row) for row in rows]
        found = paging.listed(page, systems, rows[-1]["fqdn"] if rows else None)
        resp.append_header("Vary", "Accept")
        if req.client_prefers((JSON, CSV)) == CSV:
            # In a thread, because writing would block the event loop for milliseconds.
            text = await asyncio.to_thread(write_systems, systems)
            paging.answer_table(req, resp, page, text, found.key)
        else:
            paging.answer_listed(req, resp, page, "systems", found)

    @operation(
        "Import systems: add the unknown ones and change the others, in one commit",
        answers.InventoryTaken,
        queries.ImportQuery,
        body=Given,
        takes=(JSON, CSV),
        max_bytes=MAX_BATCH_BYTES,
        keyed=True,
    )
    async def on_post(self, req: Request, resp: Response) -> None:
        kind = media_type(req)
        if kind not in READERS:
            raise falcon.HTTPUnsupportedMediaType(
                description=f"the media type must be one of {', '.join(READERS)}"
            )
        body = await read_body(req)
        read = partial(READERS[kind], body, rfc3339(self._parts.clock()))
        rows = await share_of(req).parse(client_address(req), len(body), read)
        try:
            if query_of(req, queries.ImportQuery).dry_run:
                await self._preview(req, resp, body, rows)
            else:
                await self._import(req, resp, body, rows)
        except FaultyInput as error:
            raise FaultyInput(sorted(error.faults, key=_row)) from None

    async def _preview(self, req: Request, resp: Response, body: bytes, rows: ImportedRows) -> None:
        found = await preview_import(self._parts, keyed_request(req, body), rows.items, rows.faults)
        systems = [
            {"fqdn": one.fqdn, "added": one.added, "changes": shown_differences(one.differences)}
            for one in found
            if one.added or one.differences
        ]
        answer = {**counted(found), "dry_run": True, "systems": systems}
        await paging.answer_write(resp, self._parts.log, None, answer)

    async def _import(self, req: Request, resp: Response, body: bytes, rows: ImportedRows) -> None:
        request = keyed_request(req, body)
        write = partial(import_systems, self._parts, request, rows.items, rows.faults)
        done = await commit_once(self._parts.log, request, write)
        nothing = {"added": 0, "changed": 0, "kept": len(rows.items)}
        counts: dict[str, Any] = orjson.loads(done.answer) if done and done.answer else nothing
        answer = {**counts, "dry_run": False, "systems": []}
        await paging.answer_write(resp, self._parts.log, done, answer)


def _row(fault: Fault) -> int:
    number = re.search("[0-9]+", fault.where)
    return int(number[0]) if number else 0
