"""`labledger queues`: the queues of a partition, their usage and their properties."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import click

from cli.arguments.as_of import as_of, note_moment
from cli.directory.partitions import of_partition
from cli.remote import remote, wide
from cli.terminal.output import Output
from cli.terminal.tables import Column, Row
from cli.terminal.wording import INTAKE_ENDED, plain
from domain.errors import Unknown, display_name
from domain.queues.tree import EACH, GROUP, ROOT, USER, is_from_root, paths_upward

if TYPE_CHECKING:
    from api.client import Client


def _of_max(count: str, maximum: str) -> Column:
    """Return the column of a count with its maximum, such as `3/40`."""

    def shown(row: Row) -> str:
        return f"{row[count]}" if row[maximum] is None else f"{row[count]}/{row[maximum]}"

    return Column(count, shown, "text", 0)


COLUMNS = (
    Column("queue", "path", rank=0),
    Column("state", lambda row: f"{row['state']}, dynamic" if row["is_dynamic"] else row["state"], "text", 1),
    _of_max("used", "max"),
    _of_max("jobs", "max_jobs"),
    Column("waiting", "waiting", "number", 0),
    Column("guaranteed", "guaranteed", "number", 1),
    Column("share", "share", "number", 1),
    Column("order", "order", "text", 2),
)


@click.command
@click.argument("queue", required=False)
@of_partition
@as_of
@wide
@remote
def queues(client: Client, output: Output, queue: str | None, name: str, as_of: str | None) -> None:
    """List the queues of a partition with their usage, or show QUEUE, and list it and the queues below it.

    QUEUE is a path such as root.kernel, with or without `root.`. The rights that are shown are its own and
    those of the queues above it.

    The numbers of a queue include those of the queues below it: `used` are the systems that recipes hold,
    `jobs` the jobs with systems, both with their maximum. `waiting` are the recipes without a system. `share`
    is the number of used systems for each guaranteed one.
    """
    document = client.get(client.path("partitions", name, "queues"), as_of=as_of)
    note_moment(client, output, as_of, document)
    if not output.as_json:
        # The states of the queues are their own.
        state = client.get(client.path("partitions", name), as_of=as_of)["state"]
        if state in INTAKE_ENDED:
            click.echo(f"partition {plain(name)} is {state}: {INTAKE_ENDED[state]}")
    if queue is not None:
        rows = {row["path"]: row for row in document["queues"]}
        path = _path_of(queue, rows, name)
        document["queues"] = [row for row in rows.values() if path in paths_upward(row["path"])]
        if not output.as_json:
            _print_properties([rows[each] for each in paths_upward(path)])
    output.rows(document, "queues", COLUMNS, empty="There is no queue.")


def _path_of(queue: str, paths: Collection[str], partition: str) -> str:
    """Return the path of a queue that is named with or without `root.`; raise Unknown with a near name."""
    path = queue if is_from_root(queue) else f"{ROOT}.{queue}"
    if path in paths:
        return path
    from api.intake.near_names import suggestion

    reason = f"{display_name('partition', partition)} has no such queue"
    raise Unknown(display_name("queue", path), f"{reason}{suggestion(path, paths)}")


def _print_properties(upward: Sequence[Row]) -> None:
    """Print the properties of the first queue, and its rights, which the queues above it also give."""
    queue = upward[0]
    facts = {
        "state": queue["state"],
        "order": queue["order"],
        "priority offset": queue["priority_offset"] or None,
        "fence": "yes" if queue["fence"] else None,
        "limits": "; ".join(map(_limit_text, queue["limits"])),
        "submit": _rights_text(upward, "submit"),
        # Those who may administer a queue may also submit to it.
        "admin and submit": _rights_text(upward, "admin"),
        "template": None if queue["template"] is None else plain(queue["template"]) or "without properties",
    }
    click.echo(f"queue {queue['path']}")
    for fact, value in facts.items():
        if value not in (None, ""):
            click.echo(f"  {fact}: {value}")
    click.echo()


def _limit_text(limit: Row) -> str:
    """Return a limit as text, such as `user eve max=10 max_jobs=2`."""
    ((kind, name),) = ((kind, limit[kind]) for kind in (USER, GROUP) if limit.get(kind) is not None)
    numbers = {field: limit[field] for field in ("max", "max_jobs") if limit.get(field) is not None}
    whose = f"each {kind} without a limit of its own" if name == EACH else f"{kind} {name}"
    return f"{whose} {plain(numbers)}"


def _rights_text(upward: Sequence[Row], right: str) -> str:
    """Return the users and groups with a right, and the queues that give it."""
    given = ((row["path"], _grantees_text(row[right])) for row in upward)
    return "; ".join(f"{who} ({path})" for path, who in given if who) or "nobody"


def _grantees_text(grantees: Row) -> str:
    users = ("everybody" if name == EACH else name for name in grantees.get("users", ()))
    return ", ".join([*users, *(f"group {name}" for name in grantees.get("groups", ()))])
