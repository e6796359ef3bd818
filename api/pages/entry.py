"""The entry to the pages, and their static files."""

from __future__ import annotations

import falcon
from falcon.asgi import Request, Response

from api.pages.page import page_view, show
from api.pages.security import HTML
from api.pages.static_files import FOREVER, static_files
from api.rest.contract.operation import operation
from api.rest.contract.queries import ReadQuery
from api.rest.ports import ReadParts


class EntryPages:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation("Go to the home page", gives=(HTML,))
    async def on_get_root(self, req: Request, resp: Response) -> None:
        resp.status, resp.location = falcon.HTTP_303, "/ui"

    @operation("Show the page that leads to the lists of the directory", None, ReadQuery, gives=(HTML,))
    async def on_get_directory(self, req: Request, resp: Response) -> None:
        await show(req, resp, self._parts, await page_view(req, self._parts), "directory.html", {})

    @operation("Return a style or script", gives=(HTML,))
    async def on_get_static(self, req: Request, resp: Response, name: str) -> None:
        file = static_files().get(name)
        if file is None:
            raise falcon.HTTPNotFound
        resp.set_header("Cache-Control", FOREVER)
        resp.set_header("X-Content-Type-Options", "nosniff")
        resp.content_type, resp.data = file.media_type, file.content
