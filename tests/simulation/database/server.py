"""The simulated server: sessions, statements, notifications and faults."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

import psycopg

from store.log_tables import LogTables, Rows
from store.mapper import StoredRow
from store.tailer import CHANNEL
from tests.simulation.database.live_tables import LiveTables
from tests.simulation.database.read_tables import ReadTables
from tests.simulation.machine.loop import SimulatedLoop
from tests.simulation.machine.strands import Killed, current

if TYPE_CHECKING:
    from tests.simulation.database.session import Session

Statement = Callable[["Session", Any], Rows]

# The time after which a client gives up a silent server (tcp_user_timeout), and the server a silent client.
SILENCE_SECONDS = 10.0
CONNECT_SECONDS = 5.0


@dataclass
class Weather:
    """The probabilities of faults of a statement; `slow_seconds` is the maximum delay of a slow one."""

    lost_before: float = 0.0
    lost_after: float = 0.0
    slow: float = 0.0
    slow_seconds: float = 30.0
    notification_lost: float = 0.0


class Server:
    def __init__(self, loop: SimulatedLoop, dice: Random) -> None:
        self.loop = loop
        self.dice = dice
        self.weather = Weather()
        # A factor for all delays of about a millisecond.
        self.pace = 1.0
        self.away = False
        # Names of the processes that cannot reach the server.
        self.cut_off: set[str] = set()
        # Process -> seconds for which it is stopped before its next write reaches the server.
        self.held_up: dict[str, float] = {}
        self.sessions: dict[Session, None] = {}
        self.locks: dict[str, Session] = {}
        self.log = LogTables(loop.now)
        self.log.on_commit.append(self._notify_of)
        self.live = LiveTables(self)
        self.read = ReadTables(self)
        self._listening: dict[str, dict[Callable[[str], None], None]] = defaultdict(dict)

    # Connections

    def connect(self, session: Session) -> None:
        """Connect a session. Raises OperationalError while the server cannot be reached."""
        self._travel(session)
        if self.away:
            current().wait(CONNECT_SECONDS)
            raise psycopg.OperationalError("connection refused")
        self.sessions[session] = None

    def end_session(self, session: Session) -> None:
        """End a session: release its locks and drop its uncommitted writes."""
        session.dead = True
        session.unwritten.clear()
        self.sessions.pop(session, None)
        for name in [name for name, holder in self.locks.items() if holder is session]:
            del self.locks[name]
        self.read.release(session)

    def go_away(self) -> None:
        """Stop like a killed PostgreSQL: commits stay, all sessions end."""
        self.away = True
        for session in list(self.sessions):
            self.end_session(session)
        for listening in self._listening.values():
            for wake in list(listening):
                wake("")

    def come_back(self) -> None:
        self.away = False

    def cut(self, process: str) -> None:
        """Cut a process off from the server, which notices some time later."""
        self.cut_off.add(process)
        sessions = [session for session in self.sessions if session.process.name == process]
        for session in sessions:
            self.loop.call_later(SILENCE_SECONDS, self._gone, session)

    def _gone(self, session: Session) -> None:
        if session.process.name in self.cut_off:
            self.end_session(session)

    # Statements

    def answer(self, session: Session, statement: Statement, params: Any, *, writes: bool) -> Rows:
        """Answer a statement. Request or answer may be lost, which raises OperationalError."""
        self._travel(session)
        if writes and session.process.name in self.held_up:
            session.process.stopped_until = self.loop.seconds + self.held_up.pop(session.process.name)
            current().wait(0.0)
        if self.away or session.dead:
            self._lose(session)
        if self.dice.random() < self.weather.lost_before:
            self._lose(session)
        rows = statement(session, params)
        if writes:
            self._travel(session)
            if self.dice.random() < self.weather.lost_after:
                self._lose(session)
        return rows

    def at_once(self, session: Session, statement: Statement, params: Any) -> Rows:
        """Answer without delays, where no other process could tell the difference."""
        if session.dead:
            self._lose(session)
        return statement(session, params)

    def _travel(self, session: Session) -> None:
        """Wait for the network, mostly less than two milliseconds."""
        seconds = (0.0002 + self.dice.random() * 0.0015) * self.pace
        if self.weather.slow and self.dice.random() < self.weather.slow:
            seconds += self.dice.random() * self.weather.slow_seconds
        current().wait(seconds)
        if session.process.name in self.cut_off:
            current().wait(SILENCE_SECONDS)
            self._lose(session, at_server=False)

    def _lose(self, session: Session, *, at_server: bool = True) -> None:
        session.lost = True
        if at_server:
            self.end_session(session)
        if not session.process.alive:
            raise Killed
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    # LISTEN and NOTIFY

    def listen(self, channel: str, wake: Callable[[str], None]) -> None:
        self._listening[channel][wake] = None

    def unlisten(self, wake: Callable[[str], None]) -> None:
        for listening in self._listening.values():
            listening.pop(wake, None)

    def _notify_of(self, rows: Sequence[StoredRow]) -> None:
        """Notify each partition of its last new position, as `log.append` does."""
        last = {row.partition: row.position for row in rows}
        for partition, position in last.items():
            self.notify(CHANNEL, f"{position} {partition}")

    def notify(self, channel: str, payload: str = "") -> None:
        for wake in list(self._listening[channel]):
            if self.dice.random() >= self.weather.notification_lost:
                self.loop.call_later(0.0003 + self.dice.random() * 0.002, wake, payload)
