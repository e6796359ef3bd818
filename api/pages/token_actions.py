"""The actions on tokens: a new token is shown once, in the answer to its form."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from api.pages.actions import REASON, Action, ActionSubject, Facts
from api.pages.form_fields import Fields, fields_of_model
from api.rest.contract.inputs.access import Token
from api.rest.ports import PageParts
from api.rest.resources.tokens import token_answer
from api.rest.views import View
from api.use_cases.ports import RequestContext
from api.use_cases.tokens import create_token, require_may_revoke, revoke_token, version_of
from store.requests import Committed


async def _answer(parts: PageParts, view: View, token_id: str) -> tuple[int, Facts]:
    found = await token_answer(parts, view, token_id)
    return await asyncio.to_thread(version_of, parts, token_id), found


def _proposed(parts: PageParts, request: RequestContext) -> Facts:
    """Return a token like that of the login: only admins may create one that lasts longer."""
    login = parts.feed.directory.get("token", request.token_id or "")
    until = None if request.is_admin or login is None else login.document["expires_at"]
    return {"user": request.actor, "role": request.role, "expires_at": until}


async def _revoke(
    parts: PageParts, request: RequestContext, token_id: str, fields: Fields
) -> Committed | None:
    return await revoke_token(parts, request, token_id, fields["reason"])


async def _create(parts: PageParts, request: RequestContext, fields: Fields) -> tuple[str, dict[str, Any]]:
    """Create a token and show it; a form that is sent again gets the id alone."""
    wanted = Token(**fields)
    token, token_id, _ = await create_token(
        parts, request, wanted.user, wanted.role, wanted.lab_controller, wanted.expires_at
    )
    return "new_token.html", {"token": token, "token_id": token_id, "user": wanted.user}


_REVOKE: Final = Action(
    name="revoke",
    label="Revoke the token",
    is_possible=lambda token: not token["revoked"],
    require_may=require_may_revoke,
    perform=_revoke,
    fields=(REASON,),
    ends=lambda token: f"Nobody can use the token of {token['user']} any more.",
)
_CREATE: Final = Action(
    name="create",
    label="Create a token",
    effect="The bearer of the token has the rights of its user in its role. The token is shown once.",
    # Everybody may create tokens of their own.
    require_may=lambda *_: None,
    show=_create,
    fields=fields_of_model(
        Token,
        role="the user gets the role, too, if an admin chooses one that the user lacks",
        lab_controller="only for the role lab-controller",
        expires_at="a time such as 2026-11-29T18:00:00Z; empty for no end, which only admins may choose",
    ),
    model=Token,
)
TOKEN: Final = ActionSubject(
    "token",
    "tokens",
    _answer,
    (_REVOKE,),
    creation=_CREATE,
    proposed=_proposed,
)
