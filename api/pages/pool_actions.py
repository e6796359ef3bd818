"""The actions on pools, their systems and access policies."""

from __future__ import annotations

from typing import Final

from api.pages.actions import REASON, Action, Facts
from api.pages.document_actions import DocumentForms
from api.pages.form_fields import Fields, FormField, fields_of_model, force_field
from api.rest.contract.inputs import documents as inputs
from api.rest.contract.inputs.access import PoolPolicy
from api.rest.ports import PageParts
from api.rest.resources.document_kinds import Pools
from api.rest.resources.policies import pool_policy_answer
from api.rest.views import View
from api.use_cases.change_policy import change_pool_policy
from api.use_cases.move_system import move_system
from api.use_cases.ports import RequestContext
from api.use_cases.rights import require_own_pool
from domain.errors import Fault, FaultyInput, Unknown
from store.requests import Committed


async def _add_system(
    parts: PageParts, request: RequestContext, pool: str, fields: Fields
) -> Committed | None:
    return await _move_system(parts, request, pool, fields, member=True)


async def _remove_system(
    parts: PageParts, request: RequestContext, pool: str, fields: Fields
) -> Committed | None:
    return await _move_system(parts, request, pool, fields, member=False)


async def _move_system(
    parts: PageParts, request: RequestContext, pool: str, fields: Fields, *, member: bool
) -> Committed | None:
    fqdn, reason = fields["system"], fields.get("reason")
    try:
        return await move_system(parts, request, pool, fqdn, member=member, reason=reason)
    except Unknown as error:
        raise FaultyInput([Fault("system", error.sentence)]) from error


def _require_own_pool(parts: PageParts, request: RequestContext, pool: str) -> None:
    require_own_pool(parts.feed.directory, request, pool)


async def _answer_pool(parts: PageParts, view: View, name: str) -> tuple[int, Facts]:
    """Return the version of a pool, and the answer about it with the entries of its access policy."""
    version, pool = await Pools(parts).answer(view, name)
    _, policy = await pool_policy_answer(parts, view, name)
    return version, {**pool, "entries": policy["entries"]}


async def _change_policy(
    parts: PageParts, request: RequestContext, pool: str, fields: Fields
) -> Committed | None:
    return await change_pool_policy(parts, request, pool, fields["entries"])


_SYSTEM: Final = FormField("system", "System", is_required=True)
_FORMS: Final = DocumentForms(
    Pools,
    "pool",
    inputs.Pool,
    "A pool is a collection of systems with an access policy. Recipes can require it by its name.",
    hints={
        "owner_group": "its members and owners may change the pool",
    },
)

POOL: Final = _FORMS.subject(
    _FORMS.change(),
    Action(
        name="add-system",
        label="Add a system",
        effect="The access policy of the pool then also counts for jobs on the system.",
        require_may=_require_own_pool,
        perform=_add_system,
        fields=(_SYSTEM,),
    ),
    Action(
        name="remove-system",
        label="Remove a system",
        require_may=_require_own_pool,
        perform=_remove_system,
        fields=(_SYSTEM, REASON),
        ends=lambda _: "The access policy of the pool then no longer applies to the system.",
    ),
    Action(
        name="policy",
        label="Change the access policy",
        effect="It replaces the access policy of the pool, which says who may do what on its systems.",
        require_may=_require_own_pool,
        perform=_change_policy,
        fields=fields_of_model(PoolPolicy, entries="the whole policy as JSON"),
        model=PoolPolicy,
    ),
    _FORMS.removal(
        "Its systems stay, without the pool and its access policy.",
        fields=(force_field("Although it is used", "yes: also with systems, or if jobs or windows name it"),),
    ),
    answer=_answer_pool,
)
