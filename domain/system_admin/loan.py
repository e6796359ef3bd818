"""Loans: only the borrower may use a lent system until the loan ends (design section 2)."""

from __future__ import annotations

from dataclasses import replace

from domain.errors import Refused
from domain.events import Decided
from domain.system.events import SystemLoaned, SystemLoanEnded
from domain.system.lifecycle import FOR_PEOPLE
from domain.system.state import Loan, System
from domain.system_admin.reservation import end


def lend(system: System, loan: Loan, until: str | None) -> Decided:
    """Return the event of a loan, none if an equal loan exists. A present recipe or reservation continues.

    `until` is the end of the loan as text. Raises Refused for a Removed system, or one lent to another user.
    """
    if system.loan == loan:
        return []
    if system.loan is not None and system.loan.user != loan.user:
        raise Refused(f"system {system.fqdn} is on loan to {system.loan.user}; end that loan first")
    if system.condition == "Removed":
        raise Refused(f"system {system.fqdn} is Removed")
    return [(system.subject, SystemLoaned(user=loan.user, until=until))]


def end_loan(system: System, reason: str) -> Decided:
    """Return the events of the end of a loan, none without a loan. A recipe that has the system continues.

    A reservation by the borrower ends too, unless the system is Manual and so allows it without a loan.
    """
    if system.loan is None:
        return []
    ended: Decided = [(system.subject, SystemLoanEnded(reason=reason))]
    if system.condition == FOR_PEOPLE or not _is_reserved_by(system, system.loan.user):
        return ended
    return [*ended, *end(replace(system, loan=None), reason)]


def give_back(system: System, user: str, reason: str) -> Decided:
    """Return the events that end the loan and the reservation that a user has of a system."""
    ended: Decided = []
    if system.loan is not None and system.loan.user == user:
        ended.append((system.subject, SystemLoanEnded(reason=reason)))
    if _is_reserved_by(system, user):
        ended += end(replace(system, loan=None), reason)
    return ended


def _is_reserved_by(system: System, user: str) -> bool:
    return system.reservation is not None and system.reservation.user == user
