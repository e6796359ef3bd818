"""A user who changes access: policies, loans and members of groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

from api.parts import Parts
from api.use_cases.change_policy import change_pool_policy, change_system_policy
from api.use_cases.lend_system import end_loan, lend_system
from api.use_cases.ports import RequestContext
from api.use_cases.put_document import put_document
from api.use_cases.reserve_system import ReservationRequest, reserve_system, return_system
from domain.priority import Priority
from tests.simulation.people.actor import Act, Actor


class AccessManager(Actor):
    """Changes access; `run` in a strand of its own."""

    def kinds(self) -> tuple[Callable[[], Iterator[tuple[float, Act]]], ...]:
        return self._pool_policy, self._own_policy, self._loan, self._loan, self._group

    def tidy_up(self) -> None:
        for fqdn in self.systems:
            self.ask(f"ends the loan of {fqdn}", partial(end_loan, fqdn=fqdn))

    def _pool_policy(self) -> Iterator[tuple[float, Act]]:
        pool = self.dice.choice(self.lab["pools"])["name"]
        yield (
            0.0,
            (f"opens {pool} to others", partial(change_pool_policy, pool=pool, entries=self._entries())),
        )

    def _own_policy(self) -> Iterator[tuple[float, Act]]:
        fqdn, entries = self.dice.choice(self.systems), self._entries()
        change = partial(change_system_policy, fqdn=fqdn, entries=entries, active_pool=None)
        yield 0.0, (f"opens {fqdn} to others", change)

    def _loan(self) -> Iterator[tuple[float, Act]]:
        """Lend a system. Some borrowers reserve it, and some loans are never ended."""
        fqdn, user = self.dice.choice(self.systems), self.dice.choice(self.lab["users"])["name"]
        hours = self.dice.choice((None, 1, 4))

        async def lend(services: Parts, request: RequestContext) -> Any:
            until = None if hours is None else services.clock() + timedelta(hours=hours)
            return await lend_system(services, request, fqdn, user, until)

        yield 0.0, (f"lends {fqdn} to {user}", lend)
        if self.dice.random() < 0.3:
            reserve = partial(reserve_system, fqdn=fqdn, wanted=ReservationRequest(user, None, None))
            yield self.later() / 5, (f"reserves {fqdn} for {user}", reserve)
            yield self.later() / 5, (f"returns {fqdn}", partial(return_system, fqdn=fqdn))
        if hours is None or self.dice.random() < 0.5:
            yield self.later(), (f"ends the loan of {fqdn}", partial(end_loan, fqdn=fqdn))

    def _group(self) -> Iterator[tuple[float, Act]]:
        """Take a user out of a group, and put them back."""
        group = self.dice.choice(self.lab["groups"])
        document = {"owners": group["owners"], "members": group["members"]}
        left = self.dice.choice(group["members"])
        without = {field: [name for name in names if name != left] for field, names in document.items()}
        for seconds, now in ((0.0, without), (self.later(), document)):
            put = partial(put_document, kind="group", name=group["name"], document=now)
            yield seconds, (f"says who is in {group['name']}", put)

    def _entries(self) -> list[dict[str, Any]]:
        whom = (
            {"everybody": True},
            {"everybody": True},
            {"group": self.dice.choice(self.lab["groups"])["name"]},
            {"user": self.dice.choice(self.lab["users"])["name"]},
        )
        return [self._entry(who) for who in self.dice.sample(whom, self.dice.randrange(1, 4))]

    def _entry(self, who: dict[str, Any]) -> dict[str, Any]:
        maximum = self.dice.choice(list(Priority)).name
        return {"permission": "submit", "maximum_effective_priority": maximum, **who}
