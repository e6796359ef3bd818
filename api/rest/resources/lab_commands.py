"""Commands for a lab controller, from rows of commands and job documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from domain.recipe.watchdog import of_task

Row = dict[str, Any]
DocumentRecipe = Mapping[str, Any]
"""A recipe of a job document."""

# The fields of a command that are copied from the document, with their defaults.
COPIED_FIELDS: Final[Mapping[str, Any]] = {
    "whiteboard": "",
    "role": None,
    "kernel_options": "",
    "kernel_options_post": "",
    "ks_meta": "",
    "kickstart": None,
    "ks_appends": (),
    "packages": (),
    "repos": (),
    "partitions": (),
    "watchdog": {},
    "reservesys": None,
}


def lab_command(row: Row, lab_controller: str, document: Row | None) -> Row:
    """Return a command with all data to execute it. One without a recipe is for a person.

    `document` has the recipe of the job document, and the ids of its guests in the same order.
    """
    command = {name: row[name] for name in ("kind", "system", "recipe_id", "state")}
    command["id"] = row["command_id"]
    if row["kind"] != "provision":
        return command
    recipe: DocumentRecipe = {} if document is None else document["recipe"]
    of_guests = (
        {} if document is None else dict(zip(document["guest_ids"], recipe.get("guests", ()), strict=False))
    )
    guests = [_guest(guest, lab_controller, of_guests.get(guest["recipe_id"], {})) for guest in row["guests"]]
    of_set = {name: row[name] for name in ("job_id", "recipe_set_id", "members")}
    return {**command, **_installation(row, lab_controller, recipe), **of_set, "guests": guests}


def _guest(guest: Row, lab_controller: str, recipe: DocumentRecipe) -> Row:
    named = {name: guest[name] for name in ("recipe_id", "guestname", "guestargs")}
    return {**named, **_installation(guest, lab_controller, recipe)}


def _installation(row: Row, lab_controller: str, recipe: DocumentRecipe) -> Row:
    """Return the distribution to install, and the tasks. `distro` is a recipe's own, in place of a tree."""
    tree = row["tree"]
    return {
        "distro_tree": tree
        and {"id": row["distro_tree_id"], "name": tree["name"], "urls": tree["urls"].get(lab_controller, [])},
        "distro": row["distro"],
        **{name: recipe.get(name, default) for name, default in COPIED_FIELDS.items()},
        "tasks": [_task(task) for task in row["tasks"] or ()],
    }


def _task(task: Row) -> Row:
    return {
        "id": task["task_id"],
        "name": task["name"],
        "role": task["role"],
        "params": task["params"],
        "fetch": task.get("fetch"),
        "watchdog_seconds": of_task(task["params"]),
    }
