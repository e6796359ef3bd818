"""A view of a job that reads a recipe again only after its state or system has changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cli.jobs.result_rows import waiver_text
from cli.terminal.tables import Column, Row, Rows
from cli.terminal.wording import elapsed, plain, reason_of
from domain.recipe.lifecycle import FINISHED
from domain.roll_up import BAD_RESULTS

if TYPE_CHECKING:
    from api.client import Client

# The fields of a recipe in its job; with a new value, the recipe is read again.
COMPARED = ("state", "awaits_locks", "system", "result")
# Maximum number of failed results below the table.
MAX_FAILED = 10
# The result until a task has reported.
NOT_REPORTED = "New"


def _in_state(row: Row) -> str:
    history = row.get("history") or ()
    return elapsed(history[-1]["since"], row.get("as_of")) if history and row["state"] not in FINISHED else ""


def _result(row: Row) -> str:
    result = "" if row["result"] == NOT_REPORTED else str(row["result"])
    return f"{result}, waived" if row.get("is_waived") else result


RECIPE_COLUMNS = (
    Column("recipe", "recipe_id", "number", 0),
    Column("set", "recipe_set_id", "number", 3),
    Column("state", "state", "state", 0),
    Column("system", "system"),
    Column("result", _result, "state"),
    Column("in state", _in_state, "number", 2),
    Column("whiteboard", "whiteboard", "text", 4),
    Column("reason", reason_of, "text", 2),
)


@dataclass
class JobView:
    """A job and its recipes, as of the position of the last read."""

    client: Client
    job_id: int
    as_of: str | None = None
    job: dict[str, Any] = field(default_factory=dict)
    _recipes: dict[int, dict[str, Any]] = field(default_factory=dict)

    def read(self, min_position: int | None = None) -> bool:
        """Read the job, and the recipes with a new state or system. Return whether the job has changed."""
        before = self.job
        self.job = self.client.get(f"/jobs/{self.job_id}", min_position=min_position, as_of=self.as_of)
        for row in self._rows():
            number = row["recipe_id"]
            cached = self._recipes.get(number)
            if cached is None or any(cached.get(name) != row.get(name) for name in COMPARED):
                self._recipes[number] = self.client.get(f"/recipes/{number}", as_of=self.as_of)
        return _without_position(before) != _without_position(self.job)

    def is_finished(self) -> bool:
        """Return whether every recipe has finished, and the job takes no further ones."""
        return not self.job.get("open") and all(row["state"] in FINISHED for row in self._rows())

    def has_passed(self) -> bool:
        """Return whether every recipe completed without Warn, Fail and Panic, or its failures are waived."""
        return all(
            row["is_waived"] or (row["state"] == "completed" and row["result"] not in BAD_RESULTS)
            for row in self._rows()
        )

    @property
    def subjects(self) -> frozenset[str]:
        """Return the subjects of the events of the job, its recipe sets and its recipes."""
        sets = [f"recipe-set/{recipe_set['recipe_set_id']}" for recipe_set in self.job["recipe_sets"]]
        recipes = [f"recipe/{row['recipe_id']}" for row in self._rows()]
        return frozenset([f"job/{self.job_id}", *sets, *recipes])

    @property
    def title(self) -> str:
        """Return the state of the job, its result, and its stage if that says more."""
        result = "" if self.job["result"] == NOT_REPORTED else f", {self.job['result']}"
        # Earlier versions of the service have no stages.
        stage = self.job.get("stage", self.job["state"])
        shown_stage = "" if stage == self.job["state"] else f", stage {stage}"
        return f"job {self.job_id}: {self.job['state']}{result}{shown_stage}"

    def table(self) -> Rows:
        return Rows(RECIPE_COLUMNS, self.recipe_rows(), title=self.title)

    def recipe_rows(self) -> list[dict[str, Any]]:
        """Return the recipes with all their fields; common fields have the newer value from the job."""
        return [{**self._recipes[row["recipe_id"]], **row} for row in self._rows()]

    def failed_results(self) -> list[str]:
        """Return a line for each failed result, and how to get those that are not shown."""
        lines = [line for row in self._rows() for line in failed_lines(self._recipes[row["recipe_id"]])]
        if len(lines) <= MAX_FAILED:
            return lines
        further = (
            f"{len(lines) - MAX_FAILED} further failed results: labledger results {self.job_id} --failed"
        )
        return [*lines[:MAX_FAILED], further]

    def _rows(self) -> Iterator[dict[str, Any]]:
        for recipe_set in self.job["recipe_sets"]:
            for row in recipe_set["recipes"]:
                is_waived = _is_waived(recipe_set, row)
                yield {**row, "recipe_set_id": recipe_set["recipe_set_id"], "is_waived": is_waived}


def _is_waived(recipe_set: Row, recipe: Row) -> bool:
    """Return whether the recipe has failed, and all of its failures are waived."""
    if recipe.get("result") not in BAD_RESULTS:
        return False
    failed = [task for task in recipe.get("tasks") or () if task["result"] in BAD_RESULTS]
    # Earlier versions of the service have no waivers.
    return recipe_set.get("waiver") is not None or (
        bool(failed) and all(task.get("waiver") for task in failed)
    )


def failed_lines(recipe: Row) -> Iterator[str]:
    """Yield a line for each failed result of the present attempt of a recipe."""
    tasks = {task["task_id"]: task for task in recipe.get("tasks") or ()}
    # Earlier versions of the service have no attempts.
    attempt = recipe.get("attempt", 1)
    for result in recipe.get("results") or ():
        if result["result"] in BAD_RESULTS and result.get("attempt", 1) == attempt:
            task = tasks.get(result["task_id"], {"name": f"task {result['task_id']}"})
            said = ": ".join(filter(None, (result["result"], result["path"], result["message"])))
            waived = f" (waived {text})" if (text := waiver_text(task)) else ""
            yield plain(f"recipe {recipe['recipe_id']}, {task['name']}: {said}{waived}")


def _without_position(job: Row) -> dict[str, Any]:
    return {name: value for name, value in job.items() if name != "position"}
