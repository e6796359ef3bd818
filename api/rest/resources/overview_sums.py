"""The sums of an overview: systems by activity, recipes by priority, and sets of placed recipes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Final

from api.rest.contract.answers.overview import SystemActivities
from api.rest.resources.shapes import Row
from domain.priority import Priority
from domain.system.lifecycle import WITH_RECIPE

ACTIVITIES: Final = tuple(SystemActivities.model_fields)
UNREGISTERED: Final = {"enabled": True, "silent": False, "never_heard": False}


def activity_of(condition: str, usage: str, *, is_draining: bool, is_reserved: bool) -> str | None:
    """Return the activity of a system; None for a Removed system without a recipe or person."""
    if is_reserved:
        return "had_by_people"
    if usage in WITH_RECIPE:
        return "running" if usage == "running" else "starting"
    if condition == "Removed":
        return None
    if condition == "Broken":
        return "broken"
    if is_draining:
        return "draining"
    return "manual" if condition == "Manual" else "idle"


def labs_of(
    labs: Iterable[Row],
    counts: Iterable[Row],
    partition_of: Mapping[str, str],
    heard: Mapping[str, datetime],
) -> list[Row]:
    """Return the labs with their systems counted by activity. `counts` are rows of `systems_by_activity`.

    A lab without a lab controller is included while it has systems.
    """
    registered = {lab["lab_controller"]: lab for lab in labs}
    doing: dict[str, Counter[str]] = {name: Counter() for name in registered}
    for row in counts:
        flags = {"is_draining": row["draining"], "is_reserved": row["is_reserved"]}
        activity = activity_of(row["condition"], row["usage"], **flags)
        if activity is not None:
            doing.setdefault(row["lab_controller"], Counter())[activity] += row["systems"]
    return [
        {
            "lab_controller": name,
            "partition": partition_of.get(name),
            **{state: registered.get(name, UNREGISTERED)[state] for state in UNREGISTERED},
            "last_heard_at": heard.get(name),
            "systems": found.total(),
            "doing": {activity: found[activity] for activity in ACTIVITIES},
        }
        for name, found in sorted(doing.items())
    ]


def all_labs_of(labs: Sequence[Row]) -> Row:
    """Return the sums over the rows of `labs_of`."""
    return {
        "systems": sum(lab["systems"] for lab in labs),
        "doing": {activity: sum(lab["doing"][activity] for lab in labs) for activity in ACTIVITIES},
    }


def queue_of(priorities: Iterable[Row], moment: datetime) -> Row:
    """Return the number of unplaced recipes and their longest waits, by priority."""
    return {
        "recipes": sum(row["recipes"] for row in priorities),
        "by_priority": {
            Priority(row["priority"]).name: {
                "recipes": row["recipes"],
                "oldest_submitted_at": row["oldest_submitted_at"],
                "longest_wait_seconds": seconds_until(row["oldest_submitted_at"], moment),
            }
            for row in priorities
        },
    }


def sets_of(recipes: Iterable[Row]) -> Iterator[Row]:
    """Yield the recipe sets of some placed recipes, with the systems of these."""
    of_set = itemgetter("recipe_set_id")
    for _, grouped in groupby(sorted(recipes, key=of_set), key=of_set):
        members = sorted(grouped, key=itemgetter("recipe_id"))
        yield {
            **without(members[0], "recipe_id", "usage", "system"),
            "recipes": len(members),
            "usage": [member["usage"] for member in members],
            "systems": [member["system"] for member in members],
        }


def seconds_until(since: datetime, moment: datetime) -> float:
    """Return the seconds from one moment to another, 0 if it is earlier by another clock."""
    return round(max(0.0, (moment - since).total_seconds()), 3)


def without(row: Row, *names: str) -> Row:
    """Return a row without some of its columns."""
    return {name: value for name, value in row.items() if name not in names}
