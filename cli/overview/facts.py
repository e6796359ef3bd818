"""The document of an overview: counts over the systems, the queue and the placed recipes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from cli.terminal.tables import Row
from cli.terminal.wording import lab_state, seconds_between
from domain.directory.partitions import DEFAULT
from domain.priority import Priority

STARTING = ("scheduled", "waiting", "installing")
# Categories of systems; each system counts in one of them.
DOING = ("running", "starting", "had_by_people", "idle", "manual", "draining", "broken")
PRIORITIES = tuple(priority.name for priority in sorted(Priority, reverse=True))


def doing(system: Row) -> str | None:
    """Return the category of a system; None for a Removed system without a recipe or person."""
    if system.get("user"):
        return "had_by_people"
    usage, condition = system.get("usage"), system.get("condition")
    if usage == "running" or usage in STARTING:
        return "running" if usage == "running" else "starting"
    if condition == "Removed":
        return None
    if condition == "Broken":
        return "broken"
    if system.get("draining"):
        return "draining"
    return "manual" if condition == "Manual" else "idle"


def labs_of(lab_controllers: Iterable[Row], systems: Iterable[Row]) -> list[dict[str, Any]]:
    """Return the labs with their systems counted by category, and the names of broken and draining systems.

    A lab whose lab controller is missing in `lab_controllers` is included.
    """
    counts: dict[str, Counter[str]] = {}
    named: dict[str, dict[str, list[str]]] = {}
    for system in systems:
        activity = doing(system)
        if activity is None:
            continue
        lab = str(system.get("lab_controller") or "")
        counts.setdefault(lab, Counter())[activity] += 1
        if activity in ("broken", "draining"):
            named.setdefault(lab, {}).setdefault(activity, []).append(system["fqdn"])
    registered = {row["fqdn"]: row for row in lab_controllers}
    return [
        {
            "lab_controller": fqdn,
            "partition": registered.get(fqdn, {}).get("partition", DEFAULT),
            "state": lab_state(registered.get(fqdn, {"enabled": True})),
            "last_heard_at": registered.get(fqdn, {}).get("last_heard_at"),
            "systems": sum(counts.get(fqdn, Counter()).values()),
            "doing": {activity: counts.get(fqdn, Counter())[activity] for activity in DOING},
            "named": named.get(fqdn, {}),
        }
        for fqdn in sorted({*registered, *counts})
    ]


def queue_of(recipes: Sequence[Row], now: str) -> dict[str, Any]:
    """Return the number of unplaced recipes by priority, and the recipe that is longest in its state.

    `held_back` has the number of held back recipes, and `by_rule` their number for each kind of rule.
    """
    waits = {row["recipe_id"]: max(0.0, seconds_between(row["since"], now)) for row in recipes}
    by_priority = {
        name: [waits[row["recipe_id"]] for row in recipes if row["priority"] == name] for name in PRIORITIES
    }
    longest = max(recipes, key=lambda row: (waits[row["recipe_id"]], -row["recipe_id"]), default=None)
    return {
        "recipes": len(recipes),
        "by_priority": {
            name: {"recipes": len(seconds), "longest_wait_seconds": round(max(seconds), 3)}
            for name, seconds in by_priority.items()
            if seconds
        },
        "held_back": _held_back(recipes),
        "longest": longest and {**longest, "wait_seconds": round(waits[longest["recipe_id"]], 3)},
    }


def _held_back(recipes: Iterable[Row]) -> dict[str, Any]:
    held_back = [rules for recipe in recipes if (rules := recipe.get("held_back"))]
    # Several queues or limits may hold a recipe back, which counts once for each kind of rule.
    kinds = Counter(kind for rules in held_back for kind in {rule["row"] for rule in rules})
    return {"recipes": len(held_back), "by_rule": dict(sorted(kinds.items()))}


def sets_of(recipes: Iterable[Row]) -> list[dict[str, Any]]:
    sets: dict[int, list[Row]] = {}
    for recipe in sorted(recipes, key=lambda row: row["recipe_id"]):
        sets.setdefault(recipe["recipe_set_id"], []).append(recipe)
    return [
        {
            "recipe_set_id": number,
            **{name: members[0].get(name) for name in ("job_id", "priority", "owner", "group", "whiteboard")},
            "partition": members[0].get("partition", DEFAULT),
            "recipes": len(members),
            "usage": [member["usage"] for member in members],
            "systems": [member["system"] for member in members],
        }
        for number, members in sorted(sets.items())
    ]
