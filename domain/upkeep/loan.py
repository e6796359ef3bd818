"""A system is lent to a person, who alone has the use of it until the loan ends (design section 2)."""

from __future__ import annotations

from dataclasses import replace

from domain.errors import Refused
from domain.events import Decided
from domain.system.events import SystemLoaned, SystemLoanEnded
from domain.system.lifecycle import FOR_PEOPLE
from domain.system.state import Loan, System
from domain.upkeep.reservation import end


def lend(system: System, loan: Loan, until: str | None) -> Decided:
    """`until` is the end of the loan as it is written; nothing if it is lent just so. Raises Refused.

    Whoever has it at the moment goes on.
    """
    if system.loan == loan:
        return []
    if system.loan is not None and system.loan.user != loan.user:
        raise Refused(f"{system.subject} is on loan to {system.loan.user}: that loan has to end first")
    if system.condition == "Removed":
        raise Refused(f"{system.subject} is Removed")
    return [(system.subject, SystemLoaned(user=loan.user, until=until))]


def end_loan(system: System, reason: str) -> Decided:
    """Nothing if nobody has it on loan. A recipe that runs there goes on.

    A reservation that nothing but the loan allowed ends with it.
    """
    if system.loan is None:
        return []
    ended: Decided = [(system.subject, SystemLoanEnded(reason=reason))]
    if system.condition == FOR_PEOPLE or not _is_reserved_by(system, system.loan.user):
        return ended
    return [*ended, *end(replace(system, loan=None), reason)]


def give_back(system: System, user: str, reason: str) -> Decided:
    """Whatever a user has of a system goes back: the loan, and the reservation."""
    ended: Decided = []
    if system.loan is not None and system.loan.user == user:
        ended.append((system.subject, SystemLoanEnded(reason=reason)))
    if _is_reserved_by(system, user):
        ended += end(replace(system, loan=None), reason)
    return ended


def _is_reserved_by(system: System, user: str) -> bool:
    return system.reservation is not None and system.reservation.user == user
