"""`labledger results`: the results of a job or of a recipe, what failed first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.as_of import as_of, read_as_of
from cli.arguments.numbered import JobOrRecipe
from cli.arguments.params import WordChoice
from cli.lists import completing
from cli.remote import remote, wide
from cli.terminal.output import Output, xml
from cli.terminal.tables import Column, Row
from cli.terminal.wording import plain
from domain.roll_up import BAD_RESULTS

if TYPE_CHECKING:
    from api.client import Client

TABLE, JUNIT = "table", "junit"


def links(result: Row) -> Iterator[str]:
    """Yield the addresses of the logs of a result."""
    yield from (log["url"] for log in result["logs"])
    yield from result["log_urls"]


RESULT_COLUMNS = (
    Column("result", "result", "state", 0),
    Column("recipe", "recipe_id", "number", 0),
    Column("system", "system", "name", 3),
    Column("task", "task_id", "number", 0),
    Column("name", "name", "text", 0),
    Column("path", "path", "text", 1),
    Column("score", "score", "number", 2),
    Column("message", "message", "text", 0),
    Column("logs", lambda row: plain(links(row)), "text", 1),
)


@click.command
@click.argument("wanted", metavar="JOB|RECIPE", type=JobOrRecipe(), shell_complete=completing.jobs)
@click.option("--failed", is_flag=True, help="Show only what failed: results of Warn, Fail and Panic.")
@click.option(
    "--format", "form", type=WordChoice((TABLE, JUNIT)), default=TABLE, help="Print a table, or XML of JUnit."
)
@as_of
@wide
@remote
def results(
    client: Client, output: Output, wanted: tuple[str, int], failed: bool, form: str, as_of: str | None
) -> None:
    """Show the results of a job such as 20, or of a recipe such as R:30, what failed first.

    A task that was given up has no message of its own: the reason of its recipe stands there.
    """
    if output.as_json and form == JUNIT:
        raise click.UsageError("--json and --format junit exclude each other")
    kind, number = wanted
    query = {"failed": "true"} if failed else {}
    found = read_as_of(client, output, f"/{kind}s/{number}/results", kind, number, as_of, **query)
    if form == JUNIT:
        from cli.jobs.junit import report

        xml(report(f"{kind} {number}", found["tasks"]))
        return
    document = found if output.as_json else {**found, "tasks": list(shown_rows(found["tasks"]))}
    output.rows(document, "tasks", RESULT_COLUMNS, empty="nothing failed" if failed else "no tasks")


def shown_rows(tasks: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Yield a row for each result, and one for each task without results."""
    for task in tasks:
        for result in task["results"] or [without_result(task)]:
            yield {**task, **result}


def without_result(task: Row) -> dict[str, Any]:
    """Return what stands for the results of a task without any: its own, and why its recipe was given up."""
    reason = task["reason"] if task["result"] in BAD_RESULTS else None
    return {"result": task["result"], "message": reason or "", "path": "", "logs": [], "log_urls": []}
