"""The page of usage: the time of systems by group and state, in total and over time, and the same as CSV."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal

from falcon.asgi import Request, Response
from pydantic import Field

from api.headers import CSV
from api.pages.filters import filter_fields
from api.pages.page import page_view, show
from api.pages.security import HTML, secure
from api.parts import Parts
from api.rest import paging
from api.rest.context import query_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import BEGINNING, PartitionPage, Span, Summed
from api.rest.contract.query_values import GroupBy, Limit
from api.rest.resources.usage import STEPS, usage_sums
from api.rest.views import View
from domain.errors import Fault, FaultyInput
from domain.rfc3339 import rfc3339
from domain.system.lifecycle import CONDITIONS, USAGE
from domain.system.usage import UNAVAILABLE, displayed_usage, is_automated

LENGTHS: Final = {"day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=30)}
# Longer time spans have a bar for each day instead of each hour.
MAX_HOURLY_SPAN: Final = timedelta(days=3)
MAX_SPAN: Final = timedelta(days=990)
# Maximum number of bars of all groups on a page.
MAX_BARS: Final = 1_500
_CONDITIONS: Final = tuple(each for each in CONDITIONS if not is_automated(each))
STATES: Final = (*reversed(USAGE.states), *UNAVAILABLE, *_CONDITIONS)
# Units of a picture from left to right, and from top to bottom.
WIDTH, HEIGHT = 1_000, 40
TICKS: Final = 4
COLUMNS: Final = ("since", "until", "group", "condition", "usage", "seconds")


class UsageQuery(Span, PartitionPage):
    """`length` counts back from the end of the time span, unless `since` is given."""

    group_by: Annotated[GroupBy, Field(description="group the time by this")] = "lab_controller"
    length: Annotated[
        Literal["day", "week", "month"],
        Field(description="length of the time span, if since is not given"),
    ] = "week"
    limit: Annotated[Limit, Field(description="maximum number of groups")] = 20

    def sums(self, latest: datetime) -> Summed:
        """Return the query of the HTTP API. Without `since`, the time span begins with a whole step.

        Raises FaultyInput for a time span of no or too many days.
        """
        until = min(self.until or latest, latest)
        length = until - self.since if self.since else LENGTHS[self.length]
        step = "hour" if length <= MAX_HOURLY_SPAN else "day"
        since = self.since or _begin_of_step(until - min(length, until - BEGINNING), step)
        if not timedelta() < until - since <= MAX_SPAN:
            message = f"must be before the end of the time span, by at most {MAX_SPAN.days} days"
            raise FaultyInput([Fault("since", message)])
        given = self.model_dump(exclude={"length", "since", "until", "limit"})
        limit = max(1, min(self.limit, MAX_BARS // ((until - since) // STEPS[step] + 2)))
        return Summed.model_construct(**given, since=since, until=until, step=step, limit=limit)


class UsagePage:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @operation(
        "Show the usage of systems in total and over time", None, UsageQuery, gives=(HTML,), refuses=(404,)
    )
    async def on_get(self, req: Request, resp: Response) -> None:
        view, query, asked, answer, key = await self._answer(req)
        values = {
            # In a thread, because the bars of a page are thousands of sums.
            **await asyncio.to_thread(_drawn, answer),
            "group_by": query.group_by,
            "step": asked.step,
            "next": paging.next_path(req, resp, key),
            "filters": filter_fields(query),
        }
        await show(req, resp, self._parts, view, "usage.html", values, begin=answer["since"])

    @operation("Show the usage of systems as CSV", None, UsageQuery, gives=(CSV,), refuses=(404,))
    async def on_get_table(self, req: Request, resp: Response) -> None:
        view, _, _, answer, key = await self._answer(req)
        secure(resp)
        resp.set_header("Content-Disposition", 'attachment; filename="usage.csv"')
        page = paging.PageAt(view.at, 0, None)
        paging.answer_table(req, resp, page, await asyncio.to_thread(_table, answer), key)

    async def _answer(self, req: Request) -> tuple[View, UsageQuery, Summed, dict[str, Any], str | None]:
        view, query = await page_view(req, self._parts), query_of(req, UsageQuery)
        asked = query.sums(paging.moment_of(view.at, self._parts))
        page = replace(paging.page_at(req, view.at, first=""), limit=asked.limit)
        return view, query, asked, *await usage_sums(self._parts, view, asked, page)


def _begin_of_step(moment: datetime, step: str) -> datetime:
    hour = moment.replace(minute=0, second=0, microsecond=0)
    return hour if step == "hour" else hour.replace(hour=0)


def _drawn(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the groups with the seconds of each state, and their pictures.

    `bar` has the parts of a group's whole time, `paths` the outline of each state over time: the height is
    the number of systems, as a share of the largest one of the group.
    """
    since, until = answer["since"], answer["until"]
    groups = [_group(group, since, until) for group in answer["groups"]]
    states = [state for state in STATES if any(state in group["states"] for group in groups)]
    ticks = [since + (until - since) * number / TICKS for number in range(TICKS + 1)]
    return {"groups": groups, "states": states, "since": since, "until": until, "ticks": ticks}


