"""/healthz, /readyz: the readiness checks of the service, with their figures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from falcon.asgi import Request, Response

from api.rest.contract.answers.service import Alive, Ready
from api.rest.contract.operation import operation
from api.rest.ports import ReadinessParts
from api.rest.problems import answer, problem
from domain.notifications.kinds import MAIL
from postgres.errors import DatabaseAway
from store.readiness import DatabaseState, LeaseHolder, NotifierState, database_state

MAX_LAG_EVENTS = 10_000
MAX_LAG_SECONDS = 60.0
# The log is read at least once a second.
MAX_UNREAD_SECONDS = 10.0
ANSWER_SECONDS = 5.0
# A mail server that defers what it does not know, as greylisting does, takes a mail some minutes later.
MAX_MAIL_SECONDS = 900.0


@dataclass(frozen=True)
class ReadinessState:
    """The input of the checks: the state of the database, and how far this process has read."""

    database: DatabaseState
    is_full: bool
    read_models: int
    whole_from: int
    directory: int | None
    read_seconds_ago: float

    def lag(self, position: int) -> int:
        return max(0, self.database.log_end - position)


@dataclass(frozen=True)
class Finding:
    """The result of a check; `fault` says why the service is not ready, None if the check passes.

    `warning` says what operators should mend although the service is ready.
    """

    fault: str | None
    figures: Mapping[str, Any]
    warning: str | None = None

    def shown(self) -> dict[str, Any]:
        detail = {} if self.fault is None else {"detail": self.fault}
        warning = {} if self.warning is None else {"warning": self.warning}
        return {"ok": self.fault is None, **self.figures, **detail, **warning}


class Readiness:
    def __init__(self, parts: ReadinessParts) -> None:
        self._parts = parts

    async def checks(self) -> dict[str, Finding]:
        parts = self._parts
        position = parts.reader.position

        def ask() -> tuple[DatabaseState, bool]:
            return database_state(parts.log, position), parts.commits.is_full()

        try:
            database, is_full = await asyncio.wait_for(asyncio.to_thread(ask), ANSWER_SECONDS)
        except DatabaseAway:
            return {"database": Finding("the database cannot be reached", {"writable": False})}
        except TimeoutError:
            return {
                "database": Finding(
                    f"the database did not answer within {ANSWER_SECONDS:g} s", {"writable": False}
                )
            }
        feed = parts.feed
        reached = feed.position if feed.tailer is not None else None
        state = ReadinessState(
            database, is_full, position, parts.reader.whole_from, reached, feed.read_seconds_ago
        )
        return {name: check(state) for name, check in CHECKS.items()}


def _database(state: ReadinessState) -> Finding:
    """Check that the database is writable, which a standby in recovery is not."""
    if state.is_full:
        return Finding("the disk of the database is full", {"writable": False})
    if state.database.append_hangs:
        return Finding("an append hangs and blocks all others", {"writable": False})
    writable = state.database.writable
    return Finding(
        None if writable else "the database is read-only; it may be a standby", {"writable": writable}
    )


def _read_models(state: ReadinessState) -> Finding:
    """Check that the read models are not far behind the log."""
    position, events, seconds = state.read_models, state.lag(state.read_models), state.database.behind_seconds
    fault = None
    if position < state.whole_from:
        fault = f"the read models are being built: {position} of {state.whole_from} events"
    elif events > MAX_LAG_EVENTS or seconds > MAX_LAG_SECONDS:
        fault = f"the read models are {events} events and {seconds:.0f} s behind: does a projector run?"
    return Finding(fault, {"position": position, "lag_events": events, "lag_seconds": round(seconds, 3)})


def _directory(state: ReadinessState) -> Finding:
    """Check that the directory is current: otherwise new tokens are refused and revoked ones accepted."""
    if state.directory is None:
        return Finding("the directory is being read from the log", {"lag_events": state.database.log_end})
    events = state.lag(state.directory)
    fault = f"the directory is {events} events behind the log" if events > MAX_LAG_EVENTS else None
    if state.read_seconds_ago > MAX_UNREAD_SECONDS:
        fault = f"the log could not be read for {state.read_seconds_ago:.0f} s"
    return Finding(fault, {"lag_events": events})


def _scheduler(state: ReadinessState) -> Finding:
    """Check that some partition has a live scheduler, and list those of all partitions.

    A partition without one does not make the service not ready, because it does not hold up the others.
    """
    by_partition = {name: _scheduler_of(holder) for name, holder in state.database.schedulers.items()}
    faults = {name: finding.fault for name, finding in by_partition.items() if finding.fault is not None}
    listed = {"partitions": {name: finding.shown() for name, finding in by_partition.items()}}
    if len(faults) < len(by_partition):
        return Finding(None, listed)
    return Finding("; ".join(f"{name}: {fault}" for name, fault in faults.items()), listed)


def _scheduler_of(holder: LeaseHolder | None) -> Finding:
    if holder is None:
        return Finding("no scheduler holds the lease: does one run?", {"holder": None})
    ago = holder.renewed_seconds_ago
    fault = None if holder.is_live else f"{holder.name} hangs: it has not renewed its lease for {ago:.0f} s"
    figures = {"renewed_seconds_ago": round(ago, 3), "lease_seconds": holder.lease_seconds}
    return Finding(fault, {"holder": holder.name, **figures})


def _notifier(state: ReadinessState) -> Finding:
    """Warn about notifications that are not sent. The service is ready without a notifier."""
    found = state.database.notifier
    figures = {
        "active": found.is_active,
        "lag_events": found.lag_events if found.has_run else 0,
        "lag_seconds": round(found.lag_seconds, 3) if found.has_run else 0.0,
        "backlog_seconds": {name: round(seconds, 3) for name, seconds in found.backlog_seconds.items()},
        "given_up_count": found.given_up_count,
    }
    return Finding(None, figures, "; ".join(_notifier_warnings(found)) or None)


def _notifier_warnings(found: NotifierState) -> Iterator[str]:
    if not found.has_run:
        yield "no notifier has run yet: `labledger notifier` sends notifications"
    elif not found.is_active:
        yield f"no notifier has run for {found.lag_seconds:.0f} s"
    elif found.lag_events > MAX_LAG_EVENTS or found.lag_seconds > MAX_LAG_SECONDS:
        yield f"the notifier is {found.lag_events} events and {found.lag_seconds:.0f} s behind"
    if (people := found.people_without_mail) and found.is_active:
        yield f"the notifier has no LABLEDGER_SMTP_URL, and {people} user{'s' * (people > 1)} chose mail"
    mail_seconds = found.backlog_seconds.get(MAIL, 0.0)
    if mail_seconds > MAX_MAIL_SECONDS:
        yield f"a mail has been waiting for {mail_seconds:.0f} s: does the mail server answer?"
    if count := found.given_up_count:
        yield f"{count} notification{'s' * (count > 1)} given up within a day"


CHECKS: Mapping[str, Callable[[ReadinessState], Finding]] = {
    "database": _database,
    "read_models": _read_models,
    "directory": _directory,
    "scheduler": _scheduler,
    "notifier": _notifier,
}


class Health:
    def __init__(self, parts: ReadinessParts) -> None:
        self._readiness = Readiness(parts)

    @operation("Report whether this process is alive", Alive)
    async def on_get_alive(self, req: Request, resp: Response) -> None:
        resp.content_type = "application/json"
        resp.data = b'{"alive":true}'

    @operation("Report whether the service is ready", Ready)
    async def on_get_ready(self, req: Request, resp: Response) -> None:
        """Answer every check with its figures, with 503 if one fails."""
        checks = await self._readiness.checks()
        shown = {name: finding.shown() for name, finding in checks.items()}
        failed = [name for name, finding in checks.items() if finding.fault is not None]
        if failed:
            answer(resp, {**problem(503, f"not ready: {', '.join(failed)}"), "checks": shown})
            return
        resp.content_type = "application/json"
        resp.data = orjson.dumps({"ready": True, "checks": shown})
