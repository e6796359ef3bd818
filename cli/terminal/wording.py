"""Formatting of values for people."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from domain.intake_states import DRAINING, STOPPED
from domain.scheduling.supply.reasons import shown_reason

# Largest unit first; a duration has at most two of them.
UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


# State of a partition that takes no jobs -> what it does.
INTAKE_ENDED = {
    DRAINING: "no new jobs, what is there is granted",
    STOPPED: "no new jobs, and nothing is granted",
}


def plain(value: Any) -> str:
    """Return any value as text on one line, with blanks instead of control characters."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return " ".join(f"{name}={plain(item)}" for name, item in value.items())
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ", ".join(map(plain, value))
    return "".join(letter if letter.isprintable() else " " for letter in str(value))


def weight(row: Mapping[str, Any]) -> str:
    """Return the weight of a recipe; empty if weights are off."""
    return "" if row.get("weight") is None else f"{row['weight']:.2f}"


WAITS_FOR_LOCKS = "waits for its resource locks"


def reason_of(row: Mapping[str, Any]) -> str:
    """Return the reason of a row; for a recipe that waits for its locks, that it does."""
    return shown_reason(row.get("reason") or (WAITS_FOR_LOCKS if row.get("awaits_locks") else ""))


def reason_note(recipes: Iterable[Mapping[str, Any]]) -> str | None:
    """Return when the scheduler found the reason of the first queued recipe, and how to get the present one.

    The reason is that of the last search, so it may be outdated. None if no queued recipe has a reason.
    """
    for recipe in recipes:
        if recipe["state"] == "queued" and recipe.get("reason"):
            number = recipe["recipe_id"]
            found = f"reason of recipe {number}: found {clock(recipe.get('since'))} ({zone()})"
            return f"{found}; the present one: labledger explain {number}"
    return None


def duration(seconds: float) -> str:
    """Return seconds in the two largest units: `75` -> `1m 15s`."""
    rest, parts = max(0, int(seconds)), list[str]()
    for unit, length in UNITS:
        count, rest = divmod(rest, length)
        if count or parts or unit == "s":
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2])


def elapsed(since: str | None, until: str | None = None, *, now: datetime | None = None) -> str:
    """Return the length of an interval, until now without an end; empty without a start."""
    return "" if since is None else duration(seconds_between(since, until, now=now))


def seconds_between(since: str, until: str | None = None, *, now: datetime | None = None) -> float:
    end = datetime.fromisoformat(until) if until else now or datetime.now(UTC)
    return (end - datetime.fromisoformat(since)).total_seconds()


def clock(moment: str | None) -> str:
    """Return a time of the API in local time, to the second; empty for None."""
    if moment is None:
        return ""
    return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def minute(moment: str | None) -> str:
    """Return a time of the API in local time, to the minute; empty for None."""
    return clock(moment)[: len("2026-11-29 18:00")]


def zone() -> str:
    """Return the name of the zone of `clock`: UTC or `local`.

    Abbreviations such as CET change in summer, so they do not fit a heading.
    """
    return "UTC" if set(time.tzname) == {"UTC"} else "local"


def counted(number: int, one: str) -> str:
    """Return a number with its noun: `1 job`, `2 jobs`."""
    return f"{number} {one if number == 1 else f'{one}s'}"


def lab_state(lab_controller: Mapping[str, Any]) -> str:
    """Return `enabled`, or the reasons why recipes get no systems of the lab."""
    words = ["disabled"] * (not lab_controller.get("enabled"))
    if lab_controller.get("silent"):
        is_new = lab_controller.get("never_heard") and not lab_controller.get("last_heard_at")
        words.append("never heard" if is_new else "silent")
    return ", ".join(words) or "enabled"
