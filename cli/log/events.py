"""`labledger events`: the events on the log, one or two lines each, and with --follow also new ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.exclusion import require_exclusive
from cli.arguments.params import WholeNumber
from cli.arguments.time_span import since_option, until_option
from cli.lists import completing
from cli.remote import remote, wide
from cli.terminal.output import Output, console, note
from cli.terminal.states import styled
from cli.terminal.tables import UNBOUNDED, Row
from cli.terminal.wording import clock, plain

if TYPE_CHECKING:
    from api.client import Client

# The fields of event data that a line shows, in this order.
SHOWN_FIELDS: tuple[str, ...] = (
    "system", "recipe_id", "lab_controller", "condition", "state", "priority", "task_id", "result", "reason",
    "user", "until", "seconds", "group", "whiteboard", "locks",
)  # fmt: skip
# The fields that a line shows of an event about a job filter: of the event and of its document.
SHOWN_OF_JOB_FILTER = ("name", "action", "limit", "reason")
# The fields of an event that describe its request.
SHOWN_OF_REQUEST = ("token_id", "address")
# Minimum width for one line, which leaves room for some data.
ONE_LINE_COLUMNS = 120


class EventPrinter:
    """Printer of events: a line or two for each, in columns of fixed width."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._width, self._coloured = UNBOUNDED, False
        if not output.as_json:
            screen = console(wide=output.wide)
            self._width, self._coloured = screen.width, screen.is_terminal and not screen.no_color

    def show(self, event: Row) -> None:
        text = line(event, self._width, with_request=self._output.wide)
        self._output.line(event, text if self._coloured else click.unstyle(text))


def line(event: Row, width: int = UNBOUNDED, *, with_request: bool = False) -> str:
    """Return the text of an event, cut at `width`; two lines if `width` is less than `ONE_LINE_COLUMNS`.

    `with_request` adds the fields that describe the request, where the event has them.
    """
    head = f"{event['position']:>8}  {clock(event.get('at'))}  {_topic(event)}  {plain(event['subject']):<34}"
    request = {name: event[name] for name in SHOWN_OF_REQUEST if with_request and event.get(name)}
    details = f"{plain(event.get('actor')):<12}  {plain({**_shown_data(event), **request})}".rstrip()
    if width < ONE_LINE_COLUMNS:
        return f"{head.rstrip()}\n{'':>10}{_cut(details, width - 10)}".rstrip()
    head_width = len(click.unstyle(head)) + 2
    return f"{head}  {_cut(details, max(0, width - head_width))}".rstrip()


def _shown_data(event: Row) -> dict[str, Any]:
    data, fields = event.get("data") or {}, SHOWN_FIELDS
    if event["topic"].startswith("partition.job-filter-"):
        data, fields = {**data, **data.get("document", {})}, SHOWN_OF_JOB_FILTER
    return {name: data[name] for name in fields if data.get(name) not in (None, "", {})}


def _topic(event: Row) -> str:
    topic = plain(event["topic"])
    return styled(f"{topic:<24}", topic.rpartition(".")[2])


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(0, width - 1)]}…"


# A position that no event has: the server answers a read after it with the last position of the log.
BEYOND_THE_LOG = 2**63 - 2


@click.command
@click.option(
    "--follow",
    "-f",
    is_flag=True,
    help="Print the existing events after --after, then each new event, until Ctrl-C.",
)
@click.option(
    "--after",
    metavar="POSITION",
    type=WholeNumber(0),
    default=0,
    help="Only events after this position [default: 0, all events].",
)
@click.option("--new", is_flag=True, help="With --follow: omit the existing events. Overrides --after.")
@click.option(
    "--types",
    metavar="TOPIC,…",
    shell_complete=completing.topics,
    help="Only events with these topics, separated by commas: recipe.queued,recipe.scheduled.",
)
@click.option("--subject", metavar="SUBJECT", help="Only events of this subject, for example recipe/12.")
@click.option(
    "--actor",
    metavar="NAME",
    shell_complete=completing.users,
    help="Only events of this user or process, for example scheduler.",
)
@since_option
@until_option
@click.option(
    "--partition",
    metavar="NAME",
    shell_complete=completing.partitions,
    help="Only events of this partition, without those that concern all partitions.",
)
@click.option("--limit", type=WholeNumber(), help="Maximum number of events to show [default: all].")
@click.option("--last", metavar="N", type=WholeNumber(), help="Only the N newest events, in log order.")
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
    actor: str | None,
    since: str | None,
    until: str | None,
    partition: str | None,
    limit: int | None,
    last: int | None,
) -> None:
    """Show events in log order; with --json, one event per line.

    --wide adds the id of the token of the request and, for admins and auditors, the address that it came from
    where the service keeps addresses.

    --follow survives a restart of the server: it continues after the last event that it has printed.
    """
    if follow and (since is not None or until is not None):
        raise click.UsageError("--follow cannot be used with --since or --until; use --after or --new.")
    require_exclusive({"--last": last, "--follow": follow})
    require_exclusive({"--last": last, "--limit": limit})
    if new:
        after = _last_position(client)
    topics = types.split(",") if types else None
    filters = {"types": topics, "subject": subject, "actor": actor, "partition": partition}
    span = {"since": since, "until": until}
    found: Iterable[Row] = client.log(after, **filters, **span)
    if follow:
        found = _live_events(client, after, filters)
    elif last is not None:
        found = client.newest("/events", "events", "position", last, after=after, **filters, **span)
    printer, is_empty = EventPrinter(output), True
    for event in islice(found, limit):
        printer.show(event)
        is_empty = False
    if is_empty and not output.as_json:
        in_that_time = " in that time" if since or until else ""
        note(_no_events(types, subject, actor, partition, after) + in_that_time)


def _no_events(
    types: str | None, subject: str | None, actor: str | None, partition: str | None, after: int
) -> str:
    topics = f" with topic {' or '.join(types.split(','))}" if types else ""
    where = f" after position {after}" if after else ""
    of_partition = f" of the partition {partition}" if partition else ""
    by_actor = f" by {actor}" if actor else ""
    return f"no events{topics}{f' of {subject}' if subject else ''}{by_actor}{of_partition}{where}"


def _last_position(client: Client) -> int:
    position: int = client.get("/events", after=BEYOND_THE_LOG, limit=1)["position"]
    return position


def _live_events(client: Client, after: int, filters: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for event in client.events(after=after, **filters):
        yield event.document()
