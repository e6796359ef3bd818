"""The composition root of the notifier process: creates and connects its parts."""

from __future__ import annotations

from functools import partial

from api.metrics import counters
from api.metrics.counters import CounterWriter
from api.startup import load_with_retries
from domain.notifications.messages import Routing
from runtime.processes.garbage_collection import freeze_present_objects
from runtime.processes.stop_request import listening
from runtime.settings import Settings, require_url
from store.counters import Counters
from store.event_log import EventLog
from store.migrate import require_migrated
from store.tailer import TailerCounters
from workers.notifying.delivering import Senders
from workers.notifying.mail import Mailer
from workers.notifying.notifier import Notifier, NotifierCounters, Options
from workers.notifying.webhooks import WebhookSender


def run_notifier(settings: Settings) -> None:
    """Run the process of `labledger notifier` until SIGTERM."""
    url = require_url(settings.database_url)
    stop = listening()
    load_with_retries(partial(require_migrated, url), stop.is_requested)
    log = EventLog(url, pool_size=2)
    counts = (NotifierCounters(), TailerCounters())
    freeze_present_objects()
    with CounterWriter(Counters(log, partial(counters.notifying, *counts))):
        Notifier(log, _options(settings), *counts).run(stop.is_requested)
    log.close()


def _options(settings: Settings) -> Options:
    ca_file = settings.ca_file
    mailer = None if settings.smtp_url is None else Mailer(settings.smtp_url, settings.mail_from, ca_file)
    return Options(
        Routing(settings.notifications, sends_mail=mailer is not None),
        Senders(mailer, WebhookSender(settings.webhook_networks, ca_file)),
        settings.end_near_seconds,
        settings.web_url,
    )
