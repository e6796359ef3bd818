"""Changes of the link to a ticket about a system that is not Automated."""

from __future__ import annotations

from domain.errors import Refused
from domain.events import Decided
from domain.system.events import SystemTicketChanged
from domain.system.lifecycle import AUTOMATED
from domain.system.state import System


def change_ticket(system: System, ticket: str | None, reason: str | None) -> Decided:
    """Return the event of a new ticket, None to remove it; none without a change.

    Raises Refused for a ticket of an Automated system.
    """
    if system.ticket == ticket:
        return []
    if ticket is not None and system.condition == AUTOMATED:
        raise Refused(f"system {system.fqdn} is {AUTOMATED}; a ticket needs another condition")
    return [(system.subject, SystemTicketChanged(ticket=ticket, reason=reason))]
