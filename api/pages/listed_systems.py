"""The forms that drain the systems of a filtered list, or add a maintenance window over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from falcon.asgi import Request, Response

from api.pages.action_pages import ActionPages
from api.pages.actions import ActionSubject
from api.pages.maintenance_actions import MAINTENANCE_WINDOW
from api.pages.many_systems_action import MANY_SYSTEMS
from api.pages.page import page_view
from api.pages.security import HTML
from api.rest import paging
from api.rest.context import query_of
from api.rest.contract.inputs.systems import MAX_CHANGED
from api.rest.contract.operation import operation
from api.rest.contract.queries import SystemPage
from api.rest.ports import PageParts
from api.rest.resources import systems
from domain.errors import Fault, FaultyInput, Refused

_REMOVED: Final = "Removed"


class ListedSystemsPages:
    """Forms that are filled with the systems that match the filters; other pages take them."""

    def __init__(self, parts: PageParts) -> None:
        self._parts = parts

    @operation(
        "Show the form to drain the systems of a list", None, SystemPage, gives=(HTML,), refuses=(404,)
    )
    async def on_get_drain(self, req: Request, resp: Response) -> None:
        await self._show(req, resp, MANY_SYSTEMS, {"change": "drain"})

    @operation(
        "Show the form to add a maintenance window over the systems of a list",
        *(None, SystemPage),
        gives=(HTML,),
        refuses=(404,),
    )
    async def on_get_maintenance_window(self, req: Request, resp: Response) -> None:
        await self._show(req, resp, MAINTENANCE_WINDOW, {})

    async def _show(
        self, req: Request, resp: Response, subject: ActionSubject, fields: Mapping[str, str]
    ) -> None:
        found = await self._matching(req)
        form = {**fields, "systems": "\n".join(found)}
        pages, action = ActionPages(self._parts, subject), subject.action(None)
        if not found:
            none = Refused("no system that can be changed matches the filters")
            await pages.show_form(req, resp, action, None, form, refusal=none)
            return
        note = f"Systems that match the filters: {len(found)}. Delete those that you want to leave out."
        await pages.show_form(req, resp, action, None, form, note=note)

    async def _matching(self, req: Request) -> list[str]:
        """Return the systems that match the filters. Raises FaultyInput for the past and for too many."""
        query = query_of(req, SystemPage)
        if query.as_of is not None:
            raise FaultyInput([Fault("as_of", "a page about the past has no actions")])
        view = await page_view(req, self._parts)
        page = paging.PageAt(view.at, MAX_CHANGED + 1, systems.BEFORE_ALL)
        rows, _ = await systems.system_rows(self._parts, view, query, page)
        if len(rows) > MAX_CHANGED:
            message = f"more than {MAX_CHANGED} systems match, which is the maximum of one change"
            raise FaultyInput([Fault("filters", message)])
        return [row["fqdn"] for row in rows if row["condition"] != _REMOVED]
