"""From rows of the read models to the JSON of api.md."""

from __future__ import annotations

from typing import Any

from domain.job.roll_up import result_of
from domain.priority import Priority

Row = dict[str, Any]


def job_document(job: Row, recipe_sets: list[Row], recipes: list[Row], tasks: list[Row]) -> Row:
    return {
        **job,
        "recipe_sets": [
            {
                **recipe_set,
                "recipes": [
                    recipe_summary(recipe, tasks)
                    for recipe in recipes
                    if recipe["recipe_set_id"] == recipe_set["recipe_set_id"]
                ],
            }
            for recipe_set in recipe_sets
        ],
    }


def recipe_summary(recipe: Row, tasks: list[Row]) -> Row:
    """A recipe with its own among the tasks given; its result is the worst of theirs."""
    own = [task for task in tasks if task["recipe_id"] == recipe["recipe_id"]]
    shown = ("recipe_id", "state", "system", "lab_controller", "whiteboard", "role", "reason", "since")
    return {
        **{name: recipe[name] for name in shown},
        "result": result_of(task["result"] for task in own),
        "tasks": [task_summary(task) for task in own],
    }


def task_summary(task: Row) -> Row:
    return {name: task[name] for name in ("task_id", "name", "state", "result")}


def queued_recipe(row: Row) -> Row:
    """`effective_priority` and `weight` are for one system and for resource locks: null without either."""
    shown = {name: value for name, value in row.items() if name != "submission"}
    return {
        **shown,
        "priority": Priority(row["priority"]).name,
        "effective_priority": None,
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
        "user": None,
        "loaned_to": None,
        "usage": row["usage"],
        "recipe_id": row["recipe_id"],
    }


def lab_command(row: Row, lab_controller: str) -> Row:
    """What a lab controller needs to carry a command out."""
    command = {name: row[name] for name in ("kind", "system", "recipe_id")}
    command["id"] = row["command_id"]
    if row["kind"] != "provision":
        return command
    tree = row["tree"] or {}
    return {
        **command,
        "distro_tree": {
            "id": row["distro_tree_id"],
            "name": tree.get("name"),
            "urls": (tree.get("urls") or {}).get(lab_controller, []),
        },
        "kernel_options": row["kernel_options"],
        "ks_meta": row["ks_meta"],
        "guests": [],
        "tasks": [
            {"id": task["task_id"], "name": task["name"], "params": task["params"]} for task in row["tasks"]
        ],
    }
