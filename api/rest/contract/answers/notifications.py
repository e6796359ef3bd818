"""Answers about notifications."""

from __future__ import annotations

from typing import Annotated

from api.rest.contract.answers.common import Answer, AnswerPart, ListAnswer, ReadAnswer
from api.rest.contract.values import OneOf, Time
from domain.notifications.kinds import KINDS, MAIL, WEBHOOK
from domain.notifications.retries import STATES

Kind = Annotated[str, OneOf(tuple(KINDS))]


class ShownWebhook(AnswerPart):
    url: str
    kinds: list[Kind]


class NotificationsChosen(Answer):
    """`mail` is null for the defaults, which are `default_mail` for this user."""

    user: str
    email: str | None
    mail: list[Kind] | None
    default_mail: list[Kind]
    webhook: ShownWebhook | None


class NotificationsShown(ReadAnswer, NotificationsChosen):
    pass


class NotificationMessage(AnswerPart):
    """A message to `user`. `address` is one that the job of the user names, null for that of the user.

    `next_attempt_at` is null once the message is sent or given up; then `finished_at` has a time.
    """

    id: str
    user: str
    channel: Annotated[str, OneOf((MAIL, WEBHOOK))]
    address: str | None
    kind: Kind
    title: str
    state: Annotated[str, OneOf(STATES)]
    attempts: int
    created_at: Time
    next_attempt_at: Time | None
    last_error: str | None
    finished_at: Time | None


class NotificationMessages(ListAnswer):
    messages: list[NotificationMessage]
