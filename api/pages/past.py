"""ChangeSteps from a page to the previous or the next change of its subject.

The page itself has only the links: the change is searched when one is followed, so no page shows anything
that was recorded after its moment.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal
from urllib.parse import parse_qsl, quote, unquote, urlencode

import falcon
from falcon.asgi import Request, Response
from pydantic import Field

from api.pages.security import HTML, secure
from api.pages.sessions import local
from api.rest import visibility
from api.rest.context import query_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import Caught
from api.rest.contract.query_values import MAX_NUMBER, Position, whole_number
from api.rest.ports import ReadParts
from domain.directory.partitions import DEFAULT

# The page of a subject: its kind, and its name or number.
_SUBJECT_PAGES: Final = re.compile(
    r"/ui/(job|recipe-set|recipe|system|pool|group|user|lab-controller|distro-tree|partition)s/([^/?]+)"
)


class StepQuery(Caught):
    to: Annotated[str, Field(description="the page, a path below /ui")]
    at: Annotated[Position, Field(description="the position that it shows")]
    direction: Annotated[Literal["previous", "next"], Field(description="which change to show")]


class ChangeSteps:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation("Show a page at another change of its subject", None, StepQuery, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response) -> None:
        query = query_of(req, StepQuery)
        path, _, params = local(query.to).partition("?")
        found = await self._step(req, _page_of_subject(path, params), query)
        secure(resp)
        as_of = [("as_of", str(found))] if found is not None else []
        address = urlencode([*parse_qsl(params), *as_of])
        resp.status, resp.location = falcon.HTTP_303, f"{path}?{address}" if address else path

    async def _step(self, req: Request, path: str, query: StepQuery) -> int | None:
        """Return the position of the change; None, the present, after the last one.

        Before the first change the position stays.
        """
        subject = _SUBJECT_PAGES.match(path)
        if subject is None:
            row = await self._parts.reader.row(f"{query.direction}_commit", {"at": query.at})
        else:
            subjects = await self._subjects(req, subject[1], unquote(subject[2]), query.at)
            params = {"at": query.at, "subjects": subjects}
            row = await self._parts.reader.row(f"{query.direction}_change", params)
        position: int | None = row["position"] if row else None
        return query.at if position is None and query.direction == "previous" else position

    async def _subjects(self, req: Request, kind: str, name: str, at: int) -> list[str]:
        """Return the subjects whose events change the page. Raises Unknown for a hidden system."""
        if kind == "system":
            await visibility.require_visible(req, self._parts, name)
        number = whole_number(name)
        if kind != "job" or number is None or number > MAX_NUMBER:
            return [f"{kind}/{name}"]
        await self._parts.reader.reach(
            min(at, self._parts.feed.position), self._parts.max_waits.position_wait_seconds
        )
        rows = await self._parts.reader.rows("subjects_of_job", {"job_id": number})
        return [row["subject"] for row in rows]


def _page_of_subject(path: str, params: str) -> str:
    """Return the page whose subject has the changes: job filters are a part of their partition."""
    if not path.startswith("/ui/filters"):
        return path
    return f"/ui/partitions/{quote(dict(parse_qsl(params)).get('partition', DEFAULT), safe='')}"
