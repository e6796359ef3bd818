"""A view: a position, and the systems that are hidden from the caller there. All answers come from one.

Questions take a view instead of a request, so that one answer may consist of several of them, as of one
position: the HTTP API asks one question for each request, a page asks several.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from falcon.asgi import Request

from api.rest import paging, visibility
from api.rest.context import Principal, principal_of, query_of
from api.rest.contract.queries import ReadQuery
from api.rest.ports import ReadParts
from domain.errors import Unknown, display_name
from projections.reader import At


@dataclass(frozen=True)
class View:
    """The part of the log that a principal sees at a position.

    `hidden`: the systems that do not exist for the principal. `is_past`: the position was asked for with
    `as_of`, even if it is before the first event. `recorded_at`: the time of the position, None before the
    first event.
    """

    principal: Principal
    at: At
    hidden: frozenset[str]
    is_past: bool
    recorded_at: datetime | None

    @property
    def position(self) -> int:
        return self.at.position

    @property
    def hidden_rows(self) -> list[str] | None:
        """Return the hidden systems as a parameter of a query, None if there are none."""
        return list(self.hidden) or None

    def require_visible(self, fqdn: str) -> None:
        """Raise Unknown if the system is hidden."""
        if fqdn in self.hidden:
            raise Unknown(display_name("system", fqdn))


async def read_view(req: Request, parts: ReadParts) -> View:
    """Return the view of a request. Raises NotYetFolded as `paging.read_at` does."""
    at = await paging.read_at(req, parts)
    is_past = query_of(req, ReadQuery).as_of is not None
    # Before another task may run: then the reader may be at a later position.
    recorded_at = at.moment if is_past else parts.reader.recorded_at
    hidden = await visibility.hidden_systems(req, parts)
    return View(principal_of(req), at, hidden, is_past, recorded_at)
