"""The actions on systems."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Final

from api.pages.actions import REASON, Action, ActionSubject, Facts
from api.pages.form_fields import Fields, FormField, fields_of_model
from api.rest.contract.inputs.access import SystemPolicy
from api.rest.contract.query_values import MAX_NUMBER, moment, whole_number
from api.rest.ports import PageParts
from api.rest.resources.policies import system_policy_answer
from api.rest.resources.systems import system_answer
from api.rest.views import View
from api.use_cases import system_rights
from api.use_cases.change_policy import change_system_policy
from api.use_cases.change_system import NewSystemValues, change_system
from api.use_cases.lend_system import end_loan, lend_system
from api.use_cases.ports import RequestContext
from api.use_cases.reserve_system import ReservationRequest, reserve_system, return_system
from domain.access.policy import EDIT_POLICY
from domain.directory.state import Directory
from domain.errors import Fault, FaultyInput, Unknown, display_name
from domain.system.lifecycle import CONDITIONS
from domain.system.state import System
from store.requests import Committed

Check = Callable[[Directory, RequestContext, System], None]
"""A check of a right to a system, which raises NotPermitted."""

_UNTIL: Final = FormField("until", "Until", hint="a time such as 2026-11-29T18:00:00Z; empty for no end")
_TREE: Final = FormField("distro_tree", "Distro tree", hint="its number, to provision the system first")


async def _change_condition(
    parts: PageParts, request: RequestContext, fqdn: str, fields: Fields
) -> Committed | None:
    change = NewSystemValues(condition=fields["condition"], reason=fields["reason"])
    return await _change(parts, request, fqdn, change)


async def _drain(parts: PageParts, request: RequestContext, fqdn: str, fields: Fields) -> Committed | None:
    return await _change(parts, request, fqdn, NewSystemValues(draining=True, reason=fields["reason"]))


async def _undrain(parts: PageParts, request: RequestContext, fqdn: str, _: Fields) -> Committed | None:
    return await _change(parts, request, fqdn, NewSystemValues(draining=False))


async def _change(
    parts: PageParts, request: RequestContext, fqdn: str, change: NewSystemValues
) -> Committed | None:
    require_may = partial(system_rights.require_may_change, parts.feed.directory, request)
    return await change_system(parts, request, fqdn, change, require_may)


async def _reserve(parts: PageParts, request: RequestContext, fqdn: str, fields: Fields) -> Committed | None:
    wanted = ReservationRequest(request.actor, _until(fields), _tree(fields))
    return await reserve_system(parts, request, fqdn, wanted)


async def _return(parts: PageParts, request: RequestContext, fqdn: str, fields: Fields) -> Committed | None:
    return await return_system(parts, request, fqdn, fields["reason"])


async def _lend(parts: PageParts, request: RequestContext, fqdn: str, fields: Fields) -> Committed | None:
    return await lend_system(parts, request, fqdn, fields["user"], _until(fields))


async def _end_loan(parts: PageParts, request: RequestContext, fqdn: str, fields: Fields) -> Committed | None:
    return await end_loan(parts, request, fqdn, fields["reason"])


async def _change_policy(
    parts: PageParts, request: RequestContext, fqdn: str, fields: Fields
) -> Committed | None:
    return await change_system_policy(parts, request, fqdn, fields["entries"], fields["active_pool"])


async def _answer(parts: PageParts, view: View, fqdn: str) -> tuple[int, Facts]:
    """Return the version of a system, and the answer about it with its access policy."""
    version, system = await system_answer(parts, view, fqdn)
    _, policy = await system_policy_answer(parts, view, fqdn)
    return version, {**system, **policy}


def _until(fields: Fields) -> datetime | None:
    """Return the time in the field `until`, None if it is empty. Raises FaultyInput."""
    text = fields.get("until")
    found = None if text is None else moment(text)
    if text is not None and found is None:
        raise FaultyInput([Fault("until", "must be a time with a zone, such as 2026-11-29T18:00:00Z")])
    return found


def _tree(fields: Fields) -> int | None:
    """Return the number in the field `distro_tree`, None if it is empty. Raises FaultyInput."""
    text = fields.get("distro_tree")
    number = None if text is None else whole_number(text)
    if text is not None and (number is None or number > MAX_NUMBER):
        raise FaultyInput([Fault("distro_tree", "must be the number of a distro tree")])
    return number


def _load(parts: PageParts, fqdn: str) -> System:
    """Return the present system. Blocking. Raises Unknown."""
    subject = f"system/{fqdn}"
    system = parts.aggregates.load([subject]).get(subject)
    if not isinstance(system, System):
        raise Unknown(display_name("system", fqdn))
    return system


def _checked(check: Check) -> Callable[[PageParts, RequestContext, System], None]:
    """Return a check of an action, which raises Unknown for a hidden system."""

    def require_may(parts: PageParts, request: RequestContext, system: System) -> None:
        system_rights.require_viewed(parts.feed.directory, request, system)
        check(parts.feed.directory, request, system)

    return require_may


def _require_may_reserve(directory: Directory, request: RequestContext, system: System) -> None:
    system_rights.require_may_reserve(directory, system, request.actor)


def _require_may_lend(directory: Directory, request: RequestContext, system: System) -> None:
    # The form may name any user, so the right to lend to oneself is not enough.
    system_rights.require_may_lend(directory, request, system, user="")


def _require_may_change_policy(directory: Directory, request: RequestContext, system: System) -> None:
    system_rights.require_permission(directory, request, system, EDIT_POLICY)


_may_change: Final = _checked(system_rights.require_may_change)


def _can_be_reserved(system: Facts) -> bool:
    """Return whether the state allows a reservation: only an idle system that is Manual or on loan."""
    is_for_people = system["condition"] == "Manual" or system["loaned_to"] is not None
    return is_for_people and system["user"] is None and system["recipe_id"] is None


def _affected_use(system: Facts) -> str:
    recipe_id = system["recipe_id"]
    if system["user"] is not None:
        return f"{system['user']} has reserved the system. The condition Removed ends the reservation."
    if recipe_id is None:
        return "No recipe has the system now."
    return (
        f"Recipe {recipe_id} has the system. The conditions Broken and Removed withdraw the system from a"
        " recipe that has not started, and abort one that has; Manual changes nothing for it."
    )


_CHANGE_CONDITION: Final = Action(
    name="condition",
    label="Change the condition",
    require_may=_may_change,
    perform=_change_condition,
    fields=(FormField("condition", "Condition", choices=CONDITIONS, is_required=True), REASON),
    ends=_affected_use,
)
_DRAIN: Final = Action(
    name="drain",
    label="Drain the system",
    is_possible=lambda system: not system["draining"],
    require_may=_may_change,
    perform=_drain,
    fields=(REASON,),
)
_UNDRAIN: Final = Action(
    name="undrain",
    label="Undrain the system",
    is_possible=lambda system: system["draining"],
    require_may=_may_change,
    perform=_undrain,
)
_RESERVE: Final = Action(
    name="reserve",
    label="Reserve the system",
    is_possible=_can_be_reserved,
    require_may=_checked(_require_may_reserve),
    perform=_reserve,
    fields=(_UNTIL, _TREE),
)
_RETURN: Final = Action(
    name="return",
    label="Return the system",
    is_possible=lambda system: system["user"] is not None,
    require_may=_checked(system_rights.require_may_return),
    perform=_return,
    fields=(REASON,),
    ends=lambda system: f"It ends the reservation of {system['user']}.",
)
_LEND: Final = Action(
    name="lend",
    label="Lend the system",
    is_possible=lambda system: system["condition"] != "Removed" and system["loaned_to"] is None,
    require_may=_checked(_require_may_lend),
    perform=_lend,
    fields=(FormField("user", "User", is_required=True), _UNTIL),
)
_END_LOAN: Final = Action(
    name="end-loan",
    label="End the loan",
    is_possible=lambda system: system["loaned_to"] is not None,
    require_may=_checked(system_rights.require_may_end_loan),
    perform=_end_loan,
    fields=(REASON,),
    ends=lambda system: f"It ends the loan to {system['loaned_to']}.",
)

_CHANGE_POLICY: Final = Action(
    name="policy",
    label="Change the access policy",
    require_may=_checked(_require_may_change_policy),
    perform=_change_policy,
    fields=fields_of_model(
        SystemPolicy,
        entries="the whole policy as JSON",
        active_pool="the pool whose policy applies instead, but for the permission to submit",
    ),
    model=SystemPolicy,
)

SYSTEM: Final = ActionSubject(
    "system",
    "systems",
    _answer,
    (_CHANGE_CONDITION, _DRAIN, _UNDRAIN, _RESERVE, _RETURN, _LEND, _END_LOAN, _CHANGE_POLICY),
    _load,
)
