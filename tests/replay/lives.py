"""The life of a recipe in a lab's messages, checked against the tables of the domain."""

from __future__ import annotations

from typing import Any

from domain.recipe.lifecycle import RECIPE, TASK
from replay.simulated_lab.steps import LabStep


def life_of(progress: list[Any]) -> str:
    """Apply a recipe's messages by the tables of the domain, and return the state at the end."""
    state, tasks = "waiting", dict[int, str]()
    for item in progress:
        if "task_id" in item and "state" in item:
            if state == "installing":
                RECIPE.require("recipe", state, "running")
                state = "running"
            TASK.require("task", tasks.get(item["task_id"], "new"), item["state"])
            tasks[item["task_id"]] = item["state"]
        elif "result" in item:
            assert tasks[item["task_id"]] == "running"
        else:
            RECIPE.require("recipe", state, item["state"])
            state = item["state"]
    assert set(tasks.values()) == {"completed"}
    return state


def said(step: LabStep) -> str:
    return repr((step.recipe_id, sorted(step.body.items(), key=repr)))
