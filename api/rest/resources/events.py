"""/events: the log, in pages or live as server-sent events, which browsers can resume."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from functools import partial

import falcon
from falcon.asgi import Request, Response

from api.concurrency_limits import share_of
from api.headers import EVENT_STREAM, LAST_EVENT_ID, POSITION_HEADER, UNBUFFERED
from api.intake.limits import MAX_MESSAGE_LENGTH
from api.rest import paging, partitions, visibility
from api.rest.context import Principal, principal_of, query_of
from api.rest.contract import queries
from api.rest.contract.answers.log import EventPage, EventShown
from api.rest.contract.operation import JSON, operation
from api.rest.contract.query_values import MAX_POSITION, whole_number
from api.rest.ports import ReadParts
from api.rest.resources.event_answers import event_answer, event_list, selection_of
from api.rest.serving.worker import CONNECTION, StreamConnection
from api.rest.views import View
from api.use_cases.tokens import is_valid_token
from domain.errors import Fault, FaultyInput
from projections.reader import At
from store.selection import Selection

# The parameters that a stream does not take.
OF_PAGES = ("limit", "as_of", "before", "newest_first", "since", "until")


async def log_view(req: Request, parts: ReadParts) -> View:
    """Return the view of a read of the log alone, which waits for the read models only if they are behind it.

    Raises NotYetFolded like `paging.read_at`.
    """
    hidden = await visibility.hidden_systems(req, parts)
    as_of = query_of(req, queries.ReadQuery).as_of
    at = At(await asyncio.to_thread(parts.log.end)) if as_of is None else await parts.reader.as_of(as_of)
    return View(principal_of(req), at, hidden, as_of is not None, at.moment)


class Events:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts
        self._watchers = Watchers(parts)

    @operation(
        "Read the log in pages, or live as an event stream",
        EventPage,
        queries.EventQuery,
        gives=(JSON, EVENT_STREAM),
        refuses=(404,),
    )
    async def on_get(self, req: Request, resp: Response) -> None:
        query = query_of(req, queries.EventQuery)
        resp.append_header("Vary", "Accept")
        # The names of partitions, and the parts of the log with events of an actor, are in the read models.
        needs_read_models = query.partition is not None or query.actor is not None
        at = await paging.read_at(req, self._parts) if needs_read_models else None
        if req.client_prefers((JSON, EVENT_STREAM)) == EVENT_STREAM:
            await self._stream(req, resp, query, at or At(0))
            return
        view = await log_view(req, self._parts)
        found = await event_list(self._parts, view, query)
        paging.answer(resp, found.through, {"events": found.events, "next": found.following})

    @operation(
        "Show an event with the events that it caused",
        *(EventShown, queries.CausedQuery),
        refuses=(404,),
    )
    async def on_get_one(self, req: Request, resp: Response, position: int) -> None:
        view, query = await log_view(req, self._parts), query_of(req, queries.CausedQuery)
        found = await event_answer(self._parts, view, position, query.caused_after)
        paging.answer_read(resp, view.at, found)

    async def _stream(self, req: Request, resp: Response, query: queries.EventQuery, at: At) -> None:
        hidden = await visibility.hidden_systems(req, self._parts)
        view = View(principal_of(req), at, hidden, is_past=False, recorded_at=None)
        partition = await partitions.number_at(self._parts, at, query.partition)
        selection = selection_of(view, query.types, query.subject, partition, query.actor)
        _check_stream(query)
        share_of(req).release_slot()
        is_allowed = partial(self._may_see_the_same, view.principal, view.hidden)
        self._watchers.watch(req, resp, _resumed(req, query.after), selection, is_allowed)

    def _may_see_the_same(self, principal: Principal, hidden: Collection[str]) -> bool:
        """Return whether the caller may still see the same events; if not, the stream ends."""
        return is_valid_token(self._parts, principal.token_id) and hidden == visibility.hidden_now(
            principal, self._parts
        )


def _check_stream(query: queries.EventQuery) -> None:
    given = [name for name in OF_PAGES if name in query.model_fields_set]
    if given:
        raise FaultyInput([Fault(name, "is only for pages; a stream has no end") for name in given])


def _resumed(req: Request, after: int) -> int:
    """Return the position after which a stream begins: the last event seen. Raises FaultyInput."""
    last_id = req.get_header(LAST_EVENT_ID)
    if last_id is None:
        return after
    position = whole_number(last_id)
    if position is None or position > MAX_POSITION:
        raise FaultyInput([Fault(LAST_EVENT_ID, f"{last_id[:MAX_MESSAGE_LENGTH]!r} is not a position")])
    return position


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
        """Send all selected events after a position, until `is_allowed`, which must not block, is False."""
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
        resp.set_header(*UNBUFFERED)
        resp.stream = self._broadcast.watch(selection, after, connection, is_allowed, user)
