"""The counters of a process since its start, by their declared names, and the thread that stores them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from api.metrics.declarations import NOTIFIER, PROJECTOR, SCHEDULER, SERVE
from postgres.errors import DatabaseAway
from store.counters import Counters, Totals, series

if TYPE_CHECKING:
    # Imported for types only: no process needs the parts of the others.
    from api.metrics.requests import RequestCounters
    from api.metrics.slow_metrics import SlowMetrics
    from api.watching.broadcast import WatchingCounters
    from domain.scheduling.decisions.timers import Findings
    from store.group_commit import CommitCounters
    from store.tailer import TailerCounters
    from workers.notifying.notifier import NotifierCounters
    from workers.projector import ProjectorCounters
    from workers.scheduler import SchedulerCounters


def serving(
    requests: RequestCounters,
    commits: CommitCounters,
    watching: WatchingCounters,
    slow: SlowMetrics,
    tailer: Callable[[], TailerCounters | None],
) -> Totals:
    """Return the counters of a serving process; `tailer` returns None until the process follows the log."""
    tailer_counters = tailer()
    return {
        **requests.totals(),
        **{series(f"append_{name}"): total for name, total in asdict(commits).items()},
        **{series(f"watching_{name}"): total for name, total in asdict(watching).items()},
        **{series("estimated_recipes", outcome=name): n for name, n in slow.outcomes.copy().items()},
        **({} if tailer_counters is None else _tailer_totals(SERVE, tailer_counters)),
    }


def scheduling(
    scheduler: SchedulerCounters, findings: Findings, withheld: Mapping[str, int], tailer: TailerCounters
) -> Totals:
    """Return the counters of a scheduler; `withheld` counts the rounds of `consistency_withheld_turns`."""
    decisions, doubts = scheduler.decisions.copy().items(), dict(withheld).items()
    violations = findings.violations.copy().items()
    return {
        **{series("scheduler_decisions", trigger=kind): total for kind, total in decisions},
        series("scheduler_commits"): scheduler.commits,
        series("scheduler_events"): scheduler.events,
        series("scheduler_conflicts"): scheduler.conflicts,
        series("scheduler_commits_reread"): scheduler.reread,
        series("scheduler_foreign_events"): scheduler.foreign,
        **{series("consistency_findings", finding=name): total for name, total in findings.by_name().items()},
        **{series("conservation_violations", law=law): total for law, total in violations},
        **{series("consistency_withheld_turns", doubt=doubt): total for doubt, total in doubts},
        **_tailer_totals(SCHEDULER, tailer),
    }


def projecting(projector: ProjectorCounters, tailer: TailerCounters) -> Totals:
    return {
        **{series(f"projector_{name}"): total for name, total in asdict(projector).items()},
        **_tailer_totals(PROJECTOR, tailer),
    }


def notifying(notifier: NotifierCounters, tailer: TailerCounters) -> Totals:
    outcomes = notifier.outcomes.copy().items()
    return {
        series("notifier_events"): notifier.events,
        series("notifications_too_old"): notifier.too_old,
        **{
            series("notification_attempts", channel=channel, outcome=outcome): total
            for (channel, outcome), total in outcomes
        },
        **_tailer_totals(NOTIFIER, tailer),
    }


def _tailer_totals(process: str, tailer: TailerCounters) -> Totals:
    return {series(f"tailer_{name}", process=process): total for name, total in asdict(tailer).items()}


WRITE_SECONDS = 2.0

logger = logging.getLogger(__name__)


class CounterWriter:
    """Stores counters regularly. Call `start` after any fork; `stop` stores them a last time."""

    def __init__(self, counters: Counters, every_seconds: float = WRITE_SECONDS) -> None:
        self._counters = counters
        self._every_seconds = every_seconds
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="counters", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def _run(self) -> None:
        while not self._stopping.wait(self._every_seconds):
            self._write()
        self._write()

    def _write(self) -> None:
        try:
            self._counters.write()
        except DatabaseAway as error:
            # The next write includes these counts, and other parts log that the database is unavailable.
            logger.debug("counters not stored: %s", error)
        except Exception:
            # The thread must not end, because nobody would notice that the counters no longer change.
            logger.exception("counters not stored; retrying")
