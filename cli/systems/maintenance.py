"""`labledger maintenance`: windows in which nothing new starts on systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.as_of import as_of, read_as_of
from cli.arguments.option_names import by_option, faults_changed
from cli.arguments.params import (
    FUTURE_EXAMPLES,
    ID,
    Decorator,
    Duration,
    TimeParam,
    WordChoice,
    reason_option,
)
from cli.lazy import SuggestingGroup
from cli.lists import completing
from cli.lists.listing import Listing, list_command
from cli.lists.suggesting import with_similar_name
from cli.remote import remote, wide
from cli.systems.selection import fqdns_argument, named_systems, selecting
from cli.terminal.output import Output, note
from cli.terminal.tables import Column
from cli.terminal.wording import clock, counted, duration, minute, zone
from domain.errors import listed
from domain.maintenance.window import MAX_LEAD_SECONDS, STATES

if TYPE_CHECKING:
    from api.client import Client

PATH = "/maintenance-windows"
NUMBER = click.argument("number", type=ID)
UNFINISHED_COLUMNS = (
    Column("system", "system", rank=0),
    Column("use", "use", rank=0),
    Column("owner", "owner", rank=0),
    Column(f"ends at the latest ({zone()})", "end", rank=0),
)

KINDS = {"pool": "pool", "lab_controller": "lab controller"}
PROPERTIES = ("pool", "lab_controller", "location")
# Field of a window -> its option.
OPTIONS = {
    "starts_at": "--from",
    "ends_at": "--until",
    "lead_seconds": "--lead",
    "reason": "--reason",
    "pool": "--pool",
    "lab_controller": "--lab",
    "location": "--location",
}


def _from(required: str = "") -> Decorator:
    return click.option(
        "--from",
        "starts_at",
        metavar="TIME",
        type=TimeParam(or_now=True),
        help=f"Start of the window, such as now, {FUTURE_EXAMPLES}.{required}",
    )


def _until(required: str = "") -> Decorator:
    return click.option(
        "--until", "ends_at", metavar="TIME", type=TimeParam(), help=f"End of the window.{required}"
    )


# Checked together, so that an error names all of them.
REQUIRED = "  [required]"
_reason = click.option("--reason", metavar="TEXT", help=f"Reason, which is recorded in the log.{REQUIRED}")
_lead = click.option(
    "--lead",
    "lead_seconds",
    metavar="DURATION",
    type=Duration(MAX_LEAD_SECONDS),
    help="How long before the start the systems are drained, such as 4h.",
)
maintenance = SuggestingGroup("maintenance", help="Add, list, show, move and end maintenance windows.")


def _covered(row: Mapping[str, Any]) -> str:
    if row["systems"] is not None:
        return listed(row["systems"], 3)
    properties = (("pool", "pool"), ("lab", "lab_controller"), ("location", "location"))
    return ", ".join(f"{word} {row[name]}" for word, name in properties if row[name] is not None)


WINDOWS = Listing(
    PATH,
    "maintenance_windows",
    (
        Column("number", "number", "number", 0),
        Column("state", "state", rank=0),
        Column(f"drains ({zone()})", lambda row: minute(row["drains_at"]), rank=2),
        Column(f"from ({zone()})", lambda row: minute(row["starts_at"]), rank=0),
        Column(f"until ({zone()})", lambda row: minute(row["ended_at"] or row["ends_at"]), rank=0),
        Column("systems", _covered, "text", 0),
        Column("reason", "reason", "text", 1),
        Column("added by", "added_by", rank=3),
    ),
    "There is no maintenance window.",
    "There was no maintenance window then.",
)
maintenance.add_command(
    list_command(
        "list",
        WINDOWS,
        "List the maintenance windows, newest first.",
        filters=(
            click.Option(
                ["--system"],
                metavar="FQDN",
                help="Only windows that cover this system.",
                shell_complete=completing.systems,
            ),
            click.Option(["--state"], type=WordChoice(STATES), help="Only windows in this state."),
        ),
    )
)


@maintenance.command
@fqdns_argument
@selecting
@_from(REQUIRED)
@_until(REQUIRED)
@_lead
@_reason
@wide
@remote
def add(
    client: Client,
    output: Output,
    fqdns: tuple[str, ...],
    starts_at: str | None,
    ends_at: str | None,
    lead_seconds: int | None,
    reason: str | None,
    dry_run: bool,
    file: Any,
    **properties: str | None,
) -> None:
    """Add a maintenance window, and show what will not be finished when it starts.

    Nothing new starts on its systems from the --lead before its start until its end. Then they take recipes
    again by themselves, unless a person has drained them. Systems that get into the --pool, --lab and
    --location meanwhile are covered, too. Without --lead, a recipe as long as the longest on the systems now
    would end in time.
    """
    given = {"--from": starts_at, "--until": ends_at, "--reason": reason}
    if missing := [name for name, value in given.items() if not value]:
        raise click.UsageError(f"needs {' and '.join(missing)}")
    wanted: dict[str, Any] = {name: value for name, value in properties.items() if value is not None}
    named = named_systems(fqdns, file, wanted)
    if named.names:
        wanted["systems"] = named.names
    if lead_seconds is not None:
        wanted["lead_seconds"] = lead_seconds
    body = {**wanted, "reason": reason, "starts_at": starts_at, "ends_at": ends_at}
    # The whole body is at fault if no system has the properties.
    options = {**OPTIONS, "body": ", ".join(OPTIONS[name] for name in wanted if name in PROPERTIES)}
    with ExitStack() as changed:
        changed.enter_context(faults_changed(by_option(options)))
        for field, kind in KINDS.items():
            if field in wanted:
                changed.enter_context(faults_changed(with_similar_name(client, kind, wanted[field])))
        changed.enter_context(named.located(client))
        answer = client.post(PATH, body, dry_run=dry_run or None)
    if output.as_json:
        output.document(answer)
        return
    added = "would be added" if dry_run else f"{answer['number']} added"
    click.echo(f"maintenance window {added}: {_sentence(answer)}")
    _show_unfinished(output, answer)
    if dry_run:
        note("dry run: nothing was changed")


@maintenance.command
@NUMBER
@as_of
@wide
@remote
def show(client: Client, output: Output, number: int, as_of: str | None) -> None:
    """Show a maintenance window, its systems, and what will not be finished when it starts."""
    answer = read_as_of(client, output, f"{PATH}/{number}", "maintenance window", number, as_of)
    if output.as_json:
        output.document(answer)
        return
    click.echo(f"maintenance window {number} is {answer['state']}: {answer['reason']}")
    click.echo(_sentence(answer))
    if answer["ended_at"] is not None:
        why = f": {answer['end_reason']}" if answer["end_reason"] else ""
        click.echo(f"ended {clock(answer['ended_at'])} ({zone()}){why}")
    _show_unfinished(output, answer)


@maintenance.command
@NUMBER
@_from()
@_until()
@_lead
@remote
def move(client: Client, output: Output, number: int, **times: Any) -> None:
    """Move a maintenance window: its start and --lead before it starts, its end before it ends."""
    given = {name: value for name, value in times.items() if value is not None}
    if not given:
        raise click.UsageError("needs --from, --until or --lead")
    with faults_changed(by_option(OPTIONS)):
        answer = client.patch(f"{PATH}/{number}", given)
    moved = "moved" if answer["changed"] else "already had these times"
    output.line(answer, f"maintenance window {number} {moved}")


@maintenance.command
@NUMBER
@reason_option
@remote
def end(client: Client, output: Output, number: int, reason: str | None) -> None:
    """End a maintenance window before its time, or before it has started. Its systems take recipes again."""
    answer = client.post(f"{PATH}/{number}/end", {} if reason is None else {"reason": reason})
    output.line(answer, f"maintenance window {number} ended")


def _sentence(window: Mapping[str, Any]) -> str:
    ends_at = window["ended_at"] or window["ends_at"]
    times = f"from {clock(window['starts_at'])} until {clock(ends_at)} ({zone()})"
    lead = f", drained {duration(window['lead_seconds'])} before" if window["lead_seconds"] else ""
    return f"{counted(len(window['covered_systems']), 'system')}\n{times}{lead}"


def _show_unfinished(output: Output, window: Mapping[str, Any]) -> None:
    rows = [*_unfinished(window["unfinished"])]
    if rows:
        click.echo("Not finished when it starts:")
        output.table(UNFINISHED_COLUMNS, rows)
    else:
        click.echo("Everything will be finished when it starts.")


def _unfinished(unfinished: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    recipes = [
        {
            "system": row["system"],
            "use": f"recipe {row['recipe_id']}",
            "owner": row["owner"],
            "end": clock(row["latest_end"]),
        }
        for row in unfinished["recipes"]
    ]
    lent = [
        {"system": row["system"], "use": word, "owner": row["user"], "end": clock(row["until"]) or "no end"}
        for word in ("reservations", "loans")
        for row in unfinished[word]
    ]
    words = {"reservations": "reservation", "loans": "loan"}
    return [*recipes, *({**row, "use": words[row["use"]]} for row in lent)]
