"""/pools/{name}/access-policy, /systems/{fqdn}/access-policy"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import read_model
from api.rest.context import request_of
from api.rest.contract import queries
from api.rest.contract.answers import policies as answers
from api.rest.contract.inputs.access import PoolPolicy, SystemPolicy
from api.rest.contract.operation import operation
from api.rest.ports import ChangeParts, ReadParts
from api.rest.views import View, read_view
from api.use_cases.change_policy import change_pool_policy, change_system_policy
from domain.access.policy import INITIAL_POLICY, policy_form
from domain.access.validation import normalised
from domain.errors import Unknown, display_name
from projections.read_sessions import NamedQuery, Row


async def pool_policy_answer(parts: ReadParts, view: View, name: str) -> tuple[int, dict[str, Any]]:
    """Return the version of a pool, and the answer about its access policy. Raises Unknown."""
    row = await parts.reader.row("document", {"kind": "pool", "name": name, "at": view.position})
    if row is None:
        raise Unknown(display_name("pool", name))
    return row["version"], {"pool": name, "entries": row["document"].get("access_policy", [])}


async def system_policy_answer(parts: ReadParts, view: View, fqdn: str) -> tuple[int, dict[str, Any]]:
    """Return the version of a system, and the answer about its policy: the initial one if it was never set.

    Raises Unknown.
    """
    found = await parts.reader.together(*system_policy_queries(view, fqdn))
    return system_policy_from_rows(fqdn, found)


def system_policy_queries(view: View, fqdn: str) -> list[NamedQuery]:
    """Return the queries whose rows `system_policy_from_rows` takes. Raises Unknown for a hidden system."""
    view.require_visible(fqdn)
    at = {"at": view.position}
    return [("access_to_system", {**at, "fqdn": fqdn}), ("version", {**at, "subject": f"system/{fqdn}"})]


def system_policy_from_rows(fqdn: str, found: Sequence[list[Row]]) -> tuple[int, dict[str, Any]]:
    rows, versions = found
    if not rows:
        raise Unknown(display_name("system", fqdn))
    own: Any = rows[0]["access_policy"]
    entries = policy_form(INITIAL_POLICY) if own is None else own
    return versions[0]["version"], {"fqdn": fqdn, "entries": entries, "active_pool": rows[0]["active_pool"]}


class AccessPolicies:
    def __init__(self, parts: ChangeParts) -> None:
        self._parts = parts

    @operation("Show the access policy of a pool", answers.PoolPolicyShown, queries.ReadQuery, versioned=True)
    async def on_get_pool(self, req: Request, resp: Response, name: str) -> None:
        view = await read_view(req, self._parts)
        version, body = await pool_policy_answer(self._parts, view, name)
        paging.answer_read(resp, view.at, body, version=version)

    @operation("Set the access policy of a pool", answers.PoolPolicyPut, body=PoolPolicy, versioned=True)
    async def on_put_pool(self, req: Request, resp: Response, name: str) -> None:
        policy: PoolPolicy = await read_model(req)
        entries = policy.forms()
        done = await change_pool_policy(self._parts, request_of(req), name, entries)
        answer = {"pool": name, "entries": normalised(entries), "changed": done is not None}
        await paging.answer_write(resp, self._parts.log, done, answer)

    @operation("Remove the access policy of a pool", answers.PoolPolicyRemoved, versioned=True)
    async def on_delete_pool(self, req: Request, resp: Response, name: str) -> None:
        done = await change_pool_policy(self._parts, request_of(req), name, [])
        await paging.answer_write(resp, self._parts.log, done, {"pool": name, "removed": done is not None})

    @operation(
        "Show the access policy of a system", answers.SystemPolicyShown, queries.ReadQuery, versioned=True
    )
    async def on_get_system(self, req: Request, resp: Response, fqdn: str) -> None:
        view = await read_view(req, self._parts)
        version, body = await system_policy_answer(self._parts, view, fqdn)
        paging.answer_read(resp, view.at, body, version=version)

    @operation(
        "Set the access policy of a system, and its active pool",
        answers.SystemPolicyPut,
        body=SystemPolicy,
        versioned=True,
    )
    async def on_put_system(self, req: Request, resp: Response, fqdn: str) -> None:
        policy: SystemPolicy = await read_model(req)
        entries, active_pool = policy.forms(), policy.active_pool
        done = await change_system_policy(self._parts, request_of(req), fqdn, entries, active_pool)
        answer = {"fqdn": fqdn, "entries": normalised(entries), "active_pool": active_pool}
        await paging.answer_write(resp, self._parts.log, done, {**answer, "changed": done is not None})
