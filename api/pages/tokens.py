"""The pages of tokens, which never show a token itself."""

from __future__ import annotations

from falcon.asgi import Request, Response

from api.pages.actions import offered, offered_creation
from api.pages.page import page_view, show, show_list
from api.pages.security import HTML
from api.pages.token_actions import TOKEN
from api.rest import paging
from api.rest.context import query_of, request_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import Page, ReadQuery
from api.rest.ports import PageParts
from api.rest.resources.tokens import token_answer, token_list


class TokenPages:
    def __init__(self, parts: PageParts) -> None:
        self._parts = parts

    @operation("Show the list of tokens", None, Page, gives=(HTML,))
    async def on_get_list(self, req: Request, resp: Response) -> None:
        view, query = await page_view(req, self._parts), query_of(req, Page)
        found = await token_list(self._parts, view, query, paging.page_at(req, view.at, ""))
        creation = await offered_creation(self._parts, request_of(req), view, TOKEN)
        await show_list(req, resp, self._parts, view, "tokens.html", query, found, creation=creation)

    @operation("Show the page of a token", None, ReadQuery, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response, token_id: str) -> None:
        view = await page_view(req, self._parts)
        token = await token_answer(self._parts, view, token_id)
        actions = await offered(self._parts, request_of(req), view, TOKEN, token_id, token)
        values = {"token": token, "actions": actions}
        await show(req, resp, self._parts, view, "token.html", values)
