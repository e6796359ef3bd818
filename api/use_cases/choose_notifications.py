"""The choice of the notifications that a user gets, and of a webhook."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from api.use_cases.commit import append_for, commit_directory
from api.use_cases.ports import EventParts, RequestContext
from api.use_cases.rights import require_self
from domain.directory.events import UserNotificationsChanged
from domain.errors import Fault, FaultyInput, Refused, Unknown, display_name
from domain.events import Recorded
from domain.notifications.kinds import fault_of
from domain.notifications.people import Recipient, evolve
from store.event_log import EventLog
from store.notifications import Webhook, delete_stale_webhooks, store_webhook, webhooks
from store.requests import AppendRequest, Committed

MIN_SECRET_LENGTH = 16


@dataclass(frozen=True)
class WantedWebhook:
    """A webhook that a user asks for. If `secret` is None, the present one is kept."""

    url: str
    secret: str | None
    kinds: Sequence[str]


@dataclass(frozen=True)
class NotificationChoice:
    """The choice of a person, with the webhook, None without one."""

    person: Recipient
    version: int
    webhook: Webhook | None
    former_ids: Sequence[str] = ()


def choice_of(log: EventLog, user: str, upto: int | None = None) -> NotificationChoice:
    """Return the choice of a user, now or at a position. Blocking. Raises Unknown.

    The webhook has no URL any more if another one has replaced it since.
    """
    history = log.history([f"user/{user}"], None if upto is None else upto + 1)
    person, former = _folded(history)
    if person is None:
        raise Unknown(display_name("user", user))
    stored = webhooks(log, [person.webhook_id]) if person.webhook_id else {}
    return NotificationChoice(person, history[-1].version, stored.get(person.webhook_id or ""), former)


def delete_former_webhooks(log: EventLog, user: str) -> None:
    """Delete the webhooks that a user who was removed, or has no rights any more, had chosen. Blocking."""
    person, former = _folded(log.history([f"user/{user}"]))
    delete_stale_webhooks(log, user, None if person is None else person.webhook_id, former)


def _folded(history: Iterable[Recorded]) -> tuple[Recipient | None, list[str]]:
    """Return a person, None after a removal, and the ids of the webhooks that the person has had before."""
    person: Recipient | None = None
    ids: list[str] = []
    for recorded in history:
        person = evolve(person, recorded)
        event = recorded.event
        if isinstance(event, UserNotificationsChanged) and event.webhook_id is not None:
            ids.append(event.webhook_id)
    valid = None if person is None else person.webhook_id
    return person, [each for each in ids if each != valid]


async def choose_notifications(
    parts: EventParts,
    request: RequestContext,
    user: str,
    mail: Sequence[str] | None,
    webhook: WantedWebhook | None,
) -> Committed | None:
    """Replace the choice of a user; None if nothing changes. `mail` is None for the defaults.

    Raises NotPermitted for another user, Unknown, Stale, Refused after a concurrent change, and FaultyInput
    with all faults.
    """
    require_self(request, user, "choose the notifications of another user")
    before = await asyncio.to_thread(choice_of, parts.log, user)
    stored, faults = _webhook(before, webhook)
    if mail is not None and (fault := fault_of(mail)):
        faults.append(Fault("mail", fault))
    if faults:
        raise FaultyInput(faults)
    webhook_id = before.person.webhook_id
    if stored != before.webhook:
        webhook_id = None if stored is None else secrets.token_hex(8)
    if stored is not None and webhook_id is not None and webhook_id != before.person.webhook_id:
        await asyncio.to_thread(store_webhook, parts.log, webhook_id, user, stored)
    kinds = [] if webhook is None else list(dict.fromkeys(webhook.kinds))
    chosen = None if mail is None else list(dict.fromkeys(mail))
    event = UserNotificationsChanged(chosen, kinds, webhook_id)
    done = await _commit(parts, request, user, before, event)
    former = [*before.former_ids, *filter(None, [before.person.webhook_id])]
    stale = [each for each in former if each != webhook_id]
    await asyncio.to_thread(delete_stale_webhooks, parts.log, user, webhook_id, stale)
    return done


async def _commit(
    parts: EventParts,
    request: RequestContext,
    user: str,
    before: NotificationChoice,
    event: UserNotificationsChanged,
) -> Committed | None:
    subject, person = f"user/{user}", before.person
    present = UserNotificationsChanged(
        None if person.mail is None else [*person.mail], [*person.webhook], person.webhook_id
    )

    def decide() -> AppendRequest | None:
        if event == present:
            return None
        if parts.feed.directory.version(subject) > before.version:
            raise Refused(f"another request has changed {display_name('user', user)}")
        return append_for(parts, request, [(subject, event)], {subject: before.version})

    return await commit_directory(parts, request, subject, decide)


def _webhook(before: NotificationChoice, wanted: WantedWebhook | None) -> tuple[Webhook | None, list[Fault]]:
    """Return the webhook to store, and all faults of the wanted one."""
    if wanted is None:
        return None, []
    present = None if before.webhook is None else before.webhook.secret
    faults = [] if (fault := _url_fault(wanted.url)) is None else [Fault("webhook.url", fault)]
    if wanted.secret is None and present is None:
        faults.append(Fault("webhook.secret", "is required for a first webhook"))
    if wanted.secret is not None and len(wanted.secret) < MIN_SECRET_LENGTH:
        faults.append(Fault("webhook.secret", f"must have at least {MIN_SECRET_LENGTH} characters"))
    if fault := fault_of(wanted.kinds):
        faults.append(Fault("webhook.kinds", fault))
    return Webhook(wanted.url, wanted.secret or present or ""), faults


def _url_fault(url: str) -> str | None:
    """Return why a URL cannot be that of a webhook. Its address is checked whenever something is sent."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
        is_complete = parts.scheme in ("http", "https") and bool(host) and parts.port != 0
    except ValueError:
        is_complete, host = False, None
    if not is_complete or host is None:
        return "must be a URL that begins with http:// or https:// and names a host"
    if parts.username is not None or parts.fragment:
        return "must have neither a user nor a fragment"
    if not url.isascii() or not url.isprintable() or " " in url:
        return "must have only ASCII characters, without spaces and control characters"
    return None
