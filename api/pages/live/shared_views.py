"""Live views: pages that browsers have open, each rendered once for all who see the same.

One task renders them one after the other, each at most once a second, and rests as long as it has rendered:
so however many pages are open, requests wait for one rendering at most, and half of the time for none.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import unquote

import orjson

from api.pages.live.parts_of_page import live_parts, without_ages
from api.rest.context import Principal
from api.rest.inside import Application, render_inside
from postgres.errors import DatabaseAway
from projections.reader import Reader

# The least time between two renderings of a view.
RENDER_SECONDS: Final = 1.0
# A view of one subject is rendered when the subject has an event, and after this time for what else it shows.
REFRESH_SECONDS: Final = 10.0
# Only these pages show something about the reader.
_PERSONAL: Final = re.compile(r"/ui(\?|$|/tokens)")
_SUBJECT: Final = re.compile(r"/ui/(recipe|recipe-set|system)s/([^/?]+)(?=\?|$|/why)")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ViewKey:
    """The address of a live view, and what its readers share; `user` is None unless the page is personal."""

    address: str
    role: str
    hidden: frozenset[str]
    user: str | None


def view_key(address: str, principal: Principal, hidden: frozenset[str]) -> ViewKey:
    user = principal.user if _PERSONAL.match(address) else None
    return ViewKey(address, principal.role, hidden, user)


class LivePart(NamedTuple):
    """A part of a page, and the position at which its `facts`, the HTML without the ages, last changed."""

    position: int
    html: str
    facts: str


@dataclass(eq=False)
class LiveView:
    """A page that is open in browsers, with its live parts by name."""

    address: str
    principal: Principal
    viewers: int = 0
    position: int = -1
    rendered_at: float = 0.0
    parts: dict[str, LivePart] = field(default_factory=dict)
    _events: dict[int, bytes] = field(default_factory=dict)

    @property
    def subject(self) -> str | None:
        """Return the subject of a page about one, whose events change it."""
        found = _SUBJECT.match(self.address)
        return f"{found[1]}/{unquote(found[2])}" if found else None

    def update(self, position: int, text: str) -> None:
        for name, html in live_parts(text).items():
            facts = without_ages(html)
            if name not in self.parts or self.parts[name].facts != facts:
                self.parts[name] = LivePart(position, html, facts)
        self.position = position
        self._events.clear()

    def event_after(self, position: int) -> bytes:
        """Return a server-sent event with the parts that have changed after a position; empty without any.

        It is written once for all browsers that have the same position.
        """
        if position not in self._events:
            parts = {name: part.html for name, part in self.parts.items() if part.position > position}
            data = orjson.dumps({"page": self.address, "position": self.position, "parts": parts})
            event = b"id: %d\nevent: page\ndata: %b\n\n" % (self.position, data)
            self._events[position] = event if parts else b""
        return self._events[position]


class SharedViews:
    """The live views of one process. Its task runs while at least one page is open.

    `application` is set once it exists.
    """

    application: Application

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._views: dict[ViewKey, LiveView] = {}
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._opened = asyncio.Event()

    @contextmanager
    def viewed(self, key: ViewKey, principal: Principal) -> Iterator[LiveView]:
        """Yield the live view of a page while a browser has it open."""
        view = self._views.setdefault(key, LiveView(key.address, principal))
        view.viewers += 1
        self._opened.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._keep_rendering())
        try:
            yield view
        finally:
            view.viewers -= 1
            if not view.viewers:
                del self._views[key]

    async def changed(self, timeout_seconds: float) -> None:
        """Wait until a view has changed, or until the timeout."""
        try:
            await asyncio.wait_for(self._changed.wait(), timeout_seconds)
        except TimeoutError:
            return

    async def _keep_rendering(self) -> None:
        seen = -1
        while self._views:
            await self._wait_for_news(seen)
            seen = self._reader.position
            try:
                for view in await self._due(seen):
                    await self._render(view)
            except DatabaseAway:
                await asyncio.sleep(RENDER_SECONDS)
            except Exception:
                logger.exception("live pages: cannot render")
                await asyncio.sleep(RENDER_SECONDS)
            await asyncio.sleep(RENDER_SECONDS / 4)

    async def _wait_for_news(self, seen: int) -> None:
        """Wait until the read models move on or a page is opened; a second at most."""
        opened = asyncio.create_task(self._opened.wait())
        moved = asyncio.create_task(self._reader.changed(seen, RENDER_SECONDS))
        _, pending = await asyncio.wait((opened, moved), return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        self._opened.clear()

    async def _due(self, position: int) -> list[LiveView]:
        """Return the views to render: new ones, and those that may have changed, the oldest first."""
        now = time.monotonic()
        older = [
            view
            for view in self._views.values()
            if view.position < position and now - view.rendered_at >= RENDER_SECONDS
        ]
        of_subjects = {
            subject: view for view in older if view.position >= 0 and (subject := view.subject) is not None
        }
        changed = await self._changed_subjects(of_subjects)
        due = (
            view
            for view in older
            if view.subject is None
            or view.subject in changed
            or view.position < 0
            or now - view.rendered_at >= REFRESH_SECONDS
        )
        return sorted(due, key=lambda view: view.rendered_at)

    async def _changed_subjects(self, views: dict[str, LiveView]) -> frozenset[str]:
        """Return the subjects that have an event after the position of their view."""
        if not views:
            return frozenset()
        after = [view.position for view in views.values()]
        rows = await self._reader.rows("changed_subjects", {"subjects": list(views), "after": after})
        return frozenset(row["subject"] for row in rows)

    async def _render(self, view: LiveView) -> None:
        began = view.rendered_at = time.monotonic()
        page = await render_inside(self.application, view.principal, view.address)
        if page is not None:
            view.update(page.position, page.text)
            changed, self._changed = self._changed, asyncio.Event()
            changed.set()
        await asyncio.sleep(time.monotonic() - began)
