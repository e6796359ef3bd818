"""The action on reconciliations, which have no pages of their own: to resolve one."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from api.pages.actions import Action, ActionSubject, Facts
from api.pages.form_fields import Fields, fields_of_model
from api.rest import paging
from api.rest.contract.inputs.labs import Resolution
from api.rest.contract.queries import ReconciliationPage
from api.rest.ports import PageParts
from api.rest.resources.reconciliations import reconciliation_list
from api.rest.views import View
from api.use_cases.ports import RequestContext
from api.use_cases.recover import resolve
from api.use_cases.rights import require_admin
from domain.errors import Unknown
from store.requests import Committed

# A reconciliation never changes until it is resolved, so all forms are of one version.
_VERSION: Final = 0


async def _answer(parts: PageParts, view: View, reconciliation_id: int) -> tuple[int, Facts]:
    """Return the answer about an open reconciliation. Raises Unknown."""
    page = paging.PageAt(view.at, 1, reconciliation_id - 1)
    found = (await reconciliation_list(parts, view, ReconciliationPage(), page)).listed.items
    if not found or found[0]["id"] != reconciliation_id:
        raise Unknown(f"open reconciliation {reconciliation_id}")
    return _VERSION, found[0]


async def _resolve(
    parts: PageParts, request: RequestContext, reconciliation_id: int, fields: Fields
) -> Committed | None:
    # The version of its system does not matter.
    return await resolve(parts, replace(request, expected=None), reconciliation_id, fields["reason"])


def _require_may_resolve(_: PageParts, request: RequestContext, __: int | None) -> None:
    require_admin(request, "resolve reconciliations")


_RESOLVE: Final = Action(
    name="resolve",
    label="Resolve the reconciliation",
    require_may=_require_may_resolve,
    perform=_resolve,
    fields=fields_of_model(Resolution, reason="why you are sure that nothing runs on the system"),
    model=Resolution,
    ends=lambda found: f"System {found['system']} is then free for other recipes.",
    removes=True,
)

RECONCILIATION: Final = ActionSubject(
    "reconciliation", "reconciliations", _answer, (_RESOLVE,), has_page=False
)
