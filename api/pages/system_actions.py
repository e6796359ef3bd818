"""The actions on systems."""

from __future__ import annotations

from functools import partial
from typing import Final

from api.pages.actions import REASON, Action, ActionSubject, Facts
from api.pages.form_fields import DESPITE_MAINTENANCE, Fields, FormField, fields_of_model
from api.pages.lending_actions import LENDING_ACTIONS
from api.pages.power_actions import POWER_ACTIONS, shown_power
from api.pages.system_checks import checked, load_system
from api.rest.contract.inputs.access import SystemPolicy
from api.rest.contract.inputs.systems import NewCondition, NewNote
from api.rest.contract.query_values import whole_number
from api.rest.paging import PageAt
from api.rest.ports import PageParts
from api.rest.resources.policies import system_policy_answer
from api.rest.resources.system_notes import BEFORE_ALL, note_list
from api.rest.resources.systems import system_answer
from api.rest.views import View
from api.use_cases import system_rights
from api.use_cases.change_policy import change_system_policy
from api.use_cases.change_system import NewSystemValues, change_system
from api.use_cases.ports import RequestContext
from api.use_cases.system_notes import add_note, remove_note
from domain.access.policy import EDIT_POLICY
from domain.directory.state import Directory
from domain.errors import Fault, FaultyInput
from domain.system.lifecycle import AUTOMATED
from domain.system.state import System
from store.requests import Committed


async def _change_condition(
    parts: PageParts, request: RequestContext, fqdn: str, fields: Fields
) -> Committed | None:
    condition, ticket = fields["condition"], fields.get("ticket") or ""
    change = NewSystemValues(
        condition=condition, ticket=None if condition == AUTOMATED else ticket, reason=fields["reason"]
    )
    return await _change(parts, request, fqdn, change)


async def _drain(parts: PageParts, request: RequestContext, fqdn: str, fields: Fields) -> Committed | None:
    return await _change(parts, request, fqdn, NewSystemValues(draining=True, reason=fields["reason"]))


async def _undrain(parts: PageParts, request: RequestContext, fqdn: str, fields: Fields) -> Committed | None:
    despite = fields.get(DESPITE_MAINTENANCE.name) == "yes"
    return await _change(parts, request, fqdn, NewSystemValues(draining=False, despite_maintenance=despite))


async def _change(
    parts: PageParts, request: RequestContext, fqdn: str, change: NewSystemValues
) -> Committed | None:
    require_may = partial(system_rights.require_may_change, parts.feed.directory, request)
    return await change_system(parts, request, fqdn, change, require_may)


async def _change_policy(
    parts: PageParts, request: RequestContext, fqdn: str, fields: Fields
) -> Committed | None:
    return await change_system_policy(parts, request, fqdn, fields["entries"], fields["active_pool"])


async def _add_note(parts: PageParts, request: RequestContext, fqdn: str, fields: Fields) -> Committed:
    return await add_note(parts, request, fqdn, fields["text"])


async def _remove_note(parts: PageParts, request: RequestContext, fqdn: str, fields: Fields) -> Committed:
    note_id = whole_number(fields["note"])
    if note_id is None:
        raise FaultyInput([Fault("note", "must be the number of a note")])
    return await remove_note(parts, request, fqdn, note_id, fields["reason"])


async def _answer(parts: PageParts, view: View, fqdn: str) -> tuple[int, Facts]:
    """Return the version of a system, and the answer about it with its access policy."""
    version, system = await system_answer(parts, view, fqdn)
    _, policy = await system_policy_answer(parts, view, fqdn)
    notes = await note_list(parts, view, fqdn, PageAt(view.at, 1, BEFORE_ALL))
    power = await shown_power(parts, view, fqdn)
    return version, {**system, **policy, "has_notes": bool(notes.items), "power": power}


def _require_may_change_policy(directory: Directory, request: RequestContext, system: System) -> None:
    system_rights.require_permission(directory, request, system, EDIT_POLICY)


_may_change: Final = checked(system_rights.require_may_change)


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
    effect=(
        "Automated systems are for recipes, Manual ones for people. A Broken system is only for its borrower"
        " and for recipes that force it, a Removed one for nobody."
    ),
    require_may=_may_change,
    perform=_change_condition,
    fields=fields_of_model(
        NewCondition, ticket="the address of a ticket about it; it goes away once the system is Automated"
    ),
    model=NewCondition,
    ends=_affected_use,
)
_DRAIN: Final = Action(
    name="drain",
    label="Drain the system",
    effect="Nothing new starts on the system. A recipe or a person that has it keeps it to the end.",
    is_possible=lambda system: not system["draining"],
    require_may=_may_change,
    perform=_drain,
    fields=(REASON,),
)
_UNDRAIN: Final = Action(
    name="undrain",
    label="Undrain the system",
    effect="Recipes and people can get the system again, if its condition allows it.",
    is_possible=lambda system: system["draining"],
    require_may=_may_change,
    perform=_undrain,
    fields=(DESPITE_MAINTENANCE,),
)
_ADD_NOTE: Final = Action(
    name="add-note",
    label="Add a note",
    effect="Everybody who may see the system sees the note, with your name and the time.",
    require_may=_may_change,
    perform=_add_note,
    fields=fields_of_model(NewNote),
    model=NewNote,
)
_REMOVE_NOTE: Final = Action(
    name="remove-note",
    label="Remove a note",
    is_possible=lambda system: system["has_notes"],
    require_may=_may_change,
    perform=_remove_note,
    fields=(FormField("note", "Note", is_required=True, hint="its number"), REASON),
    ends=lambda _: "The system then no longer has the note, which stays in the log and on pages of the past.",
)
_CHANGE_POLICY: Final = Action(
    name="policy",
    label="Change the access policy",
    effect="It replaces the access policy, which says who may see, use, lend and change the system.",
    require_may=checked(_require_may_change_policy),
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
    (
        _CHANGE_CONDITION,
        _DRAIN,
        _UNDRAIN,
        *LENDING_ACTIONS,
        _ADD_NOTE,
        _REMOVE_NOTE,
        *POWER_ACTIONS,
        _CHANGE_POLICY,
    ),
    load_system,
)
