"""An operator: breaks, repairs, drains, moves and reserves systems, disables labs, removes distro trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

from api.parts import Parts
from api.use_cases.change_system import NewSystemValues, change_system
from api.use_cases.move_system import move_system
from api.use_cases.ports import RequestContext
from api.use_cases.put_document import change_lab_controller, put_document
from api.use_cases.remove_document import remove_document
from api.use_cases.reserve_system import ReservationRequest, reserve_system, return_system
from tests.simulation.people.actor import Act, Actor

CONDITIONS = ("Automated", "Automated", "Automated", "Manual", "Broken", "Removed")


class Operator(Actor):
    """Operates a lab, and mostly undoes each change soon."""

    def kinds(self) -> tuple[Callable[[], Iterator[tuple[float, Act]]], ...]:
        return (self._condition, self._condition, self._drain, self._describe, self._move, self._pool,
                self._lab, self._tree, self._reservation)  # fmt: skip

    def tidy_up(self) -> None:
        for name in self._labs:
            self.ask(f"enables {name}", partial(change_lab_controller, name=name, changes={"enabled": True}))
        for fqdn in self.systems:
            self.ask(f"undrains {fqdn}", _changing(fqdn, NewSystemValues(draining=False)))

    @property
    def _labs(self) -> list[str]:
        return [each["fqdn"] for each in self.lab["lab_controllers"]]

    def _condition(self) -> Iterator[tuple[float, Act]]:
        fqdn, condition = self.dice.choice(self.systems), self.dice.choice(CONDITIONS)
        yield (
            0.0,
            (f"makes {fqdn} {condition}", _changing(fqdn, NewSystemValues(condition=condition, reason=""))),
        )
        if self.dice.random() < 0.8:
            again = NewSystemValues(condition="Automated", reason="mended")
            yield self.later(), (f"makes {fqdn} Automated", _changing(fqdn, again))

    def _drain(self) -> Iterator[tuple[float, Act]]:
        fqdn = self.dice.choice(self.systems)
        yield 0.0, (f"drains {fqdn}", _changing(fqdn, NewSystemValues(draining=True, reason="a fan")))
        yield self.later(), (f"undrains {fqdn}", _changing(fqdn, NewSystemValues(draining=False)))

    def _describe(self) -> Iterator[tuple[float, Act]]:
        fqdn, memory = self.dice.choice(self.systems), 1024 * self.dice.choice((4, 64, 256))
        yield (
            0.0,
            (f"gives {fqdn} {memory} MB", _changing(fqdn, NewSystemValues(properties={"memory_mb": memory}))),
        )

    def _move(self) -> Iterator[tuple[float, Act]]:
        fqdn, lab = self.dice.choice(self.systems), self.dice.choice(self._labs)
        yield 0.0, (f"moves {fqdn} to {lab}", _changing(fqdn, NewSystemValues(lab_controller=lab)))

    def _pool(self) -> Iterator[tuple[float, Act]]:
        fqdn, pool = self.dice.choice(self.systems), self.dice.choice(self.lab["pools"])["name"]
        member = self.dice.random() < 0.5
        word = "puts {} into {}" if member else "takes {} out of {}"
        act = partial(move_system, pool=pool, fqdn=fqdn, member=member)
        yield 0.0, (word.format(fqdn, pool), act)

    def _lab(self) -> Iterator[tuple[float, Act]]:
        name = self.dice.choice(self._labs)
        yield 0.0, (f"disables {name}", partial(change_lab_controller, name=name, changes={"enabled": False}))
        yield (
            self.later(),
            (f"enables {name}", partial(change_lab_controller, name=name, changes={"enabled": True})),
        )

    def _tree(self) -> Iterator[tuple[float, Act]]:
        tree = self.dice.choice(self.lab["distro_trees"])
        name, document = str(tree["id"]), {key: tree[key] for key in tree if key != "id"}
        yield 0.0, (f"removes tree {name}", partial(remove_document, kind="distro-tree", name=name))
        if self.dice.random() < 0.8:
            again = partial(put_document, kind="distro-tree", name=name, document=document)
            yield self.later(), (f"puts tree {name}", again)

    def _reservation(self) -> Iterator[tuple[float, Act]]:
        fqdn, hours = self.dice.choice(self.systems), self.dice.choice((None, 1, 6))
        tree_id = self.dice.choice((None, self.dice.choice(self.lab["distro_trees"])["id"]))
        manual = NewSystemValues(condition="Manual", reason="for people")
        yield 0.0, (f"makes {fqdn} Manual", _changing(fqdn, manual))

        async def reserve(services: Parts, request: RequestContext) -> Any:
            until = None if hours is None else services.clock() + timedelta(hours=hours)
            wanted = ReservationRequest(request.actor, until, tree_id)
            return await reserve_system(services, request, fqdn, wanted)

        yield self.later() / 5, (f"reserves {fqdn}", reserve)
        yield self.later(), (f"returns {fqdn}", partial(return_system, fqdn=fqdn))
        again = NewSystemValues(condition="Automated", reason="for recipes again")
        yield self.later() / 5, (f"makes {fqdn} Automated", _changing(fqdn, again))


def _changing(fqdn: str, change: NewSystemValues) -> Callable[..., Any]:
    return partial(change_system, fqdn=fqdn, change=change, require_may=lambda _: None)
