"""/overview: the state of the labs, what needs attention, and the jobs and systems of the caller."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from falcon.asgi import Request, Response

from api.rest import paging, partitions
from api.rest.contract import queries
from api.rest.contract.answers.overview import Overview
from api.rest.contract.operation import operation
from api.rest.ports import OverviewParts
from api.rest.resources.event_answers import event_documents, latest_problems
from api.rest.resources.overview_sums import all_labs_of, labs_of, queue_of, seconds_until, sets_of, without
from api.rest.resources.shapes import Row, listed_job
from api.rest.views import View, read_view
from domain.priority import Priority

# Maximum numbers of rows in the answer; lists with pages have the others.
MAX_OLDEST = 5
MAX_PLACED = 20
MAX_PROBLEMS = 6
MAX_BROKEN = 6
MAX_OCCUPIED = 6
MAX_JOBS = 10
MAX_SYSTEMS = 20
# The newest jobs of a person that are searched for unfinished ones.
SEARCHED_JOBS = 1_000


async def overview_answer(parts: OverviewParts, view: View) -> dict[str, Any]:
    """Return the overview, with the jobs and systems of the reader. Systems are counted by the database."""
    heard: Mapping[str, datetime]
    listed, of_labs, of_rest, heard, problems = await asyncio.gather(
        partitions.listed_partitions(parts, view.at),
        parts.reader.together(*_questions_of_labs(view)),
        parts.reader.together(*await _further_questions(parts, view)),
        _last_contacts(parts, view),
        asyncio.to_thread(latest_problems, parts, view, MAX_PROBLEMS),
    )
    counts, labs, held_back = of_labs
    priorities, oldest, broken, systems, occupied, job_ids = of_rest
    first = heapq.nsmallest(MAX_PLACED, (number for row in counts for number in row["placed"] or ()))
    placed, jobs = await parts.reader.together(
        ("placed_recipes", {"at": view.position, "recipe_ids": first}),
        ("jobs", {"at": view.position, "job_ids": [row["job_id"] for row in job_ids]}),
    )
    names = await partitions.names_at(parts, view.at, (row["partition"] for row in (*oldest, *placed, *jobs)))
    by_id = {row["job_id"]: listed_job(row, names) for row in jobs}
    by_lab = labs_of(labs, counts, _partitions_of_labs(listed), heard)
    placed_count = sum(row["recipes"] for row in counts)
    moment = paging.moment_of(view.at, parts)
    return {
        "partitions": [{name: row[name] for name in ("name", "state")} for row in listed],
        "labs": by_lab,
        "all_labs": all_labs_of(by_lab),
        "queue": {
            **queue_of(priorities, moment),
            "oldest": [_oldest(row, names, moment) for row in oldest],
            "held_back_now": None if view.is_past else {row["reason"]: row["recipes"] for row in held_back},
        },
        "placed": {
            "recipes": placed_count,
            "recipe_sets": list(sets_of(_named(row, names) for row in placed)),
            "not_shown": placed_count - len(placed),
        },
        "problems": await event_documents(parts, view, problems),
        "broken": {
            "count": broken[0]["number"] if broken else 0,
            "owned": broken[0]["owned"] if broken else 0,
            "systems": [without(row, "number", "owned") for row in broken],
        },
        "occupied": occupied,
        "jobs": [by_id[row["job_id"]] for row in job_ids],
        "systems": {
            "count": systems[0]["number"] if systems else 0,
            "systems": [without(row, "number") for row in systems],
        },
    }


class Overviews:
    def __init__(self, parts: OverviewParts) -> None:
        self._parts = parts

    @operation(
        "Show the state of the labs, what needs attention, and the caller's own jobs and systems",
        *(Overview, queries.ReadQuery),
    )
    async def on_get(self, req: Request, resp: Response) -> None:
        view = await read_view(req, self._parts)
        paging.answer_read(resp, view.at, await overview_answer(self._parts, view))


def _questions_of_labs(view: View) -> list[tuple[str, Row]]:
    at = {"at": view.position}
    return [
        ("systems_by_activity", {**at, "hidden": view.hidden_rows}),
        ("states_of_labs", at),
        ("held_back_recipes", {}),
    ]


async def _further_questions(parts: OverviewParts, view: View) -> list[tuple[str, Row]]:
    visible = {"at": view.position, "hidden": view.hidden_rows}
    user = {**visible, "user": view.principal.user}
    existing = await partitions.numbers_at(parts, view.at)
    return [
        ("queue_by_priority", visible),
        ("oldest_waits", {**visible, "partitions": existing, "limit": MAX_OLDEST}),
        ("broken_systems", {**user, "limit": MAX_BROKEN}),
        ("systems_of_user", {**user, "limit": MAX_SYSTEMS}),
        ("reconciliations", {**visible, "after": 0, "lab_controller": None, "limit": MAX_OCCUPIED}),
        ("job_ids_of_user", {**user, "searched": SEARCHED_JOBS, "limit": MAX_JOBS}),
    ]


async def _last_contacts(parts: OverviewParts, view: View) -> Mapping[str, datetime]:
    """Return the last contacts of lab controllers; none for the past, because the log has none."""
    return {} if view.is_past else await asyncio.to_thread(parts.contacts.last_heard)


def _partitions_of_labs(listed: Iterable[Row]) -> dict[str, str]:
    return {lab: partition["name"] for partition in listed for lab in partition["lab_controllers"]}


def _oldest(row: Row, names: Mapping[int, str], moment: datetime) -> Row:
    wait_seconds = seconds_until(row["submitted_at"], moment)
    return {**_named(row, names), "priority": Priority(row["priority"]).name, "wait_seconds": wait_seconds}


def _named(row: Row, names: Mapping[int, str]) -> Row:
    """Return a row of a recipe with the name of its partition."""
    return {**row, "partition": names[row["partition"]]}
