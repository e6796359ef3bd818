"""`labledger events`: the events of the log, once or followed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.params import WholeNumber
from cli.lists import completing
from cli.log.event_lines import EventPrinter
from cli.remote import remote, wide
from cli.terminal.output import Output, note

if TYPE_CHECKING:
    from api.client import Client

# After every event.
LAST_POSITION = 2**63 - 2


@click.command
@click.option("--follow", "-f", is_flag=True, help="Wait for new events and print them, until Ctrl-C.")
@click.option("--after", type=WholeNumber(0), default=0, help="Only events after this position [default: 0].")
@click.option("--new", is_flag=True, help="With --follow: only new events.")
@click.option(
    "--types",
    metavar="TOPIC,…",
    shell_complete=completing.topics,
    help="Only these topics, for example recipe.queued.",
)
@click.option("--subject", help="Only events of this subject, for example recipe/12.")
@click.option("--limit", type=WholeNumber(), help="Maximum number of events to show [default: all].")
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
    """Show events in log order; with --json, one event per line.

    --follow continues after the last shown event when the server has restarted.
    """
    if new:
        after = _end(client)
    wanted = {"types": types.split(",") if types else None, "subject": subject}
    found = _live(client, after, wanted) if follow else client.log(after, **wanted)
    lines, seen = EventPrinter(output), False
    for event in islice(found, limit):
        lines.show(event)
        seen = True
    if not seen and not output.as_json:
        note(_none(types, subject, after))


def _none(types: str | None, subject: str | None, after: int) -> str:
    topics = f" {' or '.join(types.split(','))}" if types else ""
    where = f" after position {after}" if after else ""
    return f"no events{topics}{f' of {subject}' if subject else ''}{where}"


def _end(client: Client) -> int:
    """Return the last position of the log."""
    position: int = client.get("/events", after=LAST_POSITION, limit=1)["position"]
    return position


def _live(client: Client, after: int, wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for event in client.events(after=after, **wanted):
        yield event.document()
