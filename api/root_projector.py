"""The composition root of the projector process: creates and connects its parts."""

from __future__ import annotations

from functools import partial

from api.metrics import counters
from api.metrics.counters import CounterWriter
from api.startup import load_with_retries
from runtime.processes.garbage_collection import freeze_survivors
from runtime.processes.stop_request import listening
from runtime.settings import Settings, require_url
from store.counters import Counters
from store.event_log import EventLog
from store.migrate import require_migrated
from store.tailer import TailerCounters
from workers import projector


def run_projector(settings: Settings) -> None:
    """Run the process of `labledger projector` until SIGTERM."""
    url = require_url(settings.database_url)
    stop = listening()
    load_with_retries(partial(require_migrated, url), stop.is_requested)
    log = EventLog(url, pool_size=1)
    counts = (projector.ProjectorCounters(), TailerCounters())
    freeze_survivors()
    with CounterWriter(Counters(log, partial(counters.projecting, *counts))):
        projector.run(url, stop.is_requested, *counts)
    log.close()
