"""All processes by name, which can be started, killed, stopped, terminated and restarted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity
from tests.simulation.database.server import Server
from tests.simulation.machine.chance import Chance
from tests.simulation.machine.loop import SimulatedLoop
from tests.simulation.machine.strands import RUNNING, Process
from tests.simulation.service.serving import Serving
from tests.simulation.service.workers import ProjectorProcess, SchedulerProcess

Tell = Callable[[str, str], None]
Begin = Callable[[Process], Any]
MAX_SKEW_SECONDS = 2.0


@dataclass
class _Room:
    begin: Begin
    process: Process
    lives: Any


class ServiceProcesses:
    """The processes of a seed, two of each kind that may run twice.

    `failed` is called with uncaught errors.
    """

    def __init__(
        self, loop: SimulatedLoop, chance: Chance, tell: Tell, failed: Callable[[Process, str], None]
    ) -> None:
        self._loop = loop
        self._chance = chance
        self._tell = tell
        self._failed = failed
        self._rooms: dict[str, _Room] = {}

    def furnish(self, server: Server, partitions: Sequence[PartitionIdentity]) -> None:
        """Start the processes: two schedulers of each partition, two API processes, and two projectors."""
        for number in (1, 2):
            for identity in partitions:
                of = "" if identity == DEFAULT_PARTITION else f"{identity.name}-"
                self.add(f"scheduler-{of}{number}", partial(self._scheduler, identity))
            self.add(f"serve-{number}", lambda process: Serving(process, server, self._clock(process.name)))
            self.add(f"projector-{number}", ProjectorProcess)

    def _scheduler(self, identity: PartitionIdentity, process: Process) -> SchedulerProcess:
        return SchedulerProcess(process, identity, self._clock(process.name))

    def add(self, name: str, begin: Begin) -> None:
        self._rooms[name] = _Room(begin, self._process(name), None)
        self.begin(name)

    def outsider(self, name: str) -> Process:
        """Return a process without faults: of users, or of the preparation."""
        return self._process(name)

    @property
    def names(self) -> list[str]:
        return list(self._rooms)

    def serving(self) -> list[Serving]:
        return [room.lives for room in self._rooms.values() if isinstance(room.lives, Serving)]

    def schedulers(self) -> list[SchedulerProcess]:
        return [room.lives for room in self._rooms.values() if isinstance(room.lives, SchedulerProcess)]

    def process(self, name: str) -> Process:
        return self._rooms[name].process

    def begin(self, name: str) -> None:
        """Start a process unless it is running."""
        room = self._rooms[name]
        if room.lives is not None and room.process.alive:
            return
        if room.lives is not None:
            room.process.kill()
            room.process = self._process(name)
            self._tell(name, "begins again")
        RUNNING.set(room.process)
        room.lives = room.begin(room.process)

    def kill(self, name: str) -> None:
        self._tell(name, "is killed")
        self._rooms[name].process.kill()

    def stop(self, name: str, seconds: float) -> None:
        """Stop a process as SIGSTOP does: it continues later without notice."""
        self._tell(name, f"is stopped for {seconds:.0f} s")
        self._rooms[name].process.stopped_until = self._loop.seconds + seconds

    def terminate(self, name: str) -> None:
        self._tell(name, "is terminated")
        self._rooms[name].process.stopping = True

    def _process(self, name: str) -> Process:
        return Process(name, self._loop, self._failed)

    def _clock(self, name: str) -> Callable[[], datetime]:
        """Return a clock with a small constant error."""
        skew = timedelta(
            seconds=self._chance.stream("skew", name).uniform(-MAX_SKEW_SECONDS, MAX_SKEW_SECONDS)
        )
        return lambda: self._loop.now() + skew
