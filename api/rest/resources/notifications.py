"""/users/{name}/notifications: what a user is notified of, and the messages to the user."""

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
        choice = await asyncio.to_thread(choice_of, self._parts.log, name, at.position)
        require_self(request_of(req), name, SEE)
        paging.answer_read(resp, at, self._shown(choice))

    @operation("Choose the notifications of a user", NotificationsChosen, body=Wanted, versioned=True)
    async def on_put(self, req: Request, resp: Response, name: str) -> None:
        wanted: Wanted = await read_model(req)
        hook = wanted.webhook
        webhook = None if hook is None else WantedWebhook(hook.url, hook.secret, hook.kinds)
        done = await choose_notifications(self._parts, request_of(req), name, wanted.mail, webhook)
        choice = await asyncio.to_thread(choice_of, self._parts.log, name)
        await paging.answer_write(resp, self._parts.log, done, self._shown(choice))

    @operation("List the messages to a user, newest first", NotificationMessages, queries.MessagePage)
    async def on_get_messages(self, req: Request, resp: Response, name: str) -> None:
        """List the present messages, also in an answer about the past: they are no part of the log."""
        query, parts = query_of(req, queries.MessagePage), self._parts
        page = paging.page_at(req, await paging.read_at(req, parts), first=MAX_POSITION)
        if parts.feed.directory.get("user", name) is None:
            raise Unknown(display_name("user", name))
        require_self(request_of(req), name, SEE)
        found = await asyncio.to_thread(messages_of, parts.log, name, query.state, page.after, page.limit)
        key = found[-1].number if found else None
        listed = paging.listed(page, [_message(each) for each in found], key)
        paging.answer_listed(req, resp, page, "messages", listed)

    def _shown(self, choice: NotificationChoice) -> dict[str, Any]:
        person, webhook = choice.person, choice.webhook
        defaults = [kind for kind in person.default_kinds(self._parts.default_kinds) if kind in KINDS]
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
