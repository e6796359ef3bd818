"""`labledger reads`: the recorded reads of auditors."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

import click
from click.core import ParameterSource

from cli.arguments.exclusion import require_exclusive
from cli.arguments.params import WholeNumber, limit_option
from cli.lists import completing
from cli.remote import remote, wide
from cli.terminal.output import Output, note
from cli.terminal.tables import Column, Row
from cli.terminal.wording import clock, zone

if TYPE_CHECKING:
    from api.client import Client

# Maximum of the server for one page.
MAX_LIMIT = 1_000


def _request(row: Row) -> str:
    query = f"?{unquote(row['query'])}" if row.get("query") else ""
    return f"{row['method']} {row['path']}{query}{_stream_suffix(row)}"


def _stream_suffix(row: Row) -> str:
    """Return the event after which an event stream started; empty for other requests."""
    if not row.get("is_stream"):
        return ""
    after = row.get("last_event_id")
    return " as a stream" if after is None else f" as a stream after {after}"


COLUMNS = (
    Column("read", "read_id", "number", 0),
    Column(f"at ({zone()})", lambda row: clock(row.get("recorded_at")), rank=0),
    Column("user", "user", rank=0),
    Column("token", "token_id", rank=2),
    Column("request", _request, "text", 0),
)


@click.command
@click.option("--user", metavar="USER", shell_complete=completing.users, help="Only reads of this user.")
@click.option(
    "--after",
    metavar="READ",
    type=WholeNumber(0),
    default=0,
    help="Only reads with an id above this one, from the column `read` [default: 0, all reads].",
)
@limit_option(100, "Maximum number to show.", maximum=MAX_LIMIT)
@click.option(
    "--last", metavar="N", type=WholeNumber(maximum=MAX_LIMIT), help="Only the N newest reads, oldest first."
)
@wide
@remote
def reads(client: Client, output: Output, user: str | None, after: int, limit: int, last: int | None) -> None:
    """List the recorded reads of auditors, oldest first. Only admins and auditors can do this."""
    if last is None:
        document = client.get("/reads", user=user, after=after, limit=limit)
    else:
        source = click.get_current_context().get_parameter_source("limit")
        require_exclusive({"--last": last, "--limit": source is ParameterSource.COMMANDLINE})
        document = client.get("/reads", user=user, after=after, limit=last, newest_first="true")
        # The next page would have older reads.
        document = {**document, "reads": document["reads"][::-1], "next": None}
    if user is not None and not document["reads"]:
        # Raises ServerProblem if there is no such user.
        client.get(client.path("users", user))
    output.rows(document, "reads", COLUMNS, empty=_no_reads(user, after))
    if document["next"] is not None and not output.as_json:
        note(f"Showing {len(document['reads'])}; use --after {document['next']} for the next page.")


def _no_reads(user: str | None, after: int) -> str:
    text = "No auditor has read anything" if user is None else f"{user} has read nothing as an auditor"
    return f"{text}{f' after read {after}' if after else ''}."
