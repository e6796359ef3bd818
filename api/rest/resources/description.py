"""/openapi.json: what this API is, for machines."""

from __future__ import annotations

from typing import Any

import orjson
from falcon.asgi import Request, Response

from api.rest.contract.operation import operation


class Description:
    """`document` is set once every route is known."""

    document: dict[str, Any]

    @operation("Describe this API, as OpenAPI 3.1")
    async def on_get(self, req: Request, resp: Response) -> None:
        resp.content_type = "application/json"
        resp.data = orjson.dumps(self.document)
