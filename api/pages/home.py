"""The home page: the labs at a glance, what needs attention, and the reader's own jobs and systems."""

from __future__ import annotations

from typing import Any

from falcon.asgi import Request, Response

from api.pages.page import page_view, show
from api.pages.security import HTML
from api.parts import Parts
from api.rest.contract.operation import operation
from api.rest.contract.queries import ReadQuery
from api.rest.resources.overview import overview_answer
from api.rest.resources.overview_sums import ACTIVITIES
from api.rest.resources.readiness import Readiness


class HomePage:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._readiness = Readiness(parts)

    @operation("Show the home page", None, ReadQuery, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response) -> None:
        view = await page_view(req, self._parts)
        found = await overview_answer(self._parts, view)
        # The state of the service is not in the log, so pages about the past have none.
        checks = {} if view.is_past else await self._readiness.checks()
        values = {
            "overview": found,
            "checks": {
                name: {"fault": finding.fault, "warning": finding.warning} for name, finding in checks.items()
            },
            "activities": ACTIVITIES,
            "sentence": _sentence(found),
        }
        await show(req, resp, self._parts, view, "home.html", values)


def _sentence(found: dict[str, Any]) -> str:
    """Return the state of the labs as a sentence, for titles and the previews of chats."""
    systems, running = found["all_labs"]["systems"], found["all_labs"]["doing"]["running"]
    waiting = found["queue"]["recipes"]
    waits = "1 recipe waits" if waiting == 1 else f"{waiting} recipes wait"
    return f"{running} of {systems} systems run a recipe, {waits}"
