"""The simulated database without a service, for tests of its promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from tests.simulation.database.mapping import SharedMapper
from tests.simulation.database.server import Server
from tests.simulation.database.session import Datastore, Session
from tests.simulation.machine.chance import Chance
from tests.simulation.machine.loop import SimulatedLoop
from tests.simulation.machine.stand_ins import stand_ins
from tests.simulation.machine.strands import RUNNING, Process, in_strand

Result = TypeVar("Result")


class BareDatabase:
    def __init__(self) -> None:
        self.loop = SimulatedLoop()
        self.loop.in_strand = in_strand
        self.server = Server(self.loop, Chance(1).stream("database"))
        self.failures: list[str] = []

    def process(self, name: str) -> Process:
        return Process(name, self.loop, lambda _, trace: self.failures.append(trace))

    def run(self, work: Callable[[], Result], process: Process | None = None) -> Result:
        """Run work in a strand of a process, and raise its errors."""
        RUNNING.set(process or self.process("test"))

        async def ran() -> Result:
            result: Result = await in_strand(work)
            return result

        return self.loop.run_until_complete(ran())


@contextmanager
def bare_database() -> Iterator[BareDatabase]:
    made = BareDatabase()
    connect, datastore = (lambda _: Session(made.server)), partial(Datastore, made.server)
    try:
        with stand_ins(made.loop, connect, datastore, SharedMapper):
            yield made
    finally:
        made.loop.close()
