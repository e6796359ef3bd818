"""/systems"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from falcon.asgi import Request, Response

from api.rest import paging, partitions
from api.rest.body import parse_model, read_json_bytes, read_model
from api.rest.context import keyed_request, principal_of, query_of, request_of
from api.rest.contract import queries
from api.rest.contract.answers import systems as answers
from api.rest.contract.inputs.systems import System, SystemPatch
from api.rest.contract.operation import operation
from api.rest.partitions import LabPartitions
from api.rest.ports import ChangeParts, ReadParts
from api.rest.resources.claims import claim_query
from api.rest.resources.inventory_items import change_of
from api.rest.resources.maintenance_windows import window_document, windows_query
from api.rest.resources.shapes import system_document
from api.rest.views import View, read_view
from api.use_cases.change_system import NewSystemValues, change_system, register_system
from api.use_cases.idempotency import commit_once
from api.use_cases.system_rights import require_may_change
from domain.endings import with_reason
from domain.errors import Fault, FaultyInput, Unknown, display_name
from domain.rfc3339 import rfc3339
from projections.read_sessions import NamedQuery, Row
from projections.sql import ANY_SYSTEM

# The fields whose changes have a reason.
FIELDS_WITH_REASON = ("condition", "draining", "ticket")
# Maximum number of maintenance windows in the answer about a system; their list has all.
MAX_WINDOWS = 100
# The key of the list before all systems.
BEFORE_ALL = ""


async def system_rows(
    parts: ReadParts, view: View, query: queries.SystemPage, page: paging.PageAt
) -> tuple[list[Row], LabPartitions]:
    """Return the rows of a page of the systems, and the partitions of their labs. Raises Unknown."""
    number = await partitions.number_at(parts, view.at, query.partition)
    labs = await partitions.lab_partitions(parts, view.at)
    params = {"at": view.position, "limit": page.limit, "after": page.after, "fqdn": None, **query.filters()}
    params |= {**labs.labs_of(number), "hidden": view.hidden_rows}
    return await parts.reader.rows("systems", params), labs


async def system_list(
    parts: ReadParts, view: View, query: queries.SystemPage, page: paging.PageAt
) -> paging.Listed:
    """Return a page of the systems, by name, without hidden ones. Raises Unknown for its partition."""
    rows, labs = await system_rows(parts, view, query, page)
    systems = [system_document(labs.named(row)) for row in rows]
    return paging.listed(page, systems, rows[-1]["fqdn"] if rows else None)


async def system_answer(parts: ReadParts, view: View, fqdn: str) -> tuple[int, dict[str, Any]]:
    """Return the version of a system, and the answer about it. Raises Unknown."""
    found = await parts.reader.together(*system_queries(parts, view, fqdn))
    return await system_from_rows(parts, view, fqdn, found)


def system_queries(parts: ReadParts, view: View, fqdn: str) -> list[NamedQuery]:
    """Return the queries whose rows `system_from_rows` takes. Raises Unknown for a hidden system."""
    view.require_visible(fqdn)
    params = {**ANY_SYSTEM, "at": view.position, "fqdn": fqdn, "after": "", "limit": 1}
    return [
        ("systems", params),
        ("version", {"at": view.position, "subject": f"system/{fqdn}"}),
        claim_query(view, system=fqdn),
        partitions.moved_labs(view.at),
        windows_query(
            view, paging.moment_of(view.at, parts), MAX_WINDOWS, unended=True, filters={"system": fqdn}
        ),
    ]


async def system_from_rows(
    parts: ReadParts, view: View, fqdn: str, found: Sequence[list[Row]]
) -> tuple[int, dict[str, Any]]:
    """Return what `system_answer` does, from the rows of `system_queries`. Raises Unknown."""
    rows, versions, claims, moved, windows = found
    if not rows:
        raise Unknown(display_name("system", fqdn))
    labs = await partitions.from_moved_labs(parts, view.at, moved)
    claimed_by = claims[0]["recipe_id"] if claims else None
    moment = paging.moment_of(view.at, parts)
    return versions[0]["version"], {
        **system_document(labs.named(rows[0])),
        "claimed_by": claimed_by,
        "maintenance_windows": [window_document(view, moment, row) for row in windows],
    }


class Systems:
    def __init__(self, parts: ChangeParts) -> None:
        self._parts = parts

    @operation("Add a system", answers.SystemRegistered, body=System, created=True, keyed=True)
    async def on_post(self, req: Request, resp: Response) -> None:
        body = await read_json_bytes(req)
        system: System = await parse_model(req, body)
        document = system.document(rfc3339(self._parts.clock()))
        request = keyed_request(req, body)
        register = partial(register_system, self._parts, request, document)
        done = await commit_once(self._parts.log, request, register)
        assert done is not None, "a registration is always something new"
        resp.status = 201
        resp.location = f"/systems/{document['fqdn']}"
        paging.answer(resp, done.position, {"fqdn": document["fqdn"]})

    @operation("List the systems", answers.SystemList, queries.SystemPage, refuses=(404,))
    async def on_get(self, req: Request, resp: Response) -> None:
        view = await read_view(req, self._parts)
        page = paging.page_at(req, view.at, BEFORE_ALL)
        query = query_of(req, queries.SystemPage)
        paging.answer_listed(req, resp, page, "systems", await system_list(self._parts, view, query, page))

    @operation("Show a system", answers.System, queries.ReadQuery, versioned=True)
    async def on_get_one(self, req: Request, resp: Response, fqdn: str) -> None:
        view = await read_view(req, self._parts)
        version, body = await system_answer(self._parts, view, fqdn)
        paging.answer_read(resp, view.at, body, version=version)

    @operation(
        "Change a system: its properties, condition, lab or owner, or drain it",
        answers.SystemChanged,
        body=SystemPatch,
        versioned=True,
    )
    async def on_patch_one(self, req: Request, resp: Response, fqdn: str) -> None:
        patch: SystemPatch = await read_model(req)
        if "reason" in patch.model_fields_set and patch.model_fields_set.isdisjoint(FIELDS_WITH_REASON):
            raise FaultyInput([Fault("reason", f"requires {' or '.join(FIELDS_WITH_REASON)}")])
        change = replace(change_of(patch), despite_maintenance=patch.despite_maintenance)
        await self._change(req, resp, fqdn, change)

    @operation(
        "Remove a system, which keeps its history", answers.SystemChanged, queries.EndingQuery, versioned=True
    )
    async def on_delete_one(self, req: Request, resp: Response, fqdn: str) -> None:
        """Set the condition to Removed, which a later change can revert."""
        given = query_of(req, queries.EndingQuery).reason
        reason = with_reason(f"removed by {principal_of(req).user}", given)
        await self._change(req, resp, fqdn, NewSystemValues(condition="Removed", reason=reason))

    async def _change(self, req: Request, resp: Response, fqdn: str, change: NewSystemValues) -> None:
        request = request_of(req)
        give_away = change.owner is not None
        require_may = partial(require_may_change, self._parts.feed.directory, request, give_away=give_away)
        done = await change_system(self._parts, request, fqdn, change, require_may)
        await paging.answer_write(resp, self._parts.log, done, {"fqdn": fqdn, "changed": done is not None})
