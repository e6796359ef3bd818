"""Answers about the events of the log: a page of them, and one with the events that it caused."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from api.rest import partitions
from api.rest.contract import queries
from api.rest.ports import ReadParts
from api.rest.views import View
from api.watching.message import event_document
from domain.directory.events import LabControllerDisabled, LabControllerSilent
from domain.directory.roles import SEES_ALL
from domain.errors import Fault, FaultyInput, NotPermitted, Unknown
from domain.events import TOPICS, Recorded, split_subject
from domain.recipe.events import RecipeAborted
from domain.system.events import SystemConditionChanged
from store.client_addresses import addresses_of
from store.selection import Selection

# Only roles in SEES_ALL may see them, as at /tokens.
OF_TOKENS = tuple(sorted(topic for topic in TOPICS if topic.startswith("token.")))
# Events that one caused mostly follow at once. One answer searches this many positions, in some 5 ms.
CAUSED_POSITIONS = 10_000
MAX_CAUSED = 100
PROBLEM_TOPICS = (
    RecipeAborted.TOPIC,
    SystemConditionChanged.TOPIC,
    LabControllerSilent.TOPIC,
    LabControllerDisabled.TOPIC,
)
PROBLEM_PAGE, PROBLEM_PAGES = 50, 10
# Subjects that have no events.
NOTHING = ("",)
# Hidden events are left out of what is read, so the next visible one may be some pages away.
NEIGHBOUR_PAGE = 20


@dataclass(frozen=True)
class EventsFound:
    """Selected events. `through`: the position that the page reflects.

    `following`: the `after` of the next page, or its `before` if the newest event comes first; None on the
    last page.
    """

    events: list[dict[str, Any]]
    through: int
    following: int | None


async def event_list(parts: ReadParts, view: View, query: queries.EventQuery) -> EventsFound:
    """Return a page of the events that match a query.

    Raises NotPermitted for events of tokens, Unknown for the partition.
    """
    partition = await partitions.number_at(parts, view.at, query.partition)
    selection = selection_of(view, query.types, query.subject, partition, query.actor)
    after, upto = await _bounds(parts, view, query)
    select = parts.log.select_backwards if query.newest_first else parts.log.select
    found, end = await asyncio.to_thread(select, after, upto, query.limit, selection)
    if query.newest_first:
        through, following = view.position, end + 1 if end > after else None
    else:
        through, following = (end, end) if end < upto else (view.position, None)
    return EventsFound(await event_documents(parts, view, found), through, following)


async def event_documents(parts: ReadParts, view: View, found: list[Recorded]) -> list[dict[str, Any]]:
    """Return events as the HTTP API writes them, for roles in SEES_ALL with the addresses of clients."""
    names = await partitions.names_at(parts, view.at, (recorded.partition for recorded in found))
    documents = [event_document(recorded, names) for recorded in found]
    if parts.address_days and view.principal.role in SEES_ALL:
        addresses = await asyncio.to_thread(addresses_of, parts.log, found, parts.address_days)
        for document in documents:
            document["address"] = addresses.get(document["commit_end"])
    return documents


def latest_problems(parts: ReadParts, view: View, limit: int) -> list[Recorded]:
    """Return the latest problems that the reader may see, newest first. Blocking.

    A change of condition is a problem only if the system became Broken. Of many other changes in a row, only
    some pages are read.
    """
    selection, upto = selection_of(view, PROBLEM_TOPICS), view.position
    problems: list[Recorded] = []
    for _ in range(PROBLEM_PAGES):
        found, upto = parts.log.select_backwards(0, upto, PROBLEM_PAGE, selection)
        problems += filter(_is_problem, found)
        if upto <= 0 or len(problems) >= limit:
            break
    return problems[:limit]


def _is_problem(recorded: Recorded) -> bool:
    event = recorded.event
    return not isinstance(event, SystemConditionChanged) or event.condition == "Broken"


async def event_answer(parts: ReadParts, view: View, position: int, caused_after: int | None) -> Any:
    """Return the answer about one event. Raises Unknown if there is none, or the reader may not see it."""
    everything = selection_of(view)
    found: list[Recorded] = []
    if position <= view.position:
        found, _ = await asyncio.to_thread(parts.log.select, position - 1, position, 1, everything)
    if not found:
        raise Unknown(f"event {position}")
    (event,) = found
    after = max(position, caused_after or 0)
    upto = min(after + CAUSED_POSITIONS, view.position)
    of_subject = selection_of(view, subjects=(event.subject,))
    (caused, through), previous, following = await asyncio.gather(
        asyncio.to_thread(parts.log.caused_by, position, after, upto, MAX_CAUSED),
        asyncio.to_thread(_previous, parts, position, of_subject),
        asyncio.to_thread(_following, parts, position, view.position, of_subject),
    )
    visible = [one for one in caused if everything.shows(one)]
    shown, *shown_caused = await event_documents(parts, view, [event, *visible])
    return {
        "event": shown,
        "previous_of_subject": previous,
        "next_of_subject": following,
        "caused": shown_caused,
        "caused_through": through,
        "caused_after": through if through < view.position else None,
    }


def selection_of(
    view: View,
    topics: Collection[str] = (),
    subjects: Collection[str] = (),
    partition: int | None = None,
    actor: str | None = None,
) -> Selection:
    """Return a selection without what the reader may not see.

    Raises NotPermitted if it names events of tokens (docs/decisions/0016).
    """
    hidden = () if view.principal.role in SEES_ALL else OF_TOKENS
    kinds = {split_subject(subject)[0] for subject in subjects}
    if hidden and ("token" in kinds or any(topic in hidden for topic in topics)):
        raise NotPermitted(f"the events of tokens require the role {' or '.join(sorted(SEES_ALL))}")
    unseen = frozenset(f"system/{fqdn}" for fqdn in view.hidden)
    # Not even the end of a page may depend on the events of a hidden system.
    seen = tuple(subject for subject in subjects if subject not in unseen) or (NOTHING if subjects else None)
    return Selection(tuple(topics) or None, seen, hidden, unseen, partition, actor)


async def _bounds(parts: ReadParts, view: View, query: queries.EventQuery) -> tuple[int, int]:
    """Return the position after which to read, and that up to which to read."""
    upto = view.position if query.before is None else min(view.position, max(0, query.before - 1))
    if query.since is None and query.until is None:
        return query.after, upto
    if query.since is not None and query.until is not None and query.until < query.since:
        raise FaultyInput([Fault("until", "is before `since`")])
    first, last = await asyncio.to_thread(parts.log.span, query.since, query.until)
    return max(query.after, first), upto if last is None else min(upto, last)


def _previous(parts: ReadParts, position: int, selection: Selection) -> int | None:
    """Return the position of the last visible event before one. Blocking."""
    upto = position - 1
    while upto > 0:
        found, upto = parts.log.select_backwards(0, upto, NEIGHBOUR_PAGE, selection)
        if found:
            return found[0].position
    return None


def _following(parts: ReadParts, position: int, upto: int, selection: Selection) -> int | None:
    """Return the position of the first visible event after one. Blocking."""
    after = position
    while after < upto:
        found, after = parts.log.select(after, upto, NEIGHBOUR_PAGE, selection)
        if found:
            return found[0].position
    return None
