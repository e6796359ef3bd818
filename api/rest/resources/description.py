"""/openapi.json: the OpenAPI document."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cached_property
from typing import Any

import orjson
from falcon.asgi import Request, Response

from api.rest.contract.operation import operation


class Description:
    """The OpenAPI document, which `describe` builds at the first request because it takes long."""

    describe: Callable[[], dict[str, Any]]

    @operation("Return the OpenAPI 3.1 document of this API")
    async def on_get(self, req: Request, resp: Response) -> None:
        resp.content_type = "application/json"
        resp.data = await asyncio.to_thread(lambda: self._written)

    @cached_property
    def _written(self) -> bytes:
        return orjson.dumps(self.describe())
