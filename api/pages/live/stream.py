"""`/ui/live`: the stream of a browser, with the changes of the pages that it has open."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import ExitStack
from typing import Annotated, Final

import falcon
from falcon.asgi import Request, Response
from pydantic import BeforeValidator, Field

from api.concurrency_limits import share_of
from api.headers import EVENT_STREAM, LAST_EVENT_ID, UNBUFFERED
from api.pages.live.live_view import LiveView, view_key
from api.pages.live.shared_views import SharedViews
from api.pages.security import secure
from api.pages.sessions import local
from api.rest import visibility
from api.rest.context import Principal, principal_of, query_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import Caught
from api.rest.contract.query_values import whole_number
from api.rest.ports import ReadParts
from api.rest.visibility import Sight
from api.use_cases.tokens import is_valid_token
from api.watching.capacity import max_watchers
from domain.errors import Fault, FaultyInput

# A browser with more visible tabs is not served.
MAX_PAGES: Final = 30
# Streams of one user in one process: one for each of several browsers.
MAX_STREAMS_OF_USER: Final = 1_000
# A stream without changes says at this interval that it is alive, and ends after a logout.
ALIVE_SECONDS: Final = 5.0
RETRY_MILLISECONDS: Final = 2_000


class LiveQuery(Caught):
    page: Annotated[
        tuple[str, ...],
        BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
        Field(description="the address of an open page, below /ui"),
    ]


class LiveStream:
    def __init__(self, parts: ReadParts, views: SharedViews) -> None:
        self._parts = parts
        self.views = views
        self._streams = Counter[str]()

    @operation("Follow open pages", None, LiveQuery, gives=(EVENT_STREAM,))
    async def on_get(self, req: Request, resp: Response) -> None:
        principal, pages = principal_of(req), query_of(req, LiveQuery).page
        addresses = [address for address in dict.fromkeys(pages) if local(address) == address]
        if not addresses or len(addresses) > MAX_PAGES:
            raise FaultyInput([Fault("page", f"must be 1 to {MAX_PAGES} addresses of pages below /ui")])
        if self._is_full_for(principal.user):
            raise falcon.HTTPServiceUnavailable(description="too many live pages; try again later")
        await visibility.hidden_systems(req, self._parts)
        sight = visibility.sight_now(principal, self._parts)
        share_of(req).release_slot()
        after = whole_number(req.get_header(LAST_EVENT_ID) or "") or -1
        secure(resp)
        resp.content_type = EVENT_STREAM
        resp.set_header(*UNBUFFERED)
        resp.stream = self._stream(principal, sight, addresses, after)

    def _is_full_for(self, user: str) -> bool:
        return self._streams[user] >= MAX_STREAMS_OF_USER or self._streams.total() >= max_watchers() // 2

    async def _stream(
        self, principal: Principal, sight: Sight, addresses: list[str], after: int
    ) -> AsyncIterator[bytes]:
        """Yield the changes of the pages as events, until the logout or the end of the service."""
        self._streams[principal.user] += 1
        try:
            with ExitStack() as stack:
                keys = (view_key(address, principal, sight) for address in addresses)
                views = [stack.enter_context(self.views.viewed(key, principal)) for key in keys]
                sent = SentPositions(after, addresses)
                yield f"retry: {RETRY_MILLISECONDS}\n\n".encode()
                last = time.monotonic()
                while self._may_go_on(principal, sight):
                    await self.views.changed(ALIVE_SECONDS)
                    for chunk in sent.changes(views):
                        # A write may take long, and a policy may have changed during it or the wait.
                        if not self._may_go_on(principal, sight):
                            return
                        last = time.monotonic()
                        yield chunk
                    if time.monotonic() - last >= ALIVE_SECONDS:
                        last = time.monotonic()
                        yield b"event: alive\ndata: {}\n\n"
        finally:
            self._streams[principal.user] -= 1

    def _may_go_on(self, principal: Principal, sight: Sight) -> bool:
        """Return whether the reader is still logged in and sees the same systems."""
        return (
            not self._parts.feed.is_closing
            and is_valid_token(self._parts, principal.token_id)
            and sight == visibility.sight_now(principal, self._parts)
        )


class SentPositions:
    """The positions of the pages that a browser has. Mutable.

    A browser that resumes its stream has every page as of one position, but not from this stream: another
    process may have rendered it. So the first event of a page has all of it.
    """

    def __init__(self, after: int, addresses: Iterable[str]) -> None:
        self._positions = dict.fromkeys(addresses, after)
        self._began: set[str] = set()

    def changes(self, views: Iterable[LiveView]) -> list[bytes]:
        """Return an event for each page with changes, and the position at which the stream may be resumed."""
        found = [event for view in views if (event := self._change(view))]
        resumed_at = min(self._positions.values())
        return [*found, b"id: %d\n\n" % resumed_at] if found and resumed_at > 0 else found

    def _change(self, view: LiveView) -> bytes:
        after = self._positions[view.address]
        if view.position <= after:
            return b""
        if view.address in self._began:
            event = view.event_after(after)
        else:
            event = view.event() if view.has_changed_after(after) else b""
        if event:
            # A browser has the position of the last event, not that of a later rendering without changes.
            self._began.add(view.address)
            self._positions[view.address] = view.position
        return event
