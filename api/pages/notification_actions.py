"""The form in which people choose their notifications."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from api.pages.actions import Action, ActionSubject, Facts
from api.pages.form_fields import Fields, fields_of_model
from api.rest.contract.values import Flag, Input
from api.rest.ports import PageParts
from api.rest.resources.notifications import choice_answer
from api.rest.views import View
from api.use_cases.choose_notifications import MIN_SECRET_LENGTH, WantedWebhook, choose_notifications
from api.use_cases.ports import RequestContext
from api.use_cases.rights import require_self
from domain.errors import FaultyInput
from domain.notifications.kinds import KINDS
from store.requests import Committed

_KINDS: Final = ", ".join(KINDS)


class ChosenNotifications(Input):
    """The fields of `Notifications` as a form has them. Without a URL there is no webhook."""

    default_mail: Flag
    mail: Annotated[list[str], Field(max_length=20)] = Field(default_factory=list)
    webhook_url: Annotated[str | None, StringConstraints(min_length=1, max_length=2_048)] = None
    webhook_secret: Annotated[str | None, Field(max_length=255)] = None
    webhook_kinds: Annotated[list[str], Field(max_length=20)] = Field(default_factory=list)


async def _answer(parts: PageParts, view: View, user: str) -> tuple[int, Facts]:
    return await choice_answer(parts, user)


def _present(choice: Facts) -> Facts:
    webhook = choice["webhook"] or {"url": None, "kinds": list(KINDS)}
    return {
        "default_mail": choice["mail"] is None,
        "mail": choice["default_mail"] if choice["mail"] is None else choice["mail"],
        "webhook_url": webhook["url"],
        "webhook_kinds": webhook["kinds"],
    }


async def _choose(parts: PageParts, request: RequestContext, user: str, fields: Fields) -> Committed | None:
    wanted = ChosenNotifications(**fields)
    url = wanted.webhook_url
    webhook = None if url is None else WantedWebhook(url, wanted.webhook_secret, wanted.webhook_kinds)
    mail = None if wanted.default_mail else wanted.mail
    try:
        return await choose_notifications(parts, request, user, mail, webhook)
    except FaultyInput as error:
        raise FaultyInput(
            [replace(each, where=each.where.replace(".", "_")) for each in error.faults]
        ) from None


def _require_may(parts: PageParts, request: RequestContext, user: str) -> None:
    require_self(request, user, "choose the notifications of another user")


NOTIFICATIONS: Final = ActionSubject(
    "user",
    "notifications",
    _answer,
    (
        Action(
            name="choose",
            label="Choose notifications",
            effect=f"The values below replace all present ones. The kinds are {_KINDS}.",
            require_may=_require_may,
            perform=_choose,
            fields=fields_of_model(
                ChosenNotifications,
                secrets=("webhook_secret",),
                default_mail="yes for the defaults of the service, whatever the next field has",
                mail="kinds to get by mail, one on each line",
                webhook_url="begins with https:// or http://; empty for no webhook",
                webhook_secret=f"signs the posts, has at least {MIN_SECRET_LENGTH} characters; empty to keep"
                " the present one",
                webhook_kinds="kinds to post, one on each line",
            ),
            model=ChosenNotifications,
            present=_present,
        ),
    ),
)
