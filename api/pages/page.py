"""The frame of every page: its reader, and the position that it reflects."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from falcon.asgi import Request, Response

from api.pages.rendering import render
from api.rest.context import Principal
from api.rest.session_cookie import form_value, session_token
from api.rest.views import View
from api.use_cases.ports import NameParts


@dataclass(frozen=True)
class PageFrame:
    """The values that every template shows; `as_of` is the time of a page about the past, else None.

    `form_value` binds the forms of the page to the login. `position` is None on a page without answers.
    """

    path: str
    principal: Principal | None
    form_value: str
    now: datetime
    position: int | None = None
    as_of: datetime | None = None

    @property
    def as_of_query(self) -> str:
        """Return the query of links to other pages: those of a page about the past are about that moment."""
        return "" if self.as_of is None else f"?as_of={self.position}"


async def show(
    req: Request, resp: Response, parts: NameParts, view: View | None, template: str, values: dict[str, Any]
) -> None:
    """Answer with a page that reflects a view."""
    page = PageFrame(
        path=req.path,
        principal=getattr(req.context, "principal", None),
        form_value=form_value(session_token(req) or ""),
        now=parts.clock(),
        position=None if view is None else view.position,
        as_of=None if view is None else view.at.moment,
    )
    await render(resp, template, {"page": page, **values})
