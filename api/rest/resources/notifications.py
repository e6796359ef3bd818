"""/users/{name}/notifications, /notification-messages: the choices of users, and the messages to them."""

from __future__ import annotations

import asyncio
from typing import Any

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import read_model
from api.rest.context import query_of, request_of
from api.rest.contract import queries
from api.rest.contract.answers.notifications import (
    NotificationMessages,
    NotificationsChosen,
    NotificationsShown,
)
from api.rest.contract.inputs.access import Notifications as Wanted
from api.rest.contract.operation import operation
from api.rest.contract.query_values import MAX_POSITION
from api.rest.ports import NotificationParts
from api.use_cases.choose_notifications import (
    NotificationChoice,
    WantedWebhook,
    choice_of,
    choose_notifications,
)
from api.use_cases.ports import RequestContext
from api.use_cases.rights import require_self
from domain.errors import Unknown, display_name
from domain.notifications.kinds import KINDS
from domain.notifications.retries import WAITING
from store.notifications import ShownMessage, messages_of

SEE = "see the notifications of another user"


class Notifications:
    def __init__(self, parts: NotificationParts) -> None:
        self._parts = parts

    @operation("Show the notifications that a user has chosen", NotificationsShown, queries.ReadQuery)
    async def on_get(self, req: Request, resp: Response, name: str) -> None:
        at = await paging.read_at(req, self._parts)
        shown = await choice_at(self._parts, request_of(req), name, at.position)
        paging.answer_read(resp, at, shown)

    @operation("Choose the notifications of a user", NotificationsChosen, body=Wanted, versioned=True)
    async def on_put(self, req: Request, resp: Response, name: str) -> None:
        wanted: Wanted = await read_model(req)
        hook = wanted.webhook
        webhook = None if hook is None else WantedWebhook(hook.url, hook.secret, hook.kinds)
        done = await choose_notifications(self._parts, request_of(req), name, wanted.mail, webhook)
        _, shown = await choice_answer(self._parts, name)
        await paging.answer_write(resp, self._parts.log, done, shown)

    @operation("List the messages to a user, newest first", NotificationMessages, queries.MessagePage)
    async def on_get_messages(self, req: Request, resp: Response, name: str) -> None:
        """List the present messages, also in an answer about the past: they are no part of the log."""
        if self._parts.feed.directory.get("user", name) is None:
            raise Unknown(display_name("user", name))
        require_self(request_of(req), name, SEE)
        await self._answer_messages(req, resp, name, query_of(req, queries.MessagePage).state)

    @operation("List the messages to all users, newest first", NotificationMessages, queries.AllMessagesPage)
    async def on_get_all_messages(self, req: Request, resp: Response) -> None:
        """List the present messages, also in an answer about the past: they are no part of the log."""
        query = query_of(req, queries.AllMessagesPage)
        await self._answer_messages(req, resp, query.user, query.state)

    async def _answer_messages(
        self, req: Request, resp: Response, user: str | None, state: str | None
    ) -> None:
        page = paging.page_at(req, await paging.read_at(req, self._parts), first=MAX_POSITION)
        paging.answer_listed(req, resp, page, "messages", await message_list(self._parts, user, state, page))


async def choice_answer(parts: NotificationParts, user: str) -> tuple[int, dict[str, Any]]:
    """Return the version of a user, and the answer about the present choice of the user. Raises Unknown."""
    choice = await asyncio.to_thread(choice_of, parts.log, user)
    return choice.version, _shown(parts, choice)


async def choice_at(
    parts: NotificationParts, request: RequestContext, user: str, position: int
) -> dict[str, Any]:
    """Return the answer about the choice of a user at a position.

    Raises NotPermitted for another user, and Unknown, except for admins also if another person had the name.
    """
    choice = await asyncio.to_thread(choice_of, parts.log, user, position)
    require_self(request, user, SEE)
    present = parts.feed.directory.get("user", user)
    if present is not None and choice.person.since < present.since and not request.is_admin:
        raise Unknown(display_name("user", user))
    return _shown(parts, choice)


async def message_list(
    parts: NotificationParts, user: str | None, state: str | None, page: paging.PageAt
) -> paging.Listed:
    """Return a page of the messages to a user, None for all users."""
    found = await asyncio.to_thread(messages_of, parts.log, user, state, page.after, page.limit)
    key = found[-1].number if found else None
    return paging.listed(page, [_message(each) for each in found], key)


def _shown(parts: NotificationParts, choice: NotificationChoice) -> dict[str, Any]:
    person, webhook = choice.person, choice.webhook
    defaults = [kind for kind in person.default_kinds(parts.default_kinds) if kind in KINDS]
    return {
        "user": person.name,
        "email": person.email,
        "mail": person.mail,
        "default_mail": defaults,
        "webhook": None if webhook is None else {"url": webhook.url, "kinds": person.webhook},
    }


def _message(message: ShownMessage) -> dict[str, Any]:
    shown = {name: value for name, value in message._asdict().items() if name != "number"}
    return shown if message.state == WAITING else {**shown, "next_attempt_at": None}
