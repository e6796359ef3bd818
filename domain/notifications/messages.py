"""Messages: what each recipient of a notice gets by each channel, with a stable id."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from domain.notifications.kinds import MAIL, WEBHOOK
from domain.notifications.notice import Notice
from domain.notifications.people import People, Recipient
from domain.rfc3339 import rfc3339

MAX_AGE: Final = timedelta(days=1)
"""An older notice is not sent, and a message that was not delivered for so long is given up."""


@dataclass(frozen=True)
class Routing:
    """The settings of the service that decide who gets what: kinds by default, and whether mail is sent."""

    default_kinds: Sequence[str]
    sends_mail: bool


@dataclass(frozen=True)
class Message:
    """A message to one recipient by one channel.

    `user` is the recipient, or the owner of the job for an `address` that the job names; otherwise `address`
    is None, and the message goes to the present address of the user. `id` is the same whenever the message is
    recomputed, and differs for another event, even at the same position of a log that was restored.
    """

    id: str
    notice: Notice
    channel: str
    user: str
    address: str | None = None


def messages(notice: Notice, people: People, routing: Routing) -> Iterator[Message]:
    """Yield the messages of a notice."""
    for name in _recipients(notice, people, routing):
        person = people.get(name, notice.as_of)
        if person is not None:
            yield from _for_person(notice, person, routing)
    if notice.people and routing.sends_mail:
        (owner,) = notice.people
        for address in dict.fromkeys(notice.addresses):
            yield Message(_id(notice, MAIL, f"<{address}>"), notice, MAIL, owner, address)


def _recipients(notice: Notice, people: People, routing: Routing) -> Iterable[str]:
    if notice.people is not None:
        return notice.people
    return list(people.chosen_by(lambda person: bool(_channels(notice.kind, person, routing))))


def _for_person(notice: Notice, person: Recipient, routing: Routing) -> Iterator[Message]:
    for channel in _channels(notice.kind, person, routing):
        # A job may name the address of its owner, who then gets one mail.
        if channel != MAIL or person.email not in notice.addresses:
            yield Message(_id(notice, channel, person.name), notice, channel, person.name)


def _channels(kind: str, person: Recipient, routing: Routing) -> list[str]:
    channels = []
    if routing.sends_mail and person.email and kind in person.mail_kinds(routing.default_kinds):
        channels.append(MAIL)
    if person.webhook_id is not None and kind in person.webhook:
        channels.append(WEBHOOK)
    return channels


def _id(notice: Notice, channel: str, recipient: str) -> str:
    event = (notice.kind, notice.position, notice.subject, notice.recorded_at.isoformat(), channel, recipient)
    return hashlib.sha256(repr(event).encode()).hexdigest()[:32]


def is_too_old(notice: Notice, now: datetime) -> bool:
    return now - notice.time > MAX_AGE


def event_of(message_id: str, notice: Notice, source: str) -> dict[str, Any]:
    """Return the CloudEvents 1.0 JSON of a message of a service."""
    return {
        "specversion": "1.0",
        "id": message_id,
        "source": source,
        "type": f"labledger.{notice.kind}",
        "subject": notice.subject,
        "time": rfc3339(notice.time),
        "datacontenttype": "application/json",
        "data": {**notice.data, "title": notice.title, "position": notice.position},
    }
