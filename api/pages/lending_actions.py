"""The actions that give a system to a person, and take it back: reservations and loans."""

from __future__ import annotations

from typing import Final

from api.pages.actions import REASON, Action, Facts
from api.pages.extension_actions import EXTEND_SYSTEM
from api.pages.form_fields import Fields, FormField, until_of
from api.pages.system_checks import checked
from api.rest.contract.query_values import MAX_NUMBER, whole_number
from api.rest.ports import PageParts
from api.use_cases import system_rights
from api.use_cases.lend_system import end_loan, lend_system
from api.use_cases.ports import RequestContext
from api.use_cases.reserve_system import ReservationRequest, reserve_system, return_system
from domain.directory.state import Directory
from domain.errors import Fault, FaultyInput
from domain.system.state import System
from store.requests import Committed

_UNTIL: Final = FormField("until", "Until", hint="a time such as 2026-11-29T18:00:00Z; empty for no end")
_TREE: Final = FormField("distro_tree", "Distro tree", hint="its number, to provision the system first")


async def _reserve(parts: PageParts, request: RequestContext, fqdn: str, fields: Fields) -> Committed | None:
    wanted = ReservationRequest(request.actor, until_of(fields), _tree(fields))
    return await reserve_system(parts, request, fqdn, wanted)


async def _return(parts: PageParts, request: RequestContext, fqdn: str, fields: Fields) -> Committed | None:
    return await return_system(parts, request, fqdn, fields["reason"])


async def _lend(parts: PageParts, request: RequestContext, fqdn: str, fields: Fields) -> Committed | None:
    return await lend_system(parts, request, fqdn, fields["user"], until_of(fields))


async def _end_loan(parts: PageParts, request: RequestContext, fqdn: str, fields: Fields) -> Committed | None:
    return await end_loan(parts, request, fqdn, fields["reason"])


def _tree(fields: Fields) -> int | None:
    """Return the number in the field `distro_tree`, None if it is empty. Raises FaultyInput."""
    text = fields.get("distro_tree")
    number = None if text is None else whole_number(text)
    if text is not None and (number is None or number > MAX_NUMBER):
        raise FaultyInput([Fault("distro_tree", "must be the number of a distro tree")])
    return number


def _require_may_reserve(directory: Directory, request: RequestContext, system: System) -> None:
    system_rights.require_may_reserve(directory, system, request.actor)


def _require_may_lend(directory: Directory, request: RequestContext, system: System) -> None:
    # The form may name any user, so the right to lend to oneself is not enough.
    system_rights.require_may_lend(directory, request, system, user="")


def _can_be_reserved(system: Facts) -> bool:
    """Return whether the state allows a reservation: only an idle system that is Manual or on loan."""
    is_for_people = system["condition"] == "Manual" or system["loaned_to"] is not None
    return is_for_people and system["user"] is None and system["recipe_id"] is None


_RESERVE: Final = Action(
    name="reserve",
    label="Reserve the system",
    effect="You alone have the system, and no recipe gets it, until you return it or the time is over.",
    is_possible=_can_be_reserved,
    require_may=checked(_require_may_reserve),
    perform=_reserve,
    fields=(_UNTIL, _TREE),
)
_RETURN: Final = Action(
    name="return",
    label="Return the system",
    is_possible=lambda system: system["user"] is not None,
    require_may=checked(system_rights.require_may_return),
    perform=_return,
    fields=(REASON,),
    ends=lambda system: f"It ends the reservation of {system['user']}.",
)
_LEND: Final = Action(
    name="lend",
    label="Lend the system",
    effect=(
        "Only the borrower may then use the system, by jobs or a reservation, until the loan ends. A"
        " recipe or a person that has it keeps it."
    ),
    is_possible=lambda system: system["condition"] != "Removed" and system["loaned_to"] is None,
    require_may=checked(_require_may_lend),
    perform=_lend,
    fields=(FormField("user", "User", is_required=True), _UNTIL),
)
_END_LOAN: Final = Action(
    name="end-loan",
    label="End the loan",
    is_possible=lambda system: system["loaned_to"] is not None,
    require_may=checked(system_rights.require_may_end_loan),
    perform=_end_loan,
    fields=(REASON,),
    ends=lambda system: f"It ends the loan to {system['loaned_to']}.",
)

LENDING_ACTIONS: Final = (_RESERVE, EXTEND_SYSTEM, _RETURN, _LEND, _END_LOAN)
