"""`labledger waits`: how long recipes waited until they started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cli.arguments.as_of import as_of, note_moment
from cli.arguments.params import WordChoice, limit_option
from cli.arguments.time_span import since_option, until_option
from cli.lists import completing
from cli.remote import remote, wide
from cli.terminal.output import Output
from cli.terminal.tables import Column, Row
from cli.terminal.wording import duration

if TYPE_CHECKING:
    from api.client import Client

GROUPS = ("priority", "group", "pool", "requirement")
DEFAULT_LIMIT = 20


def _mean(row: Row) -> str:
    return duration(row["seconds"] / row["recipes"])


COLUMNS = (
    Column("recipes", "recipes", "number", 0),
    Column("half within", lambda row: duration(row["p50_seconds"]), "number", 0),
    Column("nine of ten within", lambda row: duration(row["p90_seconds"]), "number", 0),
    Column("mean", _mean, "number", 1),
    Column("example", "example_recipe_id", "number", 2),
)


@click.command
@click.option(
    "--by",
    type=WordChoice(GROUPS),
    default="priority",
    show_default=True,
    help="Group the rows by this.",
)
@since_option
@until_option
@click.option(
    "--partition",
    metavar="NAME",
    shell_complete=completing.partitions,
    help="Only the recipes of this partition.",
)
@limit_option(DEFAULT_LIMIT, "Maximum number of rows, those with most recipes first.", maximum=1000)
@as_of
@wide
@remote
def waits(
    client: Client,
    output: Output,
    by: str,
    since: str | None,
    until: str | None,
    partition: str | None,
    limit: int,
    as_of: str | None,
) -> None:
    """Show how long recipes waited that started in a time span: from submission until they started.

    A pool is one of the system at the start; recipes on a system in two pools count in both. A requirement
    is shown as a digest, with the last recipe that has it.
    """
    query: dict[str, Any] = {"by": by, "since": since, "until": until, "as_of": as_of}
    document = client.get("/waits", limit=limit, partition=partition, **query)
    note_moment(client, output, as_of, document)
    columns = (Column(by, lambda row: row["key"] or "none", "name", 0), *COLUMNS)
    output.rows(document, "groups", columns, empty="No recipe started in that time.")
