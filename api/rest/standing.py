"""/queue, /idle-pool, /system-usage: who waits, what is free, and how the time was used."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from falcon.asgi import Request, Response

from api.rest import reading
from api.rest.shapes import queued_recipe
from api.services import Services
from domain.errors import Fault

GROUPS = ("system", "lab_controller", "pool", "arch")
# (not assigned, -priority, submission, recipe id) before all others.
QUEUE_START: list[Any] = [False, -(2**15), 0, 0]


class Standing:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def on_get_queue(self, req: Request, resp: Response) -> None:
        page = await reading.read_page(req, self._services.reader, first=QUEUE_START)
        names = ("not_assigned", "minus_priority", "submission", "recipe_id")
        params = {"at": page.at, "limit": page.limit, **dict(zip(names, page.after, strict=True))}
        rows = await self._services.reader.rows("queue", params)
        last = rows[-1] if rows else None
        key = last and [last["state"] != "assigned", -last["priority"], last["submission"], last["recipe_id"]]
        reading.answer_list(req, resp, page, "recipes", [queued_recipe(row) for row in rows], key)

    async def on_get_idle_pool(self, req: Request, resp: Response) -> None:
        page = await reading.read_page(req, self._services.reader, first="")
        params = {"at": page.at, "limit": page.limit, "after": page.after}
        rows = await self._services.reader.rows("idle_pool", params)
        reading.answer_list(req, resp, page, "systems", rows, rows[-1]["fqdn"] if rows else None)

    async def on_get_system_usage(self, req: Request, resp: Response) -> None:
        faults: list[Fault] = []
        since = time_param(req, "since", datetime(1970, 1, 1, tzinfo=UTC), faults)
        until = time_param(req, "until", self._services.clock(), faults)
        group_by = req.get_param("group_by") or "system"
        if group_by not in GROUPS:
            faults.append(Fault("group_by", f"{group_by!r} is none of {', '.join(GROUPS)}"))
        reading.check_params(faults)
        at = await reading.read_at(req, self._services.reader)
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
        reading.answer(resp, at, body)


def time_param(req: Request, name: str, default: datetime, faults: list[Fault]) -> datetime:
    text = req.get_param(name)
    if text is None:
        return default
    when = reading.moment(text)
    if when is None:
        faults.append(Fault(name, f"{text!r} is no RFC 3339 time with a zone"))
    return when or default
