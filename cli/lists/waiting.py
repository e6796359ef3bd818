"""`labledger queue`: the waiting recipes, and their counts by the current reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from cli.arguments.as_of import as_of, note_moment
from cli.arguments.exclusion import require_exclusive
from cli.lists import completing
from cli.lists.filtered import partition_option
from cli.lists.jobs import QUEUE
from cli.lists.listing import FIRST_ROWS, Listing, limits
from cli.remote import remote, wide
from cli.terminal.output import Output
from cli.terminal.tables import Column, Row
from cli.terminal.wording import duration

if TYPE_CHECKING:
    from api.client import Client


def _reason(row: Row) -> str:
    """Return the current reason, empty while the service still reads the log."""
    reason = row.get("reason")
    return "" if reason is None else str(reason["text"])


def _time_left(name: str) -> Callable[[Row], str]:
    def shown(row: Row) -> str:
        estimate = row.get("estimate")
        if estimate is None:
            return ""
        if estimate[name] is not None:
            return duration(estimate[name])
        longest = estimate["more_than_seconds"]
        return "unknown" if longest is None else f"more than {duration(longest)}"

    return shown


TIMES_LEFT = (
    Column("half start within", _time_left("p50_seconds"), "number", 1),
    Column("nine of ten within", _time_left("p90_seconds"), "number", 1),
)


def _listing(*, reasons: bool, estimates: bool) -> Listing:
    """Return the listing of the queue. A recipe whose set is held back waits for that reason."""
    columns = []
    for column in QUEUE.columns:
        if column.heading == "held back":
            columns += [Column("reason", _reason, "text", 0) if reasons else column]
            columns += TIMES_LEFT if estimates else ()
        else:
            columns.append(column)
    asked = {"reasons": reasons, "estimates": estimates}
    parameters = {name: "true" for name, is_asked in asked.items() if is_asked}
    return replace(QUEUE, columns=tuple(columns), parameters=parameters)


COUNTS = (
    Column("recipes", "recipes", "number", 0),
    Column("by priority", "by_priority", "text"),
    Column("reason", "text", "text", 0),
)
LABS = (Column("recipes", "recipes", "number", 0), Column("lab controller", "name", rank=0))


def show_queue(
    client: Client,
    output: Output,
    limit: int | None,
    as_of: str | None,
    reasons: bool,
    estimates: bool,
    by_reason: bool,
    **filters: str | None,
) -> None:
    if not by_reason:
        listing = _listing(reasons=reasons, estimates=estimates)
        listing.show(client, output, limit, as_of, **filters)
        return
    others = {"--system": filters["system"], "--reasons": reasons, "--estimates": estimates}
    for name, value in others.items():
        require_exclusive({"--by-reason": by_reason, name: value})
    show_counts(client, output, as_of, filters["partition"])


def show_counts(client: Client, output: Output, as_of: str | None, partition: str | None) -> None:
    document = client.get("/queue/reasons", as_of=as_of, partition=partition)
    note_moment(client, output, as_of, document)
    output.rows(document, "reasons", COUNTS, empty=QUEUE.was_empty if as_of else QUEUE.empty)
    if document["lab_controllers"] and not output.as_json:
        output.table(
            LABS, document["lab_controllers"], title="Labs with systems for them, busy ones included"
        )


queue = click.command(
    "queue",
    help="List the recipes that wait for a system, by priority.\n\n"
    "Assigned recipes come first, whatever their priority; recipes of equal priorities are in the order of "
    "submission. Weights count only in the order of a system (--system).",
)(limits(FIRST_ROWS)(as_of(wide(remote(show_queue)))))
queue.params = [
    click.Option(
        ["--system"],
        metavar="FQDN",
        shell_complete=completing.systems,
        help="Only recipes that this system could run, in the order in which it considers them.",
    ),
    partition_option("recipes of"),
    click.Option(["--reasons"], is_flag=True, help="Show why each recipe waits now."),
    click.Option(["--estimates"], is_flag=True, help="Show the estimated time left of each recipe."),
    click.Option(["--by-reason"], is_flag=True, help="Count the recipes by reason and priority, and by lab."),
    *queue.params,
]
