"""Live views: pages that browsers have open, each rendered once for all its readers.

One task renders them one after the other, each at most once a second, and rests as long as it has rendered:
so however many pages are open, requests wait for one rendering at most, and half of the time for none.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from api.pages.live.live_view import LiveView, ViewKey, positions_of_subjects
from api.rest.context import Principal
from api.rest.inside import Application, render_inside
from api.rest.visibility import Sight
from postgres.errors import DatabaseAway
from projections.reader import Reader

# The least time between two renderings of a view.
RENDER_SECONDS: Final = 1.0
MAX_RENDER_SECONDS: Final = 10.0
# A view of one subject is rendered when the subject has an event, and after this time for its other facts.
REFRESH_SECONDS: Final = 10.0
logger = logging.getLogger(__name__)


class SharedViews:
    """The live views of one process. Its task runs while at least one page is open.

    `application` is set once it exists.
    """

    application: Application

    def __init__(self, reader: Reader, sight_of: Callable[[Principal], Sight]) -> None:
        """`sight_of` returns what a principal may see now."""
        self._reader = reader
        self._sight_of = sight_of
        self._views: dict[ViewKey, LiveView] = {}
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._opened = asyncio.Event()

    @contextmanager
    def viewed(self, key: ViewKey, principal: Principal) -> Iterator[LiveView]:
        """Yield the live view of a page while a browser has it open."""
        view = self._views.setdefault(key, LiveView(key))
        view.viewers.append(principal)
        self._opened.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._keep_rendering())
        try:
            yield view
        finally:
            view.viewers.remove(principal)
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
        changed = await self._changed_subjects(older)
        due = (
            view
            for view in older
            if (view.subject is None and not view.is_of_sums)
            or view.subject in changed
            or view.position < 0
            or now - view.rendered_at >= REFRESH_SECONDS
        )
        return sorted(due, key=lambda view: view.rendered_at)

    async def _changed_subjects(self, views: Iterable[LiveView]) -> frozenset[str]:
        """Return the subjects that have an event after the position of their oldest view."""
        after = positions_of_subjects(views)
        if not after:
            return frozenset()
        params = {"subjects": list(after), "after": list(after.values())}
        rows = await self._reader.rows("changed_subjects", params)
        return frozenset(row["subject"] for row in rows)

    def _is_of(self, view: LiveView, reader: Principal) -> bool:
        """Return whether the reader still sees the same systems as all readers of the view."""
        return self._sight_of(reader) == view.key.sight

    async def _render(self, view: LiveView) -> None:
        began = view.rendered_at = time.monotonic()
        reader = next((each for each in view.viewers if self._is_of(view, each)), None)
        if reader is None:
            return
        page = None
        # A page that hangs must not keep all others from being rendered.
        with suppress(TimeoutError):
            rendering = render_inside(self.application, reader, view.address)
            page = await asyncio.wait_for(rendering, MAX_RENDER_SECONDS)
        # A policy that changed meanwhile may have shown this reader what others may not see.
        if page is not None and self._is_of(view, reader):
            view.update(page.position, page.text)
            changed, self._changed = self._changed, asyncio.Event()
            changed.set()
        await asyncio.sleep(time.monotonic() - began)
