"""/systems/{fqdn}/usage, /idle-pool and /system-usage: what systems do, and did"""

from __future__ import annotations

from datetime import UTC, datetime

from falcon.asgi import Request, Response

from api.rest import reading
from api.services import Services
from domain.errors import Fault, Unknown

GROUPS = ("system", "lab_controller", "pool", "arch")


class Usage:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def on_get(self, req: Request, resp: Response, fqdn: str) -> None:
        faults = reading.unknown_params(req, *reading.POSITIONS, "since", "until")
        since = reading.time_param(req, "since", faults)
        until = reading.time_param(req, "until", faults)
        reading.check_params(faults)
        at = await reading.read_at(req, self._services.reader)
        asked = {"at": at, "fqdn": fqdn, "since": since, "until": until}
        rows = await self._services.reader.rows("usage_of_system", asked)
        known = rows or await self._services.reader.row("system_is_known", {"at": at, "fqdn": fqdn})
        if not known:
            raise Unknown(f"system {fqdn}")
        reading.answer_read(req, resp, at, {"intervals": rows})

    async def on_get_idle_pool(self, req: Request, resp: Response) -> None:
        page = await reading.read_page(req, self._services.reader, first="")
        params = {"at": page.at, "limit": page.limit, "after": page.after}
        rows = await self._services.reader.rows("idle_pool", params)
        reading.answer_list(req, resp, page, "systems", rows, rows[-1]["fqdn"] if rows else None)

    def _until(self, req: Request, asked: datetime | None) -> datetime:
        """As of then, nobody knows how it went on."""
        then: datetime | None = req.context.as_of
        if then is None:
            return asked or self._services.clock()
        return min(asked or then, then)

    async def on_get_summed(self, req: Request, resp: Response) -> None:
        faults = reading.unknown_params(req, *reading.POSITIONS, "since", "until", "group_by")
        since = reading.time_param(req, "since", faults) or datetime(1970, 1, 1, tzinfo=UTC)
        until = reading.time_param(req, "until", faults)
        group_by = req.get_param("group_by") or "system"
        if group_by not in GROUPS:
            faults.append(Fault("group_by", f"{group_by!r} is none of {', '.join(GROUPS)}"))
        reading.check_params(faults)
        at = await reading.read_at(req, self._services.reader)
        until = self._until(req, until)
        asked = {"at": at, "since": since, "until": until, "group_by": group_by}
        rows = await self._services.reader.rows("system_usage", asked)
        groups: dict[str, dict[str, dict[str, float]]] = {}
        for row in rows:
            by_condition = groups.setdefault(row["key"], {}).setdefault(row["condition"], {})
            by_condition[row["usage"]] = row["seconds"]
        body = {
            "since": since,
            "until": until,
            "groups": [{"key": key, "seconds": seconds} for key, seconds in groups.items()],
        }
        reading.answer_read(req, resp, at, body)
