"""A small lab with people and jobs, appended to the log directly, and a notifier in a thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import ip_network
from threading import Event as Flag
from threading import Thread
from typing import Any
from urllib.parse import quote

from domain.directory.events import UserNotificationsChanged, UserRegistered
from domain.events import Event
from domain.job.submission import counts, submit
from domain.notifications.kinds import DEFAULT_KINDS
from domain.notifications.messages import Routing
from store.event_log import EventLog
from store.notifications import Webhook, store_webhook
from store.tailer import TailerCounters
from tests.harness.waiting import wait_until
from tests.workers.lab import JOB, RECIPE, RECIPE_SET, put
from tests.workers.notifying.receivers import PASSWORD, USER
from workers.notifying.delivering import Senders
from workers.notifying.mail import Mailer
from workers.notifying.notifier import Notifier, NotifierCounters, Options
from workers.notifying.webhooks import WebhookSender

SECRET = "a secret of some length"
LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1"))


def add_user(log: EventLog, name: str, role: str = "submitter", email: str | None = None) -> None:
    put(log, [(f"user/{name}", UserRegistered(roles=[role], email=email or f"{name}@example.com"))])


def choose(log: EventLog, name: str, url: str, *kinds: str, after: int = 1) -> None:
    """Have a user get these kinds by webhook, and no mail."""
    store_webhook(log, f"w-{name}", name, Webhook(url, SECRET))
    put(log, [(f"user/{name}", UserNotificationsChanged([], kinds, f"w-{name}"))], after=after)


def submit_job(
    log: EventLog, owner: str, recipes: int = 1, notify: tuple[str, ...] = ()
) -> tuple[int, list[int]]:
    """Append a job; return its id and those of its recipes."""
    recipe_set = replace(RECIPE_SET, recipes=(RECIPE,) * recipes)
    job = replace(JOB, recipe_sets=(recipe_set,), document={"notify": [*notify]})
    (ids,) = log.take_ids([counts(job)])
    put(log, submit(job, ids, owner, [1] * recipes))
    return ids.job, list(ids.recipes)


def append(log: EventLog, subject: str, event: Event) -> None:
    ((events),) = log.load({subject: 0}).values()
    put(log, [(subject, event)], after=events[-1].version if events else 0)


def smtp_url(port: int, password: str = PASSWORD) -> str:
    return f"smtp://{USER}:{quote(password)}@localhost:{port}"


def mail_options(url: str | None, **changes: Any) -> Options:
    mailer = None if url is None else Mailer(url, "Lab <lab@example.com>")
    senders = Senders(mailer, WebhookSender(changes.pop("allowed", ())))
    kinds = changes.pop("kinds", DEFAULT_KINDS)
    options = Options(Routing(kinds, url is not None), senders, 1800.0, "https://lab.example.com")
    return replace(options, **changes)


@contextmanager
def notifying(log: EventLog, options: Options) -> Iterator[NotifierCounters]:
    """Run a notifier in a thread, once it is active."""
    stop, counters = Flag(), NotifierCounters()
    notifier = Notifier(log, options, counters, TailerCounters())
    thread = Thread(target=notifier.run, args=(stop.is_set,))
    thread.start()
    try:
        wait_until(lambda: log.rows(ACTIVE, ()), "the notifier to be active")
        yield counters
    finally:
        stop.set()
        thread.join()


ACTIVE = b"SELECT FROM live.notifier WHERE held_until > now() AND database_id IS NOT NULL"
STATES = b"SELECT user_name, channel, state, attempts, last_error FROM live.notifications ORDER BY number"


def messages(log: EventLog) -> list[tuple[str, str, str]]:
    return [(user, channel, state) for user, channel, state, _, _ in log.rows(STATES, ())]


def wait_for(log: EventLog, *expected: tuple[str, str, str]) -> None:
    wait_until(lambda: messages(log) == [*expected], f"{expected}, not {messages(log)}")
