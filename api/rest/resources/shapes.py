"""Conversion of rows of the read models to the JSON of answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from orjson import Fragment, loads

from api.rest.contract.inputs.systems import Cpu, Properties
from domain.contention.algebra import merge
from domain.contention.documents import locks_to_json, stored_locks
from domain.contention.own_names import unplaced
from domain.priority import Priority
from domain.recipe.lifecycle import STARTED, UNFINISHED
from domain.roll_up import result_in, result_of
from domain.system.differences import PropertyDifference
from projections.durations import PHASES, phase_of
from projections.fold_locks import locks_of

Row = dict[str, Any]


def listed_job(job: Row, names: Mapping[int, str]) -> Row:
    """Return a job of a list; `names` are those of partitions."""
    return {**job, "partition": names[job["partition"]], "recipe_set_ids": Fragment(job["recipe_set_ids"])}


def job_document(job: Row, shown: Row, seconds: list[Row]) -> Row:
    """Return a job; `shown` has its recipe sets as encoded JSON, because a job may have hundreds."""
    return {
        **job,
        "document": Fragment(job["document"]),
        "recipe_sets": Fragment(shown["recipe_sets"]),
        "seconds": seconds_document(seconds),
    }


def recipe_set_document(recipe_set: Row, shown: Row, declared: list[Row], held_locks: list[Row]) -> Row:
    """Return a recipe set with its declared and held locks; the further rows have a `recipe_id`."""
    (loaded,) = loads(shown["recipe_sets"])
    profile = merge(*(unplaced(stored_locks(row["locks"])) for row in declared))
    by_recipe = groupby(held_locks, key=itemgetter("recipe_id"))
    held = merge(*(locks_of(rows) for _, rows in by_recipe))
    started = any(map(_has_started, loaded["recipes"]))
    locks = {"declared": locks_to_json(profile), "held": locks_to_json(held) if started else None}
    shown_with_job = {name: loaded[name] for name in ("failed_task_count", "waived_task_count", "recipes")}
    return {**recipe_set, **shown_with_job, "locks": locks}


def recipe_document(recipe: Row, tasks: list[Row], deadline: datetime | None) -> Row:
    """Return a recipe; `guests` are the ids of its guest recipes, `deadline` is that of its watchdog."""
    of_job = ("job_id", "recipe_set_id", "priority", "owner", "group", "partition", "queue")
    shown = ("recipe_id", "host_recipe_id", "state", "attempt", "awaits_locks", "system", "lab_controller")
    further = ("guests", "guestname", "guestargs", "reservesys", "distro")
    return {
        **{name: recipe[name] for name in (*of_job, *shown, "whiteboard", "role", "reason", "since")},
        "result": result_in(recipe["state"], result_of(task["result"] for task in tasks)),
        "tasks": tasks,
        **{name: recipe[name] for name in further},
        "deadline": deadline,
    }


def recipe_locks(recipe: Row, held_locks: list[Row]) -> Row:
    """Return the declared and the held resource locks of a recipe."""
    return {
        "declared": recipe["declared_locks"],
        "held": locks_to_json(locks_of(held_locks)) if _has_started(recipe) else None,
    }


def _has_started(recipe: Row) -> bool:
    return recipe["state"] in STARTED and not recipe["awaits_locks"]


def seconds_document(rows: list[Row]) -> Row:
    """Return the seconds of a recipe, or of all recipes of a job, by state and by phase."""
    by_state: dict[str, float] = {}
    of_phase = dict.fromkeys(PHASES, 0.0)
    for row in sorted(rows, key=_state_order):
        by_state[row["state"]] = by_state.get(row["state"], 0.0) + row["seconds"]
        of_phase[phase_of(row["state"], row["awaits_locks"])] += row["seconds"]
    return {"by_state": by_state, **of_phase}


def _state_order(row: Row) -> tuple[int, bool]:
    return UNFINISHED.index(row["state"]), row["awaits_locks"]


def queued_recipe(row: Row, weight: float | None, facts: Row) -> Row:
    """Return a queued recipe; `effective_priority` is null outside the queue of a system."""
    shown = {name: value for name, value in row.items() if name not in ("submission", "submitted_at")}
    return {
        **shown,
        "priority": Priority(row["priority"]).name,
        "effective_priority": None,
        "weight": weight,
        **facts,
    }


def ranked(rank: Row) -> Row:
    """Return the fields of a queued recipe that depend on its rank at a system."""
    return {
        "priority": Priority(rank["priority"]).name,
        "effective_priority": Priority(rank["effective_priority"]).name,
        "weight": rank["weight"],
    }


def occupation(held: Row | None) -> Row | None:
    """Return the occupation of a system, with the position of its event as the `id`; None without one."""
    return held and {"id": held["since"], **{name: held[name] for name in ("reason", "recipe_id", "attempt")}}


def system_document(row: Row) -> Row:
    usage = ("ticket", "reserved_until", "loaned_to", "loaned_until", "draining", "usage", "recipe_id")
    return {
        **{name: row[name] for name in ("fqdn", "lab_controller", "partition", "owner", "condition")},
        **row["inventory"],
        "pools": row["pools"],
        "user": row["reserved_by"],
        "occupied": occupation(row["occupied"]),
        **{name: row[name] for name in usage},
    }


def exported(row: Row) -> Row:
    """Return all properties of a system that can be imported, None for unknown ones."""
    inventory = {name: row["inventory"].get(name) for name in Properties.model_fields}
    cpu = inventory["cpu"]
    inventory["cpu"] = {name: cpu.get(name) for name in Cpu.model_fields} if cpu else None
    further = ("fqdn", "lab_controller", "owner", "condition", "pools")
    return {**{name: row[name] for name in further}, **inventory}


def shown_differences(found: Iterable[PropertyDifference]) -> list[Row]:
    return [{"property": one.property, "from": one.before, "to": one.after} for one in found]
