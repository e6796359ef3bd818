"""Live views without a service: for whom they are rendered."""

from __future__ import annotations

import asyncio
from json import loads
from typing import Any

from api.pages.live.live_view import LiveView, positions_of_subjects, view_key
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
    view = view_of("/ui/jobs", "alice")
    sent = SentPositions(-1, [view.address])
    found = []
    for position, text in ((10, "X"), (12, "X"), (15, "Y")):
        view.update(position, f'<div data-part="a">{text}</div><!--/a-->')
        found += [loads(event.split(b"data: ")[1]) for event in sent.changes([view]) if b"data: " in event]
    assert [(event["after"], event["position"]) for event in found] == [(None, 10), (10, 15)]


def test_live_view__its_position_alone_changes__has_no_event_until_something_else_does() -> None:
    view = view_of("/ui/jobs", "alice")
    for position, text in ((10, "X"), (12, "X")):
        view.update(position, page_at(position, text))
        assert view.has_changed_after(10) is False
    assert view.event_after(10) == b""
    view.update(15, page_at(15, "Y"))
    parts = loads(view.event_after(10).split(b"data: ")[1])["parts"]
    assert parts == {"a": "Y", "moment": "Position 15"}


def test_positions_of_subjects__several_views_of_one__the_oldest_decides() -> None:
    address = "/ui/systems/a.example.com"
    views = [view_of(address, "alice"), view_of(address, "bob"), view_of(address, "carol")]
    for view, position in zip(views, (9, 7, 8), strict=True):
        view.update(position, page_at(position, "X"))
    not_rendered, of_no_subject = view_of("/ui/recipes/1/why", "alice"), view_of("/ui/jobs", "alice")
    of_no_subject.update(3, page_at(3, "X"))
    found = positions_of_subjects([*views, not_rendered, of_no_subject])
    assert found == {"system/a.example.com": 7}


def view_of(address: str, user: str) -> LiveView:
    sight = Sight(frozenset(), frozenset())
    return LiveView(view_key(address, Principal(user, SUBMITTER, None, user), sight))


def page_at(position: int, text: str) -> str:
    moment = f'<div data-part="moment">Position {position}</div><!--/moment-->'
    return f'<div data-part="a">{text}</div><!--/a-->{moment}'
