"""The actions on maintenance windows: add, move and end one."""

from __future__ import annotations

from typing import Final

from api.pages.actions import REASON, Action, ActionSubject, Facts, right_by_form
from api.pages.form_fields import Fields, fields_of_model
from api.rest.body import check_model
from api.rest.contract.inputs.maintenance import MaintenanceWindowMove, NewMaintenanceWindow
from api.rest.ports import PageParts
from api.rest.resources.maintenance_windows import new_window, window_answer
from api.rest.views import View
from api.use_cases.add_maintenance_window import add_window
from api.use_cases.change_maintenance_window import (
    WindowMove,
    end_window,
    move_window,
    require_may_change_window,
)
from api.use_cases.ports import RequestContext
from domain.maintenance.window import ENDED, KIND
from store.requests import Committed

_TIME: Final = "a time such as 2026-11-29T18:00:00Z"


async def _answer(parts: PageParts, view: View, number: int) -> tuple[int, Facts]:
    return await window_answer(parts, view, number)


async def _add(parts: PageParts, request: RequestContext, _: None, fields: Fields) -> Committed | None:
    return await add_window(parts, request, new_window(check_model(fields, NewMaintenanceWindow)))


async def _move(parts: PageParts, request: RequestContext, number: int, fields: Fields) -> Committed | None:
    given = check_model(fields, MaintenanceWindowMove)
    wanted = WindowMove(given.starts_at, given.ends_at, given.lead_seconds)
    return await move_window(parts, request, number, wanted)


async def _end(parts: PageParts, request: RequestContext, number: int, fields: Fields) -> Committed | None:
    return await end_window(parts, request, number, fields["reason"])


def _has_not_ended(window: Facts) -> bool:
    return bool(window["state"] != ENDED)


_ADD: Final = Action(
    name="create",
    label="Add a maintenance window",
    effect=(
        "Nothing new starts on its systems from the lead before its start until its end. It needs the right"
        " to edit all of them."
    ),
    require_may=right_by_form,
    perform=_add,
    fields=fields_of_model(
        NewMaintenanceWindow,
        starts_at=_TIME,
        ends_at=_TIME,
        lead_seconds="how long before the start they drain; empty for as long as the longest recipe there",
        systems="one on each line; or all with the properties below, also those that get them later",
    ),
    model=NewMaintenanceWindow,
)
_MOVE: Final = Action(
    name="move",
    label="Move the maintenance window",
    effect="The start can be moved until it has come, the end until it has come.",
    is_possible=_has_not_ended,
    require_may=require_may_change_window,
    perform=_move,
    fields=fields_of_model(MaintenanceWindowMove, starts_at=_TIME, ends_at=_TIME),
    model=MaintenanceWindowMove,
)
_END: Final = Action(
    name="end",
    label="End the maintenance window",
    is_possible=_has_not_ended,
    require_may=require_may_change_window,
    perform=_end,
    fields=(REASON,),
    ends=lambda window: (
        f"Its {len(window['covered_systems'])} systems take recipes again, unless a person has drained them."
    ),
)

MAINTENANCE_WINDOW: Final = ActionSubject(KIND, "maintenance-windows", _answer, (_MOVE, _END), creation=_ADD)
