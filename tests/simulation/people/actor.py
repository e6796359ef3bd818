"""Base of users who make changes and mostly undo them soon."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from api.client.problems import ServerProblem, Unreachable
from api.parts import Parts
from api.use_cases.ports import RequestContext
from domain.partition_numbers import PartitionIdentity
from tests.simulation.checks.ledger import Ledger
from tests.simulation.machine.strands import current
from tests.simulation.service.network import Asker

Act = tuple[str, Callable[..., Any]]


class Actor:
    """Base: `run` in a strand of its own until `leave`."""

    def __init__(
        self,
        asker: Asker,
        ledger: Ledger,
        dice: Random,
        lab: dict[str, Any],
        tell: Callable[[str, str], None],
        partitions: Sequence[PartitionIdentity],
    ) -> None:
        self.leaving = False
        self.dice = dice
        self.lab = lab
        self.systems = [each["fqdn"] for each in lab["systems"]]
        self.partitions = [identity.name for identity in partitions]
        self._asker = asker
        self._ledger = ledger
        self._tell = tell

    def kinds(self) -> tuple[Callable[[], Iterator[tuple[float, Act]]], ...]:
        """Return the kinds of acts. Each yields use cases with the delay before each."""
        raise NotImplementedError

    def tidy_up(self) -> None:
        """Undo the changes that keep systems from recipes."""

    def run(self, per_hour: float) -> None:
        while per_hour:
            current().wait(self.dice.expovariate(per_hour / 3600))
            if self.leaving:
                return
            for seconds, (what, use_case) in self.dice.choice(self.kinds())():
                current().wait(seconds)
                self.ask(what, use_case)

    def later(self) -> float:
        return self.dice.expovariate(1 / 1800)

    def ask(self, what: str, use_case: Callable[..., Any]) -> None:
        async def operation(services: Parts, request: RequestContext) -> Any:
            return await use_case(services, request)

        try:
            done = self._asker.ask(operation)
        except (ServerProblem, Unreachable) as error:
            self._tell(self._asker.actor, f"{what}: {error}")
        else:
            self._ledger.committed(what, done)
            self._tell(self._asker.actor, what if done is None else f"{what}: at {done.position}")
