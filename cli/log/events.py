"""`labledger events`: the log, once or as it grows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.params import Whole
from cli.lists import completing
from cli.log.event_lines import Lines
from cli.remote import remote, wide
from cli.terminal.output import Output, note

if TYPE_CHECKING:
    from api.client import Client

# Behind everything.
LAST_POSITION = 2**63 - 2


@click.command
@click.option("--follow", "-f", is_flag=True, help="Go on with what is appended, until Ctrl-C.")
@click.option("--after", type=Whole(0), default=0, help="Only events behind this position [the start].")
@click.option("--new", is_flag=True, help="Only events that are still to come; with --follow.")
@click.option(
    "--types",
    metavar="TOPIC,…",
    shell_complete=completing.topics,
    help="Only these topics, as recipe.queued.",
)
@click.option("--subject", help="Only events of this, as recipe/12.")
@click.option("--limit", type=Whole(), help="At most so many [all of them].")
@wide
@remote
def events(
    client: Client,
    output: Output,
    follow: bool,
    after: int,
    new: bool,
    types: str | None,
    subject: str | None,
    limit: int | None,
) -> None:
    """Read the log in its order; with --json one event a line.

    What is followed goes on behind the last event seen when the server comes back from a restart.
    """
    if new:
        after = _end(client)
    wanted = {"types": types.split(",") if types else None, "subject": subject}
    found = _live(client, after, wanted) if follow else client.log(after, **wanted)
    lines, seen = Lines(output), False
    for event in islice(found, limit):
        lines.show(event)
        seen = True
    if not seen and not output.as_json:
        note(_none(types, subject, after))


def _none(types: str | None, subject: str | None, after: int) -> str:
    topics = f" {' or '.join(types.split(','))}" if types else ""
    where = f" behind position {after}" if after else ""
    return f"no events{topics}{f' of {subject}' if subject else ''}{where}"


def _end(client: Client) -> int:
    """The last position of the log."""
    position: int = client.get("/events", after=LAST_POSITION, limit=1)["position"]
    return position


def _live(client: Client, after: int, wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for event in client.events(after=after, **wanted):
        yield event.document()
