"""/ldap-sync: people and groups as LDAP has them"""

from __future__ import annotations

import asyncio
from typing import Any

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.context import query_of, request_of
from api.rest.contract.answers import ldap as answers
from api.rest.contract.operation import operation
from api.rest.contract.queries import LdapSyncQuery
from api.rest.ports import LdapSyncParts
from api.use_cases.ldap_sync import last_sync, planned_sync, sync
from domain.directory.ldap_sync_plan import SyncPlan


class LdapSync:
    def __init__(self, parts: LdapSyncParts) -> None:
        self._parts = parts

    @operation("Show the last LDAP sync", answers.LdapSyncShown)
    async def on_get(self, req: Request, resp: Response) -> None:
        last = await last_sync(self._parts)
        await self._answer(
            resp,
            {
                "configured": self._parts.ldap is not None,
                "running": last.is_running,
                "finished_at": last.finished_at,
                "succeeded_at": last.succeeded_at,
                "fault": last.fault,
                "changed": last.counts,
            },
        )

    @operation(
        "Sync people and groups with LDAP, or show what would change",
        answers.LdapSynced,
        LdapSyncQuery,
        refuses=(409, 502),
    )
    async def on_post(self, req: Request, resp: Response) -> None:
        query = query_of(req, LdapSyncQuery)
        if query.dry_run:
            plan: SyncPlan | None = await planned_sync(self._parts, force=query.force)
        else:
            plan = await sync(self._parts, request_of(req), force=query.force, is_asked=True)
        assert plan is not None, "a sync that is asked for runs, or is refused"
        await self._answer(resp, {"dry_run": query.dry_run, **_shown(plan)})

    async def _answer(self, resp: Response, body: dict[str, Any]) -> None:
        paging.answer(resp, await asyncio.to_thread(self._parts.log.end), body)


def _shown(plan: SyncPlan) -> dict[str, Any]:
    return {
        "registered": plan.registered,
        "found": plan.found,
        "left": plan.left,
        "kept": plan.kept,
        "refused": plan.refused,
        "memberships": [change._asdict() for change in plan.memberships],
        "missing_groups": plan.missing_groups,
        "absent_groups": plan.absent_groups,
    }
