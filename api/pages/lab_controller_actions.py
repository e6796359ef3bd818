"""The actions on lab controllers."""

from __future__ import annotations

from functools import partial
from typing import Final

from api.pages.actions import REASON, Action
from api.pages.document_actions import DocumentForms, require_may_change
from api.pages.form_fields import Fields, force_field
from api.rest.contract.inputs import documents as inputs
from api.rest.contract.values import Fqdn
from api.rest.ports import PageParts
from api.rest.resources.document_kinds import LabControllers
from api.use_cases.ports import RequestContext
from api.use_cases.put_document import change_lab_controller
from api.use_cases.remove_lab import remove_lab
from store.requests import Committed


async def _change_lab(
    parts: PageParts, request: RequestContext, name: str, fields: Fields
) -> Committed | None:
    return await change_lab_controller(parts, request, name, fields)


async def _set_enabled(
    enabled: bool, parts: PageParts, request: RequestContext, name: str, fields: Fields
) -> Committed | None:
    return await change_lab_controller(parts, request, name, {"enabled": enabled, **fields})


async def _remove_lab(
    parts: PageParts, request: RequestContext, name: str, fields: Fields
) -> Committed | None:
    return await remove_lab(parts, request, name, force=fields["force"] == "yes", reason=fields["reason"])


_KIND: Final = "lab-controller"
_MAY_CHANGE: Final = partial(require_may_change, _KIND)
_FORMS: Final = DocumentForms(
    LabControllers,
    _KIND,
    inputs.LabControllerFields,
    "A lab controller provisions the systems of a lab. Its token is created on the page of tokens.",
    key=("fqdn", Fqdn),
    hints={
        "broken_after": "provisioning failures in a row that make a system Broken; 0 for none",
        "max_extension_seconds": "seconds by which people may extend one recipe, reservation or loan in all",
    },
)

LAB_CONTROLLER: Final = _FORMS.subject(
    _FORMS.change(_change_lab, inputs.LabLimits, "It changes the limits of failures and of extensions."),
    Action(
        name="enable",
        label="Enable the lab controller",
        effect="Its systems get recipes again.",
        is_possible=lambda lab: not lab["enabled"],
        require_may=_MAY_CHANGE,
        perform=partial(_set_enabled, True),
    ),
    Action(
        name="disable",
        label="Disable the lab controller",
        is_possible=lambda lab: lab["enabled"],
        require_may=_MAY_CHANGE,
        perform=partial(_set_enabled, False),
        fields=(REASON,),
        ends=lambda _: "Its systems then get no more recipes; those that they have go on.",
    ),
    _FORMS.removal(
        "It revokes the tokens of the lab controller.",
        _remove_lab,
        (force_field("With its systems", "yes: its recipes are aborted and its systems removed first"),),
    ),
)
