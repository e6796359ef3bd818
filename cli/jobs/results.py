"""`labledger results`: the results of a job or of a recipe, what failed first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.arguments.as_of import as_of, read_as_of
from cli.arguments.exclusion import require_exclusive
from cli.arguments.numbered import JobOrRecipe
from cli.arguments.params import WordChoice
from cli.jobs.result_rows import deletion_text, links, shown_rows, with_waivers
from cli.lists import completing
from cli.remote import remote, wide
from cli.terminal.output import Output, note, xml
from cli.terminal.tables import Column
from cli.terminal.wording import counted, plain

if TYPE_CHECKING:
    from api.client import Client

TABLE, JUNIT = "table", "junit"


RESULT_COLUMNS = (
    Column("result", "result", "state", 0),
    Column("recipe", "recipe_id", "number", 0),
    Column("system", "system", "name", 3),
    Column("task", "task_id", "number", 0),
    Column("name", "name", "text", 0),
    Column("path", "path", "text", 1),
    Column("score", "score", "number", 2),
    Column("message", "message", "text", 0),
    # An address that is cut into lines is no use: with --wide, or from `labledger logs`.
    Column("logs", lambda row: plain(links(row)), rank=3),
)


@click.command
@click.argument("wanted", metavar="JOB|RECIPE", type=JobOrRecipe(), shell_complete=completing.jobs)
@click.option(
    "--failed", is_flag=True, help="Show only what failed and is not waived: results of Warn, Fail and Panic."
)
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

    A task that was given up has no message of its own: the reason of its recipe stands there. A waived
    failure has the person and the reason; in XML of JUnit it is skipped.
    """
    require_exclusive({"--json": output.as_json, "--format junit": form == JUNIT})
    kind, number = wanted
    query = {"failed": "true"} if failed else {}
    found = read_as_of(client, output, f"/{kind}s/{number}/results", kind, number, as_of, **query)
    if form == JUNIT:
        from cli.jobs.junit import report

        xml(report(f"{kind} {number}", found["tasks"]))
        return
    document = found if output.as_json else {**found, "tasks": list(shown_rows(found["tasks"]))}
    columns = with_waivers(RESULT_COLUMNS, document["tasks"])
    output.rows(document, "tasks", columns, empty="nothing failed" if failed else "no tasks")
    if not output.as_json and (deleted := deletion_text(found)):
        note(f"results and logs were {deleted}")
    if failed and not output.as_json and (waived := found.get("waived_task_count")):
        note(f"{counted(waived, 'waived failure')} not shown")
