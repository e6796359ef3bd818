"""From rows of the read models to the JSON of answers."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from orjson import Fragment, loads

from api.rest.contract.inputs.systems import Cpu, Properties
from domain.priority import Priority
from domain.recipe.lifecycle import UNFINISHED
from domain.roll_up import result_in, result_of
from domain.system.differences import Difference
from projections.durations import PHASES

Row = dict[str, Any]


def listed_job(job: Row) -> Row:
    return {**job, "recipe_set_ids": Fragment(job["recipe_set_ids"])}


def job_document(job: Row, shown: Row, seconds: list[Row]) -> Row:
    """`shown` has its recipe sets as JSON: of those there may be hundreds."""
    return {
        **job,
        "document": Fragment(job["document"]),
        "recipe_sets": Fragment(shown["recipe_sets"]),
        "seconds": seconds_document(seconds),
    }


def recipe_set_document(recipe_set: Row, shown: Row) -> Row:
    """`shown` has it as jobs do, as JSON."""
    (of_job,) = loads(shown["recipe_sets"])
    return {**recipe_set, "recipes": of_job["recipes"]}


def recipe_document(recipe: Row, tasks: list[Row], deadline: datetime | None) -> Row:
    """`guests` are the ids of its guest recipes; `deadline` is when its watchdog expires."""
    of_it = ("job_id", "recipe_set_id", "priority", "owner", "group")
    shown = ("recipe_id", "host_recipe_id", "state", "system", "lab_controller", "whiteboard", "role")
    beside = ("guests", "guestname", "guestargs", "reservesys", "distro")
    return {
        **{name: recipe[name] for name in (*of_it, *shown, "reason", "since")},
        "result": result_in(recipe["state"], result_of(task["result"] for task in tasks)),
        "tasks": tasks,
        **{name: recipe[name] for name in beside},
        "deadline": deadline,
    }


def seconds_document(rows: list[Row]) -> Row:
    """Of a recipe, or of those of a job: in each state it has been in, and of which phase they are."""
    by_state = {row["state"]: row["seconds"] for row in sorted(rows, key=_state_order)}
    of_phase = {phase: sum(by_state.get(state, 0.0) for state in states) for phase, states in PHASES.items()}
    return {"by_state": by_state, **of_phase}


def _state_order(row: Row) -> int:
    return UNFINISHED.index(row["state"])


def queued_recipe(row: Row) -> Row:
    """`effective_priority` and `weight` are for one system and for resource locks: null without either."""
    shown = {name: value for name, value in row.items() if name != "submission"}
    return {
        **shown,
        "priority": Priority(row["priority"]).name,
        "effective_priority": None,
        "weight": None,
    }


def ranked(place: Row) -> Row:
    """The same as it is on one system."""
    return {
        "priority": Priority(place["priority"]).name,
        "effective_priority": Priority(place["effective_priority"]).name,
        "weight": None,
    }


def system_document(row: Row) -> Row:
    inventory = row["inventory"]
    return {
        "fqdn": row["fqdn"],
        "lab_controller": row["lab_controller"],
        "owner": row["owner"],
        "condition": row["condition"],
        **inventory,
        "pools": row["pools"],
        "user": row["reserved_by"],
        "reserved_until": row["reserved_until"],
        "loaned_to": row["loaned_to"],
        "loaned_until": row["loaned_until"],
        "draining": row["draining"],
        "usage": row["usage"],
        "recipe_id": row["recipe_id"],
    }


def exported(row: Row) -> Row:
    """All that can be imported again, null where it is unknown."""
    inventory = {name: row["inventory"].get(name) for name in Properties.model_fields}
    cpu = inventory["cpu"]
    inventory["cpu"] = {name: cpu.get(name) for name in Cpu.model_fields} if cpu else None
    beside = ("fqdn", "lab_controller", "owner", "condition", "pools")
    return {**{name: row[name] for name in beside}, **inventory}


def shown_differences(found: Iterable[Difference]) -> list[Row]:
    return [{"property": one.property, "from": one.before, "to": one.after} for one in found]
