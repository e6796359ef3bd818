"""`labledger usage` and `system usage`: the time of systems by usage and condition, and shares of the log."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cli.arguments.as_of import absence_explained, as_of, note_moment
from cli.arguments.params import WordChoice
from cli.arguments.time_span import since_option, until_option
from cli.lists import completing
from cli.remote import remote, wide
from cli.systems.kind import SYSTEM
from cli.systems.usage_report import show_report
from cli.terminal.output import Output
from cli.terminal.tables import Column, Row
from cli.terminal.wording import clock, duration, elapsed, zone
from domain.system.usage import displayed_usage

if TYPE_CHECKING:
    from api.client import Client

SIZE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def _size(row: Row) -> str:
    """Return the size in the largest unit that leaves a number of at least 1."""
    size, unit = float(row["size_bytes"]), 0
    while size >= 1024 and unit + 1 < len(SIZE_UNITS):
        size, unit = size / 1024, unit + 1
    return f"{size:.1f} {SIZE_UNITS[unit]}" if unit else f"{size:.0f} {SIZE_UNITS[0]}"


LOG_COLUMNS = (
    Column("day (UTC)", "day", rank=0),
    Column("actor", "actor", rank=0),
    Column("written", _size, "number", 0),
    Column("events", "event_count", "number", 1),
)


def show_log_usage(client: Client, output: Output, since: str | None) -> None:
    document = client.get("/log-usage", since=since)
    output.rows(document, "shares", LOG_COLUMNS, empty="No events were written in that time.")


GROUPS = ("system", "lab_controller", "pool", "arch", "owner", "group", "user")
# Shares of time -> rank of the column: usages of Automated systems, then conditions of other systems.
SHARES = {
    "running": 1,
    "installing": 4,
    "waiting": 5,
    "scheduled": 7,
    "pending": 8,
    "idle": 1,
    "draining": 2,
    "disabled": 3,
    "occupied": 9,
    "Manual": 3,
    "Broken": 2,
    "Removed": 6,
}


INTERVAL_COLUMNS = (
    Column(f"since ({zone()})", lambda row: clock(row.get("since")), rank=0),
    Column("for", lambda row: elapsed(row.get("since"), row.get("until") or row.get("as_of")), "number", 0),
    Column("condition", "condition", "state", 0),
    Column("usage", lambda row: row.get("unavailable") or row["usage"], "state", 0),
    Column("recipe", "recipe_id", "number"),
    Column("position", "since_position", "number", 2),
)

STEP_COLUMN = Column(f"since ({zone()})", lambda row: clock(row.get("since")), rank=0)


@click.command
@click.option(
    "--group-by",
    "--by",
    "group_by",
    type=WordChoice(GROUPS),
    default="lab_controller",
    show_default=True,
    help="Group the rows by this.",
)
@click.option(
    "--step", type=WordChoice(("hour", "day")), help="Show a row for each hour or day (UTC) of every group."
)
@since_option
@until_option
@click.option(
    "--log",
    "of_log",
    is_flag=True,
    help="Show the events and bytes that each user and process added to the log, by day."
    " --since is then the first day [default: today].",
)
@click.option(
    "--report",
    "of_report",
    is_flag=True,
    help="Show the systems that nobody used, the users who had systems longest, and the requirements that"
    " wait longest, for how many systems. --since is then by default 30 days ago.",
)
@click.option(
    "--partition",
    metavar="NAME",
    shell_complete=completing.partitions,
    help="Only the time of systems in the labs of this partition.",
)
@as_of
@wide
@remote
def usage(
    client: Client,
    output: Output,
    group_by: str,
    step: str | None,
    since: str | None,
    until: str | None,
    of_log: bool,
    of_report: bool,
    partition: str | None,
    as_of: str | None,
) -> None:
    """Show how systems spent their time: the share of each usage and condition in the time of the group.

    A column in lower case is a usage. Manual, Broken and Removed are the conditions of idle systems; only
    Automated systems that may get recipes count as `idle`, others as `draining`, `disabled` (by their lab) or
    `occupied`. The shares of a row add up to 100 %. With --group-by pool or arch, a
    system counts in each of its pools or architectures. With owner or group, time counts for those of the job
    that has the system, a reservation for its person, and all other time without a name. With user, a loan
    counts for the borrower, too, while nothing else has the system.

    With --log, show instead the events and bytes that each user and process added to the log on each day.
    Users who are not admins or auditors see only their own.
    """
    if of_report:
        source = click.get_current_context().get_parameter_source("group_by")
        is_grouped = source is ParameterSource.COMMANDLINE
        if of_log or is_grouped or any(given is not None for given in (step, until, partition)):
            raise click.UsageError(
                "--report can be used with --since and --as-of, but not with --group-by, --log, --step,"
                " --until or --partition."
            )
        show_report(client, output, since, as_of)
        return
    if of_log:
        if any(given is not None for given in (step, until, partition, as_of)):
            raise click.UsageError(
                "--log can be used with --since, but not with --step, --until, --partition or --as-of."
            )
        show_log_usage(client, output, since)
        return
    span = {"since": since, "until": until, "as_of": as_of}
    query: dict[str, Any] = {"group_by": group_by, "step": step, **span}
    document = client.pages("/system-usage", "groups", partition=partition, **query)
    note_moment(client, output, as_of, document)
    columns: tuple[Column, ...] = (Column(group_by.replace("_", " "), "key", rank=0), *SHARE_COLUMNS)
    empty = "There were no systems in that time."
    if step is not None:
        columns = (STEP_COLUMN, *columns)
        if not output.as_json:
            steps = [{"key": group["key"], **one} for group in document["groups"] for one in group["steps"]]
            document = {**document, "groups": steps}
    output.rows(document, "groups", columns, empty=empty)


def shares(row: Row) -> dict[str, float]:
    """Return the share of each usage and condition in the time of a group, from 0 to 1."""
    seconds: Counter[str] = Counter()
    for condition, by_usage in row["seconds"].items():
        for usage, number in by_usage.items():
            seconds[displayed_usage(condition, usage)] += number
    total = seconds.total()
    return {name: number / total if total else 0.0 for name, number in seconds.items()}


def _share(name: str) -> Column:
    def percent(row: Row) -> str:
        share = shares(row).get(name)
        return f"{share:.1%}" if share else ""

    return Column(name, percent, "number", SHARES[name])


def _total(row: Row) -> str:
    return duration(sum(sum(by_usage.values()) for by_usage in row["seconds"].values()))


SHARE_COLUMNS = (Column("total time", _total, "number"), *map(_share, SHARES))


@click.command("usage")
@SYSTEM.argument
@since_option
@until_option
@as_of
@wide
@remote
def of_system(
    client: Client, output: Output, fqdn: str, since: str | None, until: str | None, as_of: str | None
) -> None:
    """Show the usage and condition of FQDN over time, one interval per line."""
    document = intervals_of(client, output, fqdn, as_of, since, until)
    empty = f"{fqdn} did not exist in that time."
    output.rows(document, "intervals", INTERVAL_COLUMNS, empty=empty)


def intervals_of(
    client: Client, output: Output, fqdn: str, as_of: str | None, since: str | None, until: str | None
) -> dict[str, Any]:
    """Return the intervals of a system in a time span, after a note of the moment; explain a 404."""
    with absence_explained(client, as_of, "system", fqdn):
        path = client.path("systems", fqdn, "usage")
        document = client.pages(path, "intervals", as_of=as_of, since=since, until=until)
    note_moment(client, output, as_of, document)
    return document
