"""Event streams over HTTP, as server-sent events, which browsers can resume."""

from __future__ import annotations

from collections.abc import Callable

import falcon
from falcon.asgi import Request, Response

from api.headers import EVENT_STREAM, POSITION_HEADER
from api.rest.middleware.principal import principal_of
from api.rest.ports import ReadParts
from api.rest.serving.worker import CONNECTION, StreamConnection
from store.selection import Selection

RETRY_SECONDS = 5


class Watchers:
    def __init__(self, parts: ReadParts) -> None:
        self._broadcast = parts.feed.broadcast

    def watch(
        self,
        req: Request,
        resp: Response,
        after: int,
        selection: Selection,
        is_allowed: Callable[[], bool] = lambda: True,
    ) -> None:
        """Send all selected events after a position, then new ones.

        `is_allowed` is called every second and must not block. The stream ends when it returns False.
        """
        user = principal_of(req).user
        if self._broadcast.is_full_for(user):
            self._broadcast.counters.refused += 1
            raise falcon.HTTPServiceUnavailable(
                description="this process has its maximum number of event streams; try again later",
                retry_after=RETRY_SECONDS,
            )
        connection: StreamConnection = req.scope["extensions"][CONNECTION]
        connection.limit_buffers()
        resp.content_type = EVENT_STREAM
        resp.set_header(POSITION_HEADER, str(self._broadcast.position))
        resp.set_header("Cache-Control", "no-cache")
        # Disables the buffering of nginx.
        resp.set_header("X-Accel-Buffering", "no")
        resp.stream = self._broadcast.watch(selection, after, connection, is_allowed, user)
