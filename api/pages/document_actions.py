"""The actions on users, groups, pools, lab controllers and distro trees."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from pydantic import BaseModel, create_model

from api.pages.actions import Action, ActionSubject, Facts
from api.pages.form_fields import Fields, FormField, fields_of_model
from api.rest.contract.inputs import documents as inputs
from api.rest.contract.inputs.access import NewPassword, PoolPolicy
from api.rest.contract.values import Fqdn, Name, Number
from api.rest.ports import PageParts
from api.rest.resources.document_kinds import DistroTrees, Groups, LabControllers, Pools, Users
from api.rest.resources.documents import Documents
from api.rest.resources.policies import pool_policy_answer
from api.rest.views import View
from api.use_cases.change_policy import change_pool_policy
from api.use_cases.move_system import move_system
from api.use_cases.passwords import require_may_set_password, set_password
from api.use_cases.ports import RequestContext
from api.use_cases.put_document import change_lab_controller
from api.use_cases.remove_document import remove_document
from api.use_cases.remove_lab import remove_lab
from api.use_cases.rights import may_put, require_admin, require_own_pool
from domain.directory.roles import ROLES
from domain.errors import Fault, FaultyInput, Unknown, display_name
from store.requests import Committed

OfKind = Callable[[PageParts], Documents]
"""Returns the resource of one kind of document."""
Answer = Callable[[PageParts, View, str], Awaitable[tuple[int, Facts]]]
"""Returns the version of a document and the facts about it."""


def _document_subject(
    of: OfKind,
    kind: str,
    model: type[BaseModel],
    ends: str,
    *more: Action,
    key: tuple[str, Any] = ("name", Name),
    change: Action | None = None,
    remove: Action | None = None,
    answer: Answer | None = None,
    **hints: str,
) -> ActionSubject:
    """Return the actions that every kind has: create, change, remove; `ends` says what the last one ends."""
    key_field, word = key[0], kind.replace("-", " ")
    with_key: dict[str, Any] = {key_field: (key[1], ...)}
    new: type[BaseModel] = create_model(f"New{model.__name__}", __base__=model, **with_key)
    creation = Action(
        name="create",
        label=f"Create a {word}",
        require_may=partial(_require_may_create, kind),
        perform=partial(_create, of, key_field),
        fields=fields_of_model(new, first=key_field, **hints),
        model=new,
    )
    changing = Action(
        name="change",
        label=f"Change the {word}",
        require_may=partial(_require_may_change, kind),
        perform=partial(_change, of),
        fields=fields_of_model(model, **hints),
        model=model,
    )
    removal = Action(
        name="remove",
        label=f"Remove the {word}",
        require_may=partial(_require_may_remove, kind),
        perform=partial(_remove, kind),
        ends=lambda _: ends,
        removes=True,
    )
    return ActionSubject(
        kind,
        f"{kind}s",
        answer or partial(_answer, of),
        (change or changing, *more, remove or removal),
        creation=creation,
        key_field=key_field,
        proposed=lambda parts, _: of(parts).proposed(),
    )


async def _answer(of: OfKind, parts: PageParts, view: View, name: str) -> tuple[int, Facts]:
    return await of(parts).answer(view, name)


async def _create(
    of: OfKind, key: str, parts: PageParts, request: RequestContext, __: None, fields: Fields
) -> Committed | None:
    document = {name: value for name, value in fields.items() if name != key}
    _, done = await of(parts).put(request, fields[key], document)
    return done


async def _change(
    of: OfKind, parts: PageParts, request: RequestContext, name: str, fields: Fields
) -> Committed | None:
    _, done = await of(parts).put(request, name, dict(fields))
    return done


async def _remove(
    kind: str, parts: PageParts, request: RequestContext, name: str, _: Fields
) -> Committed | None:
    return await remove_document(parts, request, kind, name)


def _require_may_create(kind: str, parts: PageParts, request: RequestContext, _: None) -> None:
    may_put(parts.feed.directory, request, kind, None, {})


def _require_may_change(kind: str, parts: PageParts, request: RequestContext, name: str) -> None:
    """Raise NotPermitted for a caller who may not change the document as it is."""
    entry = parts.feed.directory.get(kind, name)
    may_put(parts.feed.directory, request, kind, entry, entry.document if entry else {})


def _require_may_remove(kind: str, parts: PageParts, request: RequestContext, name: str) -> None:
    require_admin(request, f"remove {display_name(kind, name)}")


async def _set_password(
    parts: PageParts, request: RequestContext, name: str, fields: Fields
) -> Committed | None:
    new = NewPassword(**fields)
    return await set_password(parts, request, name, new.password, new.current_password)


async def _add_system(
    parts: PageParts, request: RequestContext, pool: str, fields: Fields
) -> Committed | None:
    return await _move_system(parts, request, pool, fields["system"], member=True)


async def _remove_system(
    parts: PageParts, request: RequestContext, pool: str, fields: Fields
) -> Committed | None:
    return await _move_system(parts, request, pool, fields["system"], member=False)


async def _move_system(
    parts: PageParts, request: RequestContext, pool: str, fqdn: str, *, member: bool
) -> Committed | None:
    try:
        return await move_system(parts, request, pool, fqdn, member=member)
    except Unknown as error:
        raise FaultyInput([Fault("system", str(error))]) from error


def _require_own_pool(parts: PageParts, request: RequestContext, pool: str) -> None:
    require_own_pool(parts.feed.directory, request, pool)


async def _change_lab(
    parts: PageParts, request: RequestContext, name: str, fields: Fields
) -> Committed | None:
    changes = {field: value for field, value in fields.items() if value is not None}
    return await change_lab_controller(parts, request, name, changes)


async def _set_enabled(
    enabled: bool, parts: PageParts, request: RequestContext, name: str, _: Fields
) -> Committed | None:
    return await change_lab_controller(parts, request, name, {"enabled": enabled})


async def _remove_lab(
    parts: PageParts, request: RequestContext, name: str, fields: Fields
) -> Committed | None:
    return await remove_lab(parts, request, name, force=fields["force"] == "yes")


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
_may_change_lab: Final = partial(_require_may_change, "lab-controller")

USER: Final = _document_subject(
    Users,
    "user",
    inputs.User,
    "It revokes the user's tokens, takes the user out of groups and access policies, and ends the user's"
    " reservations and loans. Jobs stay.",
    Action(
        name="password",
        label="Set the password",
        require_may=require_may_set_password,
        perform=_set_password,
        fields=fields_of_model(
            NewPassword,
            secrets=("password", "current_password"),
            current_password="only to change your own password, if you have one and are no admin",
        ),
        model=NewPassword,
    ),
    roles=f"one on each line, the first is that of a login: {', '.join(ROLES)}",
)
GROUP: Final = _document_subject(
    Groups,
    "group",
    inputs.Group,
    "It takes the group out of access policies. Jobs of the group stay.",
    owners="users, one on each line",
    members="users, one on each line",
)
POOL: Final = _document_subject(
    Pools,
    "pool",
    inputs.Pool,
    "Its systems stay, without the pool and its access policy.",
    Action(
        name="add-system",
        label="Add a system",
        require_may=_require_own_pool,
        perform=_add_system,
        fields=(_SYSTEM,),
    ),
    Action(
        name="remove-system",
        label="Remove a system",
        require_may=_require_own_pool,
        perform=_remove_system,
        fields=(_SYSTEM,),
        ends=lambda _: "The access policy of the pool then no longer applies to the system.",
    ),
    Action(
        name="policy",
        label="Change the access policy",
        require_may=_require_own_pool,
        perform=_change_policy,
        fields=fields_of_model(PoolPolicy, entries="the whole policy as JSON"),
        model=PoolPolicy,
    ),
    answer=_answer_pool,
    owner_group="its members and owners may change the pool",
)
LAB_CONTROLLER: Final = _document_subject(
    LabControllers,
    "lab-controller",
    inputs.LabController,
    "",
    Action(
        name="enable",
        label="Enable the lab controller",
        is_possible=lambda lab: not lab["enabled"],
        require_may=_may_change_lab,
        perform=partial(_set_enabled, True),
    ),
    Action(
        name="disable",
        label="Disable the lab controller",
        is_possible=lambda lab: lab["enabled"],
        require_may=_may_change_lab,
        perform=partial(_set_enabled, False),
        ends=lambda _: "Its systems then get no more recipes; those that they have go on.",
    ),
    key=("fqdn", Fqdn),
    change=Action(
        name="change",
        label="Change the lab controller",
        require_may=_may_change_lab,
        perform=_change_lab,
        fields=fields_of_model(inputs.LabController),
        model=inputs.LabController,
    ),
    remove=Action(
        name="remove",
        label="Remove the lab controller",
        require_may=partial(_require_may_remove, "lab-controller"),
        perform=_remove_lab,
        fields=(
            FormField(
                "force",
                "With its systems",
                choices=("no", "yes"),
                is_required=True,
                hint="yes: its recipes are aborted and its systems removed first",
            ),
        ),
        ends=lambda _: "It revokes the tokens of the lab controller.",
        removes=True,
    ),
    broken_after="provisioning failures in a row that make a system Broken; 0 for none",
)
DISTRO_TREE: Final = _document_subject(
    DistroTrees,
    "distro-tree",
    inputs.DistroTree,
    "No recipe gets the tree any more.",
    key=("id", Number),
    tags="one on each line",
    urls="one on each line: the lab controller, a space, and the address there",
    added_at="a time such as 2026-11-29T18:00:00Z; empty for now",
)
