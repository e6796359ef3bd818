"""/events: the log, in pages or live as server-sent events, which browsers can resume."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from functools import partial

import falcon
from falcon.asgi import Request, Response

from api.concurrency_limits import share_of
from api.headers import EVENT_STREAM, LAST_EVENT_ID, POSITION_HEADER
from api.intake.limits import MAX_MESSAGE_LENGTH
from api.rest import paging, partitions, visibility
from api.rest.context import Principal, principal_of, query_of
from api.rest.contract import queries
from api.rest.contract.answers.log import EventPage
from api.rest.contract.operation import JSON, operation
from api.rest.contract.query_values import MAX_POSITION, whole_number
from api.rest.ports import ReadParts
from api.rest.serving.worker import CONNECTION, StreamConnection
from api.use_cases.tokens import is_valid_token
from api.watching.message import event_document
from domain.directory.roles import SEES_ALL
from domain.errors import Fault, FaultyInput, NotPermitted
from domain.events import TOPICS, split_subject
from domain.partition_numbers import EVERYBODY
from store.selection import Selection

# Only roles in SEES_ALL may see them, as at /tokens.
OF_TOKENS = tuple(sorted(topic for topic in TOPICS if topic.startswith("token.")))


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
        hidden = await visibility.hidden_systems(req, self._parts)
        partition = None
        if query.partition is not None:
            at = await paging.read_at(req, self._parts)
            partition = await partitions.number_at(self._parts, at, query.partition)
        selection = _selection(query, principal_of(req), hidden, partition)
        resp.append_header("Vary", "Accept")
        if req.client_prefers((JSON, EVENT_STREAM)) == EVENT_STREAM:
            _check_stream(query)
            share_of(req).release_slot()
            is_allowed = partial(self._may_see_the_same, principal_of(req), hidden)
            self._watchers.watch(req, resp, _resumed(req, query.after), selection, is_allowed)
            return
        await self._page(req, resp, query, selection)

    def _may_see_the_same(self, principal: Principal, hidden: Collection[str]) -> bool:
        """Return whether the caller may still see the same events; if not, the stream ends."""
        return is_valid_token(self._parts, principal.token_id) and hidden == visibility.hidden_now(
            principal, self._parts
        )

    async def _page(
        self, req: Request, resp: Response, query: queries.EventQuery, selection: Selection
    ) -> None:
        upto = await self._upto(query)
        select = self._parts.log.select
        found, through = await asyncio.to_thread(select, query.after, upto, query.limit, selection)
        names = self._parts.feed.directory.partition_names
        if any(one.partition not in names for one in found if one.partition != EVERYBODY):
            # A partition was created a moment ago.
            await self._parts.feed.reach(through)
        following = through if through < upto else None
        paging.answer(
            resp,
            through,
            {"events": [event_document(recorded, names) for recorded in found], "next": following},
        )

    async def _upto(self, query: queries.EventQuery) -> int:
        """Return the position up to which to read. `hidden_systems` has waited for `min_position`."""
        if query.as_of is not None:
            return (await self._parts.reader.as_of(query.as_of)).position
        return await asyncio.to_thread(self._parts.log.end)


def _check_stream(query: queries.EventQuery) -> None:
    given = [name for name in ("limit", "as_of") if name in query.model_fields_set]
    if given:
        raise FaultyInput([Fault(name, "is only for pages; a stream has no end") for name in given])


def _selection(
    query: queries.EventQuery, principal: Principal, hidden_systems: Collection[str], partition: int | None
) -> Selection:
    """Return the selection. Raises NotPermitted for events of tokens (docs/decisions/0016)."""
    hidden = () if principal.role in SEES_ALL else OF_TOKENS
    kinds = {split_subject(subject)[0] for subject in query.subject or ()}
    if hidden and ("token" in kinds or any(topic in hidden for topic in query.types or ())):
        raise NotPermitted(f"the events of tokens require the role {' or '.join(sorted(SEES_ALL))}")
    unseen = frozenset(f"system/{fqdn}" for fqdn in hidden_systems)
    return Selection(query.types or None, query.subject or None, hidden, unseen, partition)


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
        # Disables the buffering of nginx.
        resp.set_header("X-Accel-Buffering", "no")
        resp.stream = self._broadcast.watch(selection, after, connection, is_allowed, user)
