"""The pages of systems."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, Final

from falcon.asgi import Request, Response

from api.pages.actions import offered, offered_creation
from api.pages.filters import filter_fields
from api.pages.lab import LENGTHS, LabQuery, drawn
from api.pages.many_systems_action import MANY_SYSTEMS
from api.pages.page import page_view, show, show_list
from api.pages.power_actions import shown_power
from api.pages.security import HTML
from api.pages.system_actions import SYSTEM
from api.parts import Parts
from api.rest import paging
from api.rest.context import query_of, request_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import Page, QueuePage, SystemPage
from api.rest.explainer_answers import in_time
from api.rest.ports import QueueParts
from api.rest.resources import history, recipe_queue, system_notes, systems
from api.rest.resources.policies import (
    pool_policy_answer,
    system_policy_from_rows,
    system_policy_queries,
)
from api.rest.resources.timeline import TIMELINE_START, timeline_answer
from api.rest.resources.usage import use_query
from api.rest.views import View
from domain.errors import FaultyInput
from domain.system.lifecycle import WITHOUT_RECIPES
from projections.read_sessions import Row

# The page has the first waiting recipes in the order of the system.
MAX_WAITING: Final = 20
# The page has the newest notes.
MAX_NOTES: Final = 20
# The words for the usage of a system by a recipe, before the number of the recipe.
_WITH_RECIPE: Final = {
    "scheduled": "scheduled for recipe",
    "waiting": "waiting with recipe",
    "installing": "installing for recipe",
    "running": "running recipe",
}


class SystemPages:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @operation("Show the list of systems", None, SystemPage, gives=(HTML,), refuses=(404,))
    async def on_get_list(self, req: Request, resp: Response) -> None:
        view, query = await page_view(req, self._parts), query_of(req, SystemPage)
        page = paging.page_at(req, view.at, systems.BEFORE_ALL)
        found = await systems.system_list(self._parts, view, query, page)
        creation = await offered_creation(self._parts, request_of(req), view, MANY_SYSTEMS)
        selection = {field.name: field.value for field in filter_fields(query) if field.value}
        more = {"creation": creation, "selection": selection}
        await show_list(req, resp, self._parts, view, "systems.html", query, found, **more)

    @operation("Show the page of a system, with a page of its changes", None, Page, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response, fqdn: str) -> None:
        view = await page_view(req, self._parts)
        view, waiting = await waiting_recipes(self._parts, view, fqdn)
        system, in_use, policies, notes = await self._system(view, fqdn)
        page = paging.page_at(req, view.at, history.BEFORE_ALL)
        ordered = [in_use["ordered_position"]] if in_use["kind"] else []
        changes, of_condition, actors = await history.history_answer(
            self._parts, view, fqdn, page, more_positions=ordered
        )
        power = await shown_power(self._parts, view, fqdn)
        facts = {**system, "has_notes": bool(notes["newest"]), "power": power}
        values = {
            "system": system,
            "in_use": {**in_use, "ordered_by": actors.get(in_use["ordered_position"])},
            "sentence": _sentence(system, of_condition["reason"]),
            "of_condition": of_condition,
            "changes": changes.items,
            "next": paging.next_path(req, resp, changes.key),
            "waiting": waiting,
            "notes": notes,
            "power": power,
            "actions": await offered(self._parts, request_of(req), view, SYSTEM, fqdn, facts),
            **policies,
            **_with_end(await self._usage(view, fqdn)),
        }
        await show(req, resp, self._parts, view, "system.html", values)

    async def _system(
        self, view: View, fqdn: str
    ) -> tuple[dict[str, Any], Row, dict[str, Any], dict[str, Any]]:
        """Return a system, its use, its policy with that of the pool that replaces it, and its newest notes.

        Without such a pool, its policy is None. All but that policy are one question. Raises Unknown.
        """
        of_system = systems.system_queries(self._parts, view, fqdn)
        newest = paging.PageAt(view.at, MAX_NOTES, system_notes.BEFORE_ALL)
        *rows, use, policies, versions, is_there, notes = await self._parts.reader.together(
            *of_system,
            use_query(self._parts, view, fqdn),
            *system_policy_queries(view, fqdn),
            *system_notes.note_queries(view, fqdn, newest),
        )
        _, system = await systems.system_from_rows(self._parts, view, fqdn, rows)
        _, policy = system_policy_from_rows(fqdn, (policies, versions))
        pool = policy["active_pool"]
        pool_policy = None if pool is None else (await pool_policy_answer(self._parts, view, pool))[1]
        shown = system_notes.notes_from_rows(fqdn, newest, (is_there, notes))
        return (
            system,
            use[0],
            {"policy": policy, "pool_policy": pool_policy},
            {"newest": shown.items, "has_more": shown.key is not None},
        )

    async def _usage(self, view: View, fqdn: str) -> dict[str, Any]:
        """Return the usage of the day before the moment of the page, drawn as on the page of the lab.

        Only of a system with thousands of intervals a day, short ones are mixed.
        """
        drawn_day = LabQuery().timeline(paging.moment_of(view.at, self._parts))
        asked = drawn_day.model_copy(update={"fqdn": (fqdn,)})
        page = paging.PageAt(view.at, 1, TIMELINE_START)
        try:
            exact = asked.model_copy(update={"resolution_seconds": 0})
            answer, _ = await timeline_answer(self._parts, view, exact, page)
        except FaultyInput:
            answer, _ = await timeline_answer(self._parts, view, asked, page)
        return await asyncio.to_thread(drawn, answer, LENGTHS["day"])


async def waiting_recipes(parts: QueueParts, view: View, fqdn: str) -> tuple[View, dict[str, Any] | None]:
    """Return the recipes that wait for a system, in its order, and the view that the order reflects.

    There is no order (None) while the explaining process reads the log, and for a system in no partition.
    """
    view.require_visible(fqdn)
    query = QueuePage.model_construct(system=fqdn)
    first = paging.PageAt(view.at, MAX_WAITING, recipe_queue.first_key(query))
    try:
        answer = await in_time(recipe_queue.queue_answer(parts, view, query, first))
    except FaultyInput:
        answer = None
    if answer is None:
        return view, None
    page, found = answer
    waiting = {"recipes": found.items, "has_more": found.key is not None}
    return replace(view, at=page.at), waiting


def _with_end(usage: dict[str, Any]) -> dict[str, Any]:
    """Append the state at the end if it has just begun: the time line leaves out what has no duration."""
    (system,), until = usage["timeline"]["systems"], usage["timeline"]["until"]
    intervals, at_end = system["intervals"], system["at_end"]
    if at_end is not None and intervals[-1]["state"] not in (at_end["state"], "mixed"):
        intervals.append(
            {**at_end, "since": until, "until": until, "seconds": 0, "shares": [], "x": 0, "width": 0}
        )
    return usage


def _sentence(system: dict[str, Any], reason: str | None) -> str:
    """Return the condition and use of a system as a sentence, for titles and the previews of chats.

    `reason` is that of the condition.
    """
    subject = f"System {system['fqdn']} is {system['condition']}"
    if system["condition"] in WITHOUT_RECIPES:
        return f"{subject}: {reason}" if reason else subject
    draining = ", draining" if system["draining"] else ""
    loan = f", on loan to {system['loaned_to']}" if system["loaned_to"] else ""
    return f"{subject} and {_use(system)}{draining}{loan}"


def _use(system: dict[str, Any]) -> str:
    if system["user"]:
        return f"reserved by {system['user']}"
    if system["recipe_id"]:
        return f"{_WITH_RECIPE[system['usage']]} {system['recipe_id']}"
    if system["occupied"]:
        return f"occupied: {system['occupied']['reason']}"
    return str(system["usage"])