def _group(group: Mapping[str, Any], since: datetime, until: datetime) -> dict[str, Any]:
    states, steps = _states(group["seconds"]), []
    for step in group["steps"]:
        length = (step["until"] - step["since"]).total_seconds()
        of_states = _states(step["seconds"])
        ends = [round((step[name] - since) / (until - since) * WIDTH) for name in ("since", "until")]
        systems = {state: seconds / length for state, seconds in of_states.items()}
        steps.append({**step, "states": of_states, "systems": systems, "ends": ends})
    max_systems = max(sum(step["systems"].values()) for step in steps)
    return {
        "key": group["key"],
        "seconds": sum(states.values()),
        "states": states,
        "steps": [{"since": step["since"], "states": step["states"]} for step in steps],
        "max_systems": round(max_systems, 1),
        "bar": _bar(states),
        "paths": _paths(steps, max_systems),
    }


def _states(seconds: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return state -> seconds, in the order of the states."""
    found = dict.fromkeys(STATES, 0.0)
    for condition, of_usage in seconds.items():
        for usage, number in of_usage.items():
            found[displayed_usage(condition, usage)] += number
    return {state: number for state, number in found.items() if number}


def _bar(states: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the parts of a bar of the whole width."""
    total, before, bar = sum(states.values()), 0.0, []
    for state, seconds in states.items():
        x, before = round(before / total * WIDTH), before + seconds
        bar.append({"state": state, "x": x, "width": round(before / total * WIDTH) - x})
    return bar


def _paths(steps: Iterable[Mapping[str, Any]], max_systems: float) -> dict[str, str]:
    """Return state -> the path of its rectangles, which stand on those of the states before it."""
    paths: dict[str, str] = {}
    for step in steps:
        (left, right), below = step["ends"], 0.0
        for state, systems in step["systems"].items():
            bottom, below = round(below / max_systems * HEIGHT), below + systems
            top = round(below / max_systems * HEIGHT)
            if top > bottom and right > left:
                rectangle = f"M{left} {HEIGHT - bottom}H{right}V{HEIGHT - top}H{left}Z"
                paths[state] = paths.get(state, "") + rectangle
    return paths


def _table(answer: Mapping[str, Any]) -> str:
    """Return a row for each step of each group, with its seconds of a condition and usage."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for group in answer["groups"]:
        for step in group["steps"]:
            ends = [rfc3339(step[name]) for name in ("since", "until")]
            for condition, of_usage in step["seconds"].items():
                for usage, seconds in of_usage.items():
                    writer.writerow((*ends, group["key"], condition, usage, seconds))
    return text.getvalue()
