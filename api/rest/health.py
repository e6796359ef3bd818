"""/healthz, /readyz"""

from __future__ import annotations

from typing import Any

import orjson
from falcon.asgi import Request, Response

from api.rest.contract import named_answers
from api.rest.contract.operation import operation
from api.rest.problems import answer, problem
from api.services import Services
from api.store.lease import NAMESPACE, SCHEDULER
from projections.database import DatabaseAway

MAX_LAG_EVENTS = 10_000


class Health:
    def __init__(self, services: Services) -> None:
        self._services = services

    @operation("Say whether this process answers", named_answers.Alive)
    async def on_get_alive(self, req: Request, resp: Response) -> None:
        resp.content_type = "application/json"
        resp.data = b'{"alive":true}'

    @operation("Say whether the service does its work", named_answers.Ready)
    async def on_get_ready(self, req: Request, resp: Response) -> None:
        """Ready when the database answers, the read models keep up, and some scheduler holds the lease."""
        try:
            checks = await self._checks()
        except DatabaseAway:
            answer(resp, problem(503, "the database cannot be reached"))
            return
        failed = [name for name, ok in checks.items() if ok is False]
        if failed:
            answer(resp, {**problem(503, f"not ready: {', '.join(failed)}"), "checks": checks})
            return
        resp.content_type = "application/json"
        resp.data = orjson.dumps({"ready": True, "checks": checks})

    async def _checks(self) -> dict[str, Any]:
        reader = self._services.reader
        end = await reader.row("log_end")
        lease = await reader.row("lease_held", (NAMESPACE, SCHEDULER))
        assert end is not None and lease is not None
        lag = max(0, end["position"] - reader.position)
        return {
            "database": True,
            "read_models": lag <= MAX_LAG_EVENTS,
            "scheduler": bool(lease["held"]),
            "lag_events": lag,
        }
