"""The frame of every page: its reader, its address, and the position that it reflects."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from falcon.asgi import Request, Response

from api.headers import POSITION_HEADER
from api.pages.filters import filter_fields
from api.pages.navigation import NavigationLink, links_of
from api.pages.personal import is_personal
from api.pages.rendering import render
from api.rest import paging
from api.rest.context import Principal, query_of
from api.rest.contract.queries import Page, ReadQuery
from api.rest.inside import principal_inside
from api.rest.ports import ReadParts
from api.rest.routes import SUBMITTERS
from api.rest.session_cookie import form_value, session_token
from api.rest.views import View, read_view
from api.use_cases.ports import NameParts
from domain.directory.partitions import DEFAULT
from domain.directory.partitions import KIND as PARTITION
from domain.directory.roles import SEES_ALL
from domain.directory.state import Directory
from domain.errors import Fault, FaultyInput

# Parameters that say which moment of a page is shown, and not what the page is about.
OF_MOMENT = ("as_of", "min_position", "cursor")


@dataclass(frozen=True)
class PageFrame:
    """The values that every template shows.

    `path` and `query` are the address without its moment. `form_value` binds the forms of the page to the
    login. `view` is None on a page without answers. `lag` is the number of positions that the log is ahead of
    a page about the present, 0 on one that is followed. `begin` is the first moment of the subject of the
    page, if it has one. The `directory` is the present one.
    """

    path: str
    query: dict[str, str]
    principal: Principal | None
    form_value: str
    now: datetime
    directory: Directory
    view: View | None = None
    lag: int = 0
    cursor: str | None = None
    begin: datetime | None = None

    @property
    def position(self) -> int | None:
        return None if self.view is None else self.view.position

    @property
    def is_past(self) -> bool:
        return self.view is not None and self.view.is_past

    @property
    def moment(self) -> datetime:
        """Return the moment that the page is about: ages count from it."""
        return (self.is_past and self.view is not None and self.view.at.moment) or self.now

    @property
    def slider_begin(self) -> datetime:
        """Return the earliest moment to which the slider leads: without a subject, that of a day before."""
        return self.begin or self.moment - timedelta(days=1)

    @property
    def navigation(self) -> list[NavigationLink]:
        return [] if self.principal is None else links_of(self.principal.role)

    def to(self, *segments: Any, **params: Any) -> str:
        """Return the address of another page, about the same moment unless `as_of` names another one."""
        path = "".join(f"/{quote(str(segment), safe='')}" for segment in segments)
        moment = {"as_of": self.position} if self.is_past else {}
        given = {name: value for name, value in {**moment, **params}.items() if value is not None}
        return f"/ui{path}{f'?{urlencode(given)}' if given else ''}"

    def here(self, **params: Any) -> str:
        """Return the address of this page with other parameters; those that are None are left out."""
        given = {name: value for name, value in {**self.query, **params}.items() if value is not None}
        return f"{self.path}?{urlencode(given)}" if given else self.path

    @property
    def live(self) -> str | None:
        """Return the address of a page that can be followed: of one with answers about the present."""
        return None if self.view is None or self.is_past else self.here(cursor=self.cursor)

    @property
    def is_personal(self) -> bool:
        """Return whether a live view of the page has readers of one user alone."""
        return is_personal(self.here())

    def step(self, direction: str) -> str:
        """Return the address that leads to the `previous` or `next` change of the subject of this page."""
        return self._step(self.position, direction)

    def after(self, position: int) -> str:
        """Return the address that leads to this page after the commit of an event of its subject."""
        return self._step(position - 1, "next")

    def _step(self, position: int | None, direction: str) -> str:
        return f"/ui/step?{urlencode({'to': self.here(), 'at': position, 'direction': direction})}"

    def is_hidden(self, fqdn: str) -> bool:
        """Return whether a system is hidden from the reader."""
        return self.view is not None and fqdn in self.view.hidden

    def has(self, kind: str, name: str, position: int | None = None) -> bool:
        """Return whether there is a page about a name, as of a position or as of this page.

        There may be one about a name that has been removed since, but it gets no links.
        """
        if (kind, name) == (PARTITION, DEFAULT):
            return True
        position = self.position if position is None else position
        return position is not None and self.directory.had(kind, name, position)

    @property
    def sees_all(self) -> bool:
        """Return whether the reader sees everything, also the tokens of others."""
        return self.principal is not None and self.principal.role in SEES_ALL

    @property
    def may_submit(self) -> bool:
        """Return whether the page offers to submit something: about the present, to a role that may."""
        return not self.is_past and self.principal is not None and self.principal.role in SUBMITTERS


async def page_view(req: Request, parts: ReadParts) -> View:
    """Return the view of a page. The page asks all its questions of this view.

    Raises FaultyInput for a moment in the future, which would be another one at the next visit.
    """
    as_of = query_of(req, ReadQuery).as_of
    if isinstance(as_of, int) and as_of > parts.feed.position:
        end = await asyncio.to_thread(parts.log.end)
        if as_of > end:
            raise FaultyInput([Fault("as_of", f"is after the end of the log, which is position {end}")])
    if isinstance(as_of, datetime) and as_of > parts.clock():
        raise FaultyInput([Fault("as_of", "is in the future")])
    return await read_view(req, parts)


async def show(
    req: Request,
    resp: Response,
    parts: NameParts,
    view: View | None,
    template: str,
    values: dict[str, Any],
    *,
    begin: datetime | None = None,
) -> None:
    """Answer with a page that reflects a view. `values` are shown as the HTTP API writes them.

    `begin` is the first moment of the subject of the page.
    """
    # A live page follows the log, so the number would come and go.
    is_followed = principal_inside(req.scope) is not None
    page = PageFrame(
        path=req.path,
        query={
            name: value
            for name, value in req.params.items()
            if name not in OF_MOMENT and isinstance(value, str) and value
        },
        principal=getattr(req.context, "principal", None),
        form_value=form_value(session_token(req) or ""),
        now=parts.clock(),
        directory=parts.feed.directory,
        view=view,
        lag=0 if view is None or view.is_past or is_followed else max(0, parts.feed.position - view.position),
        cursor=req.get_param("cursor"),
        begin=begin,
    )
    if view is not None:
        resp.set_header(POSITION_HEADER, str(view.position))
    await render(resp, template, page, values)


async def show_list(
    req: Request,
    resp: Response,
    parts: NameParts,
    view: View,
    template: str,
    query: Page,
    found: paging.Listed,
    **more: Any,
) -> None:
    """Answer with a page of a list: its `items`, its `filters`, the address of the `next` page, and more."""
    values = {
        "items": found.items,
        "filters": filter_fields(query),
        "next": paging.next_path(req, resp, found.key),
    }
    await show(req, resp, parts, view, template, {**values, **more})
