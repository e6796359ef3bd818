"""/system-changes: the condition and draining of many systems in one request."""

from __future__ import annotations

from typing import Any

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import parse_model, read_json_bytes
from api.rest.context import keyed_request, query_of
from api.rest.contract.answers.systems import BatchChanged
from api.rest.contract.inputs.systems import BatchChange
from api.rest.contract.operation import MAX_BATCH_BYTES, operation
from api.rest.contract.queries import DryRunQuery
from api.rest.ports import ChangeParts
from api.rest.problems import problem_of
from api.use_cases.change_system import NewSystemValues
from api.use_cases.change_systems import SystemAnswer, change_systems, preview_changes
from domain.errors import LabledgerError


class BatchChanges:
    def __init__(self, parts: ChangeParts) -> None:
        self._parts = parts

    @operation(
        "Change the condition or ticket of many systems, or drain them: one commit for each partition",
        BatchChanged,
        DryRunQuery,
        body=BatchChange,
        max_bytes=MAX_BATCH_BYTES,
        keyed=True,
    )
    async def on_post(self, req: Request, resp: Response) -> None:
        body = await read_json_bytes(req)
        batch: BatchChange = await parse_model(req, body)
        ticket = (batch.ticket or "") if "ticket" in batch.model_fields_set else None
        change = NewSystemValues(
            condition=batch.condition,
            draining=batch.draining,
            ticket=ticket,
            reason=batch.reason,
            despite_maintenance=batch.despite_maintenance,
        )
        dry_run = query_of(req, DryRunQuery).dry_run
        make = preview_changes if dry_run else change_systems
        done = await make(self._parts, keyed_request(req, body), batch.systems, change)
        position = done.position or await paging.position_of(self._parts.log, None)
        systems = [_shown(fqdn, answer) for fqdn, answer in done.answers.items()]
        paging.answer(resp, position, {"dry_run": dry_run, "systems": systems})


def _shown(fqdn: str, answer: SystemAnswer) -> dict[str, Any]:
    if isinstance(answer, LabledgerError):
        return {"fqdn": fqdn, **problem_of(answer)}
    return {"fqdn": fqdn, "status": 200, "changed": answer}
