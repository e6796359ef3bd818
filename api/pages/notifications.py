"""The pages of notifications: the choice of a user with the messages to the user, and the messages to all."""

from __future__ import annotations

from falcon.asgi import Request, Response

from api.pages.actions import offered
from api.pages.notification_actions import NOTIFICATIONS
from api.pages.page import page_view, show_list
from api.pages.security import HTML
from api.rest import paging
from api.rest.context import query_of, request_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import AllMessagesPage, MessagePage
from api.rest.contract.query_values import MAX_POSITION
from api.rest.ports import PageParts
from api.rest.resources.notifications import SEE, choice_at, message_list
from api.use_cases.rights import require_self
from domain.notifications.kinds import KINDS


class NotificationPages:
    """Messages are no part of the log, so pages about the past show the present ones, and say so."""

    def __init__(self, parts: PageParts) -> None:
        self._parts = parts

    @operation("Show the messages to all users", None, AllMessagesPage, gives=(HTML,))
    async def on_get_list(self, req: Request, resp: Response) -> None:
        view, query = await page_view(req, self._parts), query_of(req, AllMessagesPage)
        page = paging.page_at(req, view.at, MAX_POSITION)
        found = await message_list(self._parts, query.user, query.state, page)
        await show_list(req, resp, self._parts, view, "all_notifications.html", query, found)

    @operation(
        "Show the notifications of a user, and the messages to the user", None, MessagePage, gives=(HTML,)
    )
    async def on_get(self, req: Request, resp: Response, name: str) -> None:
        view, query, request = await page_view(req, self._parts), query_of(req, MessagePage), request_of(req)
        require_self(request, name, SEE)
        choice = await choice_at(self._parts, request, name, view.position)
        actions = await offered(self._parts, request, view, NOTIFICATIONS, name, choice)
        found = await message_list(self._parts, name, query.state, paging.page_at(req, view.at, MAX_POSITION))
        values = {"choice": choice, "actions": actions, "kinds": KINDS}
        await show_list(req, resp, self._parts, view, "notifications.html", query, found, **values)
