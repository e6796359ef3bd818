"""A system is lent to a person, and the loan ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from api.services import Request, Services, written
from api.use_cases.commit import commit_gathered
from api.use_cases.system_rights import (
    require_may_end_loan,
    require_may_lend,
    require_viewed,
    rests_on,
)
from domain.errors import Fault, FaultyInput, Unknown
from domain.events import Decided
from domain.gathered import Gathered
from domain.names import called, unknown_name
from domain.system.state import Loan, System
from domain.upkeep import loan as upkeep
from store.requests import Committed


async def lend_system(
    services: Services, request: Request, fqdn: str, user: str, until: datetime | None
) -> Committed | None:
    """`until` None: without an end. None when it is lent just so.

    Raises FaultyInput for a user nobody knows and a time that is over, Unknown, Stale, NotPermitted, and
    Refused for a system that is lent to somebody else, or Removed.
    """
    if _faults(services, user, until):
        await services.feed.catch_up()

    def decide(gathered: Gathered) -> Decided:
        system = _of(gathered, fqdn)
        require_may_lend(services, request, system, user)
        if faults := _faults(services, user, until):
            raise FaultyInput(faults)
        return upkeep.lend(system, Loan(user, until), None if until is None else written(until))

    def beside(gathered: Gathered) -> Iterator[str]:
        # Who is removed in this moment must not be promised a system.
        yield f"user/{user}"
        yield from rests_on(services, _of(gathered, fqdn), request.actor)

    return await _done(services, request, fqdn, decide, beside)


async def end_loan(services: Services, request: Request, fqdn: str) -> Committed | None:
    """None when nobody has it on loan. Raises Unknown, Stale, NotPermitted."""

    def decide(gathered: Gathered) -> Decided:
        system = _of(gathered, fqdn)
        require_viewed(services, request, system)
        if system.loan is not None:
            require_may_end_loan(services, request, system)
        return upkeep.end_loan(system, f"ended by {request.actor}")

    def beside(gathered: Gathered) -> Iterator[str]:
        return rests_on(services, _of(gathered, fqdn), request.actor)

    return await _done(services, request, fqdn, decide, beside)


async def _done(
    services: Services,
    request: Request,
    fqdn: str,
    decide: Callable[[Gathered], Decided],
    beside: Callable[[Gathered], Iterator[str]],
) -> Committed | None:
    done = await commit_gathered(services, request, (f"system/{fqdn}",), decide, beside)
    if done is not None:
        # A borrower may view what others may not.
        await services.feed.reach(done.position)
    return done


def _of(gathered: Gathered, fqdn: str) -> System:
    system = gathered.system(fqdn)
    if system is None:
        raise Unknown(called("system", fqdn))
    return system


def _faults(services: Services, user: str, until: datetime | None) -> list[Fault]:
    faults = []
    if services.feed.directory.get("user", user) is None:
        faults.append(Fault("user", unknown_name("user", user)))
    if until is not None and until <= services.clock():
        faults.append(Fault("until", "is over"))
    return faults
