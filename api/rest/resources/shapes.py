"""Conversion of rows of the read models to the JSON of answers."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from orjson import Fragment, loads

from api.rest.contract.inputs.systems import Cpu, Properties
from domain.priority import Priority
from domain.recipe.lifecycle import UNFINISHED
from domain.roll_up import result_in, result_of
from domain.system.differences import PropertyDifference
from projections.durations import PHASES

Row = dict[str, Any]


def listed_job(job: Row) -> Row:
    return {**job, "recipe_set_ids": Fragment(job["recipe_set_ids"])}


def job_document(job: Row, shown: Row, seconds: list[Row]) -> Row:
    """Return a job; `shown` has its recipe sets as encoded JSON, because a job may have hundreds."""
    return {
        **job,
        "document": Fragment(job["document"]),
        "recipe_sets": Fragment(shown["recipe_sets"]),
        "seconds": seconds_document(seconds),
    }


def recipe_set_document(recipe_set: Row, shown: Row) -> Row:
    (loaded,) = loads(shown["recipe_sets"])
    return {**recipe_set, "recipes": loaded["recipes"]}


def recipe_document(recipe: Row, tasks: list[Row], deadline: datetime | None) -> Row:
    """Return a recipe; `guests` are the ids of its guest recipes, `deadline` is that of its watchdog."""
    of_job = ("job_id", "recipe_set_id", "priority", "owner", "group")
    shown = ("recipe_id", "host_recipe_id", "state", "system", "lab_controller", "whiteboard", "role")
    further = ("guests", "guestname", "guestargs", "reservesys", "distro")
    return {
        **{name: recipe[name] for name in (*of_job, *shown, "reason", "since")},
        "result": result_in(recipe["state"], result_of(task["result"] for task in tasks)),
        "tasks": tasks,
        **{name: recipe[name] for name in further},
        "deadline": deadline,
    }


def seconds_document(rows: list[Row]) -> Row:
    """Return the seconds of a recipe, or of all recipes of a job, by state and by phase."""
    by_state = {row["state"]: row["seconds"] for row in sorted(rows, key=_state_order)}
    of_phase = {phase: sum(by_state.get(state, 0.0) for state in states) for phase, states in PHASES.items()}
    return {"by_state": by_state, **of_phase}


def _state_order(row: Row) -> int:
    return UNFINISHED.index(row["state"])


def queued_recipe(row: Row) -> Row:
    """Return a queued recipe; `effective_priority` and `weight` are null outside the queue of a system."""
    shown = {name: value for name, value in row.items() if name != "submission"}
    return {**shown, "priority": Priority(row["priority"]).name, "effective_priority": None, "weight": None}


def ranked(rank: Row) -> Row:
    """Return the fields of a queued recipe that depend on its rank at a system."""
    return {
        "priority": Priority(rank["priority"]).name,
        "effective_priority": Priority(rank["effective_priority"]).name,
        "weight": None,
    }


def system_document(row: Row) -> Row:
    usage = ("reserved_until", "loaned_to", "loaned_until", "draining", "usage", "recipe_id")
    return {
        **{name: row[name] for name in ("fqdn", "lab_controller", "owner", "condition")},
        **row["inventory"],
        "pools": row["pools"],
        "user": row["reserved_by"],
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
