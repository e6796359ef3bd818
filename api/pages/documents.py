"""The pages of users, groups, pools, lab controllers and distro trees."""

from __future__ import annotations

from typing import Any, Final

from falcon.asgi import Request, Response

from api.pages.actions import ActionSubject, offered, offered_creation
from api.pages.page import page_view, show, show_list
from api.pages.pool_actions import POOL
from api.pages.security import HTML
from api.pages.user_actions import GROUP, USER
from api.rest import paging
from api.rest.context import query_of, request_of
from api.rest.contract.operation import Operation
from api.rest.contract.queries import GroupPage, PoolPage, ReadQuery
from api.rest.ports import PageParts
from api.rest.resources.document_kinds import Groups, Pools, Users
from api.rest.resources.documents import Documents
from api.rest.resources.policies import pool_policy_answer
from api.rest.views import View

# Maximum number of groups on the page of a user, and of pools on that of a group; lists have all of them.
MAX_LISTED: Final = 100


class DocumentPages:
    """The list and the page of one kind of document. Their templates have the names of the kind."""

    def __init__(self, parts: PageParts, documents: Documents, subject: ActionSubject) -> None:
        self._parts = parts
        self._documents = documents
        self._subject = subject
        words = documents.kind.replace("-", " ")
        self.operations = {
            "on_get_list": Operation(
                f"Show the list of {words}s",
                *(None, documents.list_query),
                gives=(HTML,),
                refuses=documents.list_refusals,
            ),
            "on_get": Operation(f"Show the page of a {words}", None, ReadQuery, gives=(HTML,)),
        }

    async def on_get_list(self, req: Request, resp: Response) -> None:
        view, query = await page_view(req, self._parts), query_of(req, self._documents.list_query)
        found = await self._documents.listed(view, query, paging.page_at(req, view.at, ""))
        creation = await offered_creation(self._parts, request_of(req), view, self._subject)
        template = f"{self._documents.plural}.html"
        await show_list(req, resp, self._parts, view, template, query, found, creation=creation)

    async def on_get(self, req: Request, resp: Response, name: str) -> None:
        view = await page_view(req, self._parts)
        _, document = await self._documents.answer(view, name)
        actions = await offered(self._parts, request_of(req), view, self._subject, name, document)
        values = {"document": document, "actions": actions, **await self._further_values(view, name)}
        template = f"{self._documents.kind.replace('-', '_')}.html"
        await show(req, resp, self._parts, view, template, values)

    async def _further_values(self, view: View, name: str) -> dict[str, Any]:
        """Return further values for the page of one document."""
        return {}


class UserPages(DocumentPages):
    def __init__(self, parts: PageParts) -> None:
        super().__init__(parts, Users(parts), USER)
        self._groups = Groups(parts)

    async def _further_values(self, view: View, name: str) -> dict[str, Any]:
        groups = await self._groups.listed(view, GroupPage(user=name), _first_page(view))
        return {"groups": groups.items, "has_more": groups.key is not None}


class GroupPages(DocumentPages):
    def __init__(self, parts: PageParts) -> None:
        super().__init__(parts, Groups(parts), GROUP)
        self._pools = Pools(parts)

    async def _further_values(self, view: View, name: str) -> dict[str, Any]:
        pools = await self._pools.listed(view, PoolPage(owner_group=name), _first_page(view))
        return {"pools": pools.items, "has_more": pools.key is not None}


class PoolPages(DocumentPages):
    def __init__(self, parts: PageParts) -> None:
        super().__init__(parts, Pools(parts), POOL)

    async def _further_values(self, view: View, name: str) -> dict[str, Any]:
        _, policy = await pool_policy_answer(self._parts, view, name)
        return {"policy": policy}


def _first_page(view: View) -> paging.PageAt:
    return paging.PageAt(view.at, MAX_LISTED, "")
