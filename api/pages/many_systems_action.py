"""The action that drains many systems, undrains them or changes their condition, from the list of systems."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from api.pages.actions import REASON, Action, ActionSubject, Facts, right_by_form
from api.pages.form_fields import DESPITE_MAINTENANCE, Fields, Format, FormField
from api.rest.contract.inputs.systems import MAX_CHANGED
from api.rest.ports import PageParts
from api.rest.views import View
from api.use_cases.change_system import NewSystemValues
from api.use_cases.change_systems import SystemAnswer, change_systems
from api.use_cases.covered_systems import viewed_systems
from api.use_cases.ports import RequestContext
from domain.errors import Fault, FaultyInput, Unknown
from domain.system.lifecycle import CONDITIONS

_DRAINING: Final = {"drain": True, "undrain": False}
_PROPERTIES: Final = ("pool", "lab_controller", "location")


async def _change(parts: PageParts, request: RequestContext, fields: Fields) -> tuple[str, dict[str, Any]]:
    """Change the systems; return the page of outcomes. Raises as `change_systems`."""
    chosen = fields["change"]
    condition = chosen if chosen in CONDITIONS else None
    change = NewSystemValues(
        condition=condition,
        draining=_DRAINING.get(chosen),
        reason=fields["reason"],
        despite_maintenance=fields.get(DESPITE_MAINTENANCE.name) == "yes",
    )
    done = await change_systems(parts, request, await _selected(parts, request, fields), change)
    rows = [{"fqdn": fqdn, "outcome": _outcome(answer)} for fqdn, answer in done.answers.items()]
    return "changed_systems.html", {"systems": rows, "change": chosen}


async def _selected(parts: PageParts, request: RequestContext, fields: Fields) -> list[str]:
    """Return the listed systems, or those with all of the given properties. Raises FaultyInput."""
    listed = [*dict.fromkeys(fields.get("systems", "").split())]
    properties = {name: fields.get(name) for name in _PROPERTIES}
    if bool(listed) == any(properties.values()):
        message = "needs either systems, or some of pool, lab controller and location"
        raise FaultyInput([Fault("systems", message)])
    if listed:
        return _require_few(listed)
    await parts.feed.catch_up()
    selection = {**properties, "systems": None}
    found = await asyncio.to_thread(viewed_systems, parts, request, selection)
    if not found:
        raise FaultyInput([Fault("systems", "no system has these properties")])
    return _require_few(sorted(found))


def _require_few(fqdns: list[str]) -> list[str]:
    """Return the systems. Raises FaultyInput if they are more than one request of the HTTP API may change."""
    if len(fqdns) > MAX_CHANGED:
        message = f"{len(fqdns)} systems are selected; at most {MAX_CHANGED} can be changed at once"
        raise FaultyInput([Fault("systems", message)])
    return fqdns


def _outcome(answer: SystemAnswer) -> str:
    if isinstance(answer, bool):
        return "changed" if answer else "unchanged"
    return f"not changed: {answer}"


async def _no_answer(_: PageParts, __: View, key: Any) -> tuple[int, Facts]:
    raise Unknown(f"change {key}")


_CHANGE: Final = Action(
    name="create",
    label="Change many systems",
    effect="Nothing is changed unless all systems can be, and the right to edit each is needed.",
    require_may=right_by_form,
    show=_change,
    fields=(
        FormField("change", "Change", choices=(*_DRAINING, *CONDITIONS), is_required=True),
        FormField("systems", "Systems", format=Format.NAMES, hint="one on each line; or by the fields below"),
        FormField("pool", "Pool"),
        FormField("lab_controller", "Lab controller"),
        FormField("location", "Location"),
        DESPITE_MAINTENANCE,
        REASON,
    ),
)

MANY_SYSTEMS: Final = ActionSubject("many-systems", "systems", _no_answer, (), creation=_CHANGE)
