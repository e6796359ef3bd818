"""Live views without a service: for whom they are rendered."""

from __future__ import annotations

import asyncio
from json import loads
from typing import Any

from api.pages.live.live_view import LiveView, view_key
from api.pages.live.shared_views import SharedViews
from api.pages.live.stream import SentPositions
from api.rest.context import Principal
from api.rest.inside import principal_inside
from api.rest.visibility import Sight
from domain.directory.roles import SUBMITTER
from projections.reader import Reader, ReadProgress


def test_shared_view__first_reader_may_see_more_now__is_rendered_for_another_or_not_at_all() -> None:
    first, second = (Principal(name, SUBMITTER, None, name) for name in ("first", "second"))
    secret = frozenset({"secret"})
    sights = {"first": Sight(secret, secret), "second": Sight(secret, secret)}
    rendered: list[str] = []

    async def application(scope: Any, _: Any, send: Any) -> None:
        rendered.append(principal_inside(scope).user)  # type: ignore[union-attr]
        await send({"type": "http.response.start", "status": 200, "headers": [(b"labledger-position", b"7")]})
        await send({"type": "http.response.body", "body": b'<div data-part="a">1</div><!--/a-->'})

    async def render() -> int:
        progress = ReadProgress()
        progress.update(7, None, 0)
        views = SharedViews(Reader("", "", followed=progress), lambda principal: sights[principal.user])
        views.application = application
        key = view_key("/ui/systems", first, sights["first"])
        with views.viewed(key, first) as view, views.viewed(key, second):
            # The system is still hidden from the first one, who may submit to it now.
            sights["first"] = Sight(secret, frozenset())
            await views.changed(5)
            return view.position

    assert asyncio.run(render()) == 7
    assert rendered == ["second"]


def test_sent_positions__rendering_without_changes__events_follow_the_last_one() -> None:
    view = LiveView(
        view_key("/ui/jobs", Principal("alice", SUBMITTER, None, "a"), Sight(frozenset(), frozenset()))
    )
    sent = SentPositions(-1, [view.address])
    found = []
    for position, text in ((10, "X"), (12, "X"), (15, "Y")):
        view.update(position, f'<div data-part="a">{text}</div><!--/a-->')
        found += [loads(event.split(b"data: ")[1]) for event in sent.changes([view]) if b"data: " in event]
    assert [(event["after"], event["position"]) for event in found] == [(None, 10), (10, 15)]
