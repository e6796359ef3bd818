"""/healthz, /readyz: the readiness checks of the service, with their figures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from falcon.asgi import Request, Response

from api.rest.contract.answers.service import Alive, Ready
from api.rest.contract.operation import operation
from api.rest.ports import ReadinessParts
from api.rest.problems import answer, problem
from postgres.errors import DatabaseAway
from store.readiness import DatabaseState, LeaseHolder, database_state

MAX_LAG_EVENTS = 10_000
MAX_LAG_SECONDS = 60.0
# The log is read at least once a second.
MAX_UNREAD_SECONDS = 10.0
ANSWER_SECONDS = 5.0


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
    """The result of a check; `fault` says why the service is not ready, None if the check passes."""

    fault: str | None
    figures: Mapping[str, Any]

    def shown(self) -> dict[str, Any]:
        detail = {} if self.fault is None else {"detail": self.fault}
        return {"ok": self.fault is None, **self.figures, **detail}


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


CHECKS: Mapping[str, Callable[[ReadinessState], Finding]] = {
    "database": _database,
    "read_models": _read_models,
    "directory": _directory,
    "scheduler": _scheduler,
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
