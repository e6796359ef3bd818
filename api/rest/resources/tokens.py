"""/tokens: a token is shown once, when it is created"""

from __future__ import annotations

from typing import Any

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import parse_model, read_json_bytes
from api.rest.context import Principal, keyed_request, query_of, request_of
from api.rest.contract import queries
from api.rest.contract.answers import access as answers
from api.rest.contract.inputs.access import Token
from api.rest.contract.operation import operation
from api.rest.contract.query_values import MAX_POSITION
from api.rest.ports import ChangeParts, ReadParts
from api.rest.views import View, read_view
from api.use_cases.tokens import create_token, revoke_token
from domain.directory.roles import SEES_ALL
from domain.errors import Unknown, display_name


async def token_list(parts: ReadParts, view: View, query: queries.Page, page: paging.PageAt) -> paging.Listed:
    """Return a page of the tokens that the principal may see, without their secrets."""
    params = {"at": view.position, "limit": page.limit, "after": page.after, "token_id": None}
    rows = await parts.reader.rows("tokens", params | _visible_user(parts, view.principal))
    return paging.listed(page, rows, rows[-1]["token_id"] if rows else None)


async def token_answer(parts: ReadParts, view: View, token_id: str) -> dict[str, Any]:
    """Return the answer about a token, without its secret. Raises Unknown, also for one of somebody else."""
    params = {"at": view.position, "limit": 1, "after": "", "token_id": token_id}
    row = await parts.reader.row("tokens", params | _visible_user(parts, view.principal))
    if row is None:
        raise Unknown(display_name("token", token_id))
    return row


def _visible_user(parts: ReadParts, principal: Principal) -> dict[str, Any]:
    """Return the user whose tokens the principal may see, and the position of its registration."""
    if principal.role in SEES_ALL:
        return {"user": None, "user_since": 0}
    entry = parts.feed.directory.get("user", principal.user)
    return {"user": principal.user, "user_since": entry.since if entry else MAX_POSITION}


class Tokens:
    def __init__(self, parts: ChangeParts) -> None:
        self._parts = parts

    @operation(
        "Create a token, which is shown only once", answers.TokenMade, body=Token, created=True, keyed=True
    )
    async def on_post(self, req: Request, resp: Response) -> None:
        """Answer with the token, which no other answer contains, not even that to a repeated request."""
        body = await read_json_bytes(req)
        wanted: Token = await parse_model(req, body)
        token, token_id, position = await create_token(
            self._parts,
            keyed_request(req, body),
            wanted.user,
            wanted.role,
            wanted.lab_controller,
            wanted.expires_at,
        )
        resp.status = 201
        resp.location = f"/tokens/{token_id}"
        paging.answer(resp, position, {"token_id": token_id, "token": token})

    @operation("List all tokens, or your own", answers.TokenList, queries.Page)
    async def on_get(self, req: Request, resp: Response) -> None:
        view = await read_view(req, self._parts)
        page = paging.page_at(req, view.at, first="")
        query = query_of(req, queries.Page)
        paging.answer_listed(req, resp, page, "tokens", await token_list(self._parts, view, query, page))

    @operation("Show a token, without its secret", answers.TokenShown, queries.ReadQuery)
    async def on_get_one(self, req: Request, resp: Response, token_id: str) -> None:
        view = await read_view(req, self._parts)
        paging.answer_read(resp, view.at, await token_answer(self._parts, view, token_id))

    @operation("Revoke a token", answers.TokenRevoked, queries.EndingQuery)
    async def on_delete_one(self, req: Request, resp: Response, token_id: str) -> None:
        reason = query_of(req, queries.EndingQuery).reason
        done = await revoke_token(self._parts, request_of(req), token_id, reason)
        answer = {"token_id": token_id, "revoked": done is not None}
        await paging.answer_write(resp, self._parts.log, done, answer)
