"""Live views without a service: for whom they are rendered."""

from __future__ import annotations

import asyncio
from typing import Any

from api.pages.live.shared_views import SharedViews, view_key
from api.rest.context import Principal
from api.rest.inside import principal_inside
from domain.directory.roles import SUBMITTER
from projections.reader import Reader, ReadProgress


def test_shared_view__first_reader_may_see_more_now__is_rendered_for_another_or_not_at_all() -> None:
    first, second = (Principal(name, SUBMITTER, None, name) for name in ("first", "second"))
    hidden = {"first": frozenset({"secret"}), "second": frozenset({"secret"})}
    rendered: list[str] = []

    async def application(scope: Any, _: Any, send: Any) -> None:
        rendered.append(principal_inside(scope).user)  # type: ignore[union-attr]
        await send({"type": "http.response.start", "status": 200, "headers": [(b"labledger-position", b"7")]})
        await send({"type": "http.response.body", "body": b'<div data-part="a">1</div><!--/a-->'})

    async def render() -> int:
        progress = ReadProgress()
        progress.update(7, None, 0)
        views = SharedViews(Reader("", "", followed=progress), lambda principal: hidden[principal.user])
        views.application = application
        key = view_key("/ui/systems", first, hidden["first"])
        with views.viewed(key, first) as view, views.viewed(key, second):
            hidden["first"] = frozenset()
            await views.changed(5)
            return view.position

    assert asyncio.run(render()) == 7
    assert rendered == ["second"]
