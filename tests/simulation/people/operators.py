"""Operators: systems break, are mended, drained, moved, lent; labs are disabled, trees come and go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any

from api.client.problems import Problem, Unreachable
from api.services import Request, Services
from api.use_cases.change_document import enable_lab_controller
from api.use_cases.change_system import SystemChange, change_system
from api.use_cases.move_system import move_system
from api.use_cases.put_document import put_document
from api.use_cases.remove_document import remove_document
from api.use_cases.reserve_system import Wanted, reserve_system, return_system
from tests.simulation.judged.ledger import Ledger
from tests.simulation.machine.strands import current
from tests.simulation.service.network import Asker

CONDITIONS = ("Automated", "Automated", "Automated", "Manual", "Broken", "Removed")
Act = tuple[str, Callable[..., Any]]


class Operator:
    """`run` in a strand of its own. What they undo they mostly undo soon."""

    def __init__(
        self,
        asker: Asker,
        ledger: Ledger,
        dice: Random,
        lab: dict[str, Any],
        tell: Callable[[str, str], None],
    ) -> None:
        self.leaving = False
        self._asker = asker
        self._ledger = ledger
        self._dice = dice
        self._tell = tell
        self._systems = [each["fqdn"] for each in lab["systems"]]
        self._labs = [each["fqdn"] for each in lab["lab_controllers"]]
        self._pools = [each["name"] for each in lab["pools"]]
        self._trees = lab["distro_trees"]

    def run(self, per_hour: float) -> None:
        kinds = (self._condition, self._condition, self._drain, self._describe, self._move, self._pool,
                 self._lab, self._tree, self._reservation)  # fmt: skip
        while per_hour:
            current().wait(self._dice.expovariate(per_hour / 3600))
            if self.leaving:
                return
            for seconds, (what, use_case) in self._dice.choice(kinds)():
                current().wait(seconds)
                self._ask(what, use_case)

    def leave(self) -> None:
        """Everything is to be had again as far as it is theirs to say."""
        self.leaving = True

    def tidy_up(self) -> None:
        for name in self._labs:
            self._ask(f"enables {name}", partial(enable_lab_controller, name=name, enabled=True))
        for fqdn in self._systems:
            self._ask(f"undrains {fqdn}", _changing(fqdn, SystemChange(draining=False)))

    def _later(self) -> float:
        return self._dice.expovariate(1 / 1800)

    def _condition(self) -> Iterator[tuple[float, Act]]:
        fqdn, condition = self._dice.choice(self._systems), self._dice.choice(CONDITIONS)
        yield (
            0.0,
            (f"makes {fqdn} {condition}", _changing(fqdn, SystemChange(condition=condition, reason=""))),
        )
        if self._dice.random() < 0.8:
            again = SystemChange(condition="Automated", reason="mended")
            yield self._later(), (f"makes {fqdn} Automated", _changing(fqdn, again))

    def _drain(self) -> Iterator[tuple[float, Act]]:
        fqdn = self._dice.choice(self._systems)
        yield 0.0, (f"drains {fqdn}", _changing(fqdn, SystemChange(draining=True, reason="a fan")))
        yield self._later(), (f"undrains {fqdn}", _changing(fqdn, SystemChange(draining=False)))

    def _describe(self) -> Iterator[tuple[float, Act]]:
        fqdn, memory = self._dice.choice(self._systems), 1024 * self._dice.choice((4, 64, 256))
        yield (
            0.0,
            (f"gives {fqdn} {memory} MB", _changing(fqdn, SystemChange(properties={"memory_mb": memory}))),
        )

    def _move(self) -> Iterator[tuple[float, Act]]:
        fqdn, lab = self._dice.choice(self._systems), self._dice.choice(self._labs)
        yield 0.0, (f"moves {fqdn} to {lab}", _changing(fqdn, SystemChange(lab_controller=lab)))

    def _pool(self) -> Iterator[tuple[float, Act]]:
        fqdn, pool = self._dice.choice(self._systems), self._dice.choice(self._pools)
        member = self._dice.random() < 0.5
        word = "puts {} into {}" if member else "takes {} out of {}"
        act = partial(move_system, pool=pool, fqdn=fqdn, member=member)
        yield 0.0, (word.format(fqdn, pool), act)

    def _lab(self) -> Iterator[tuple[float, Act]]:
        name = self._dice.choice(self._labs)
        yield 0.0, (f"disables {name}", partial(enable_lab_controller, name=name, enabled=False))
        yield self._later(), (f"enables {name}", partial(enable_lab_controller, name=name, enabled=True))

    def _tree(self) -> Iterator[tuple[float, Act]]:
        tree = self._dice.choice(self._trees)
        name, document = str(tree["id"]), {key: tree[key] for key in tree if key != "id"}
        yield 0.0, (f"removes tree {name}", partial(remove_document, kind="distro-tree", name=name))
        if self._dice.random() < 0.8:
            again = partial(put_document, kind="distro-tree", name=name, document=document)
            yield self._later(), (f"puts tree {name}", again)

    def _reservation(self) -> Iterator[tuple[float, Act]]:
        fqdn, hours = self._dice.choice(self._systems), self._dice.choice((None, 1, 6))
        tree_id = self._dice.choice((None, self._dice.choice(self._trees)["id"]))
        manual = SystemChange(condition="Manual", reason="for people")
        yield 0.0, (f"makes {fqdn} Manual", _changing(fqdn, manual))

        async def reserve(services: Services, request: Request) -> Any:
            until = None if hours is None else services.clock() + timedelta(hours=hours)
            wanted = Wanted(request.actor, until, tree_id)
            return await reserve_system(services, request, fqdn, wanted)

        yield self._later() / 5, (f"reserves {fqdn}", reserve)
        yield self._later(), (f"returns {fqdn}", partial(return_system, fqdn=fqdn))
        again = SystemChange(condition="Automated", reason="for recipes again")
        yield self._later() / 5, (f"makes {fqdn} Automated", _changing(fqdn, again))

    def _ask(self, what: str, use_case: Callable[..., Any]) -> None:
        async def operation(services: Services, request: Request) -> Any:
            return await use_case(services, request)

        try:
            done = self._asker.ask(operation)
        except (Problem, Unreachable) as error:
            self._tell(self._asker.actor, f"{what}: {error}")
        else:
            self._ledger.committed(what, done)
            self._tell(self._asker.actor, what if done is None else f"{what}: at {done.position}")


def _changing(fqdn: str, change: SystemChange) -> Callable[..., Any]:
    return partial(change_system, fqdn=fqdn, change=change, may=lambda _: None)
