"""Event streams over HTTP, as server-sent events, which browsers can read and resume."""

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
        still_allowed: Callable[[], bool] = lambda: True,
    ) -> None:
        """Answer with all selected events after a position, then with new ones.

        `still_allowed` is asked about once a second, and must not block; the stream ends when it says no.
        """
        who = principal_of(req).user
        if self._broadcast.is_full_for(who):
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
        resp.stream = self._broadcast.watch(selection, after, connection, still_allowed, who)
