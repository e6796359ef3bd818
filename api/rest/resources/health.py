"""/healthz, /readyz"""

from __future__ import annotations

import orjson
from falcon.asgi import Request, Response

from api.rest.contract.answers.service import Alive, Ready
from api.rest.contract.operation import operation
from api.rest.ports import ReadinessParts
from api.rest.problems import answer, problem
from api.rest.resources.readiness import Readiness


class Health:
    def __init__(self, parts: ReadinessParts) -> None:
        self._readiness = Readiness(parts)

    @operation("Report whether this process is alive", Alive)
    async def on_get_alive(self, req: Request, resp: Response) -> None:
        resp.content_type = "application/json"
        resp.data = b'{"alive":true}'

    @operation("Report whether the service is ready", Ready)
    async def on_get_ready(self, req: Request, resp: Response) -> None:
        """Answer every check with its figures, with 503 if one fails."""
        checks = await self._readiness.checks()
        shown = {name: finding.shown() for name, finding in checks.items()}
        failed = [name for name, finding in checks.items() if finding.fault is not None]
        if failed:
            answer(resp, {**problem(503, f"not ready: {', '.join(failed)}"), "checks": shown})
            return
        resp.content_type = "application/json"
        resp.data = orjson.dumps({"ready": True, "checks": shown})
