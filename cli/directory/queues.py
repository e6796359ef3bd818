"""`labledger queues`: the queues of a partition, with what they use and what waits in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.arguments.as_of import as_of, note_moment
from cli.directory.partitions import of_partition
from cli.remote import remote, wide
from cli.terminal.output import Output
from cli.terminal.tables import Column, Row
from domain.errors import Unknown, display_name

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
    """List the queues of a partition with their usage, or only QUEUE and the queues below it.

    QUEUE is a path such as root.kernel. The numbers of a queue include those of the queues below it: `used`
    are the systems that recipes hold, `jobs` the jobs with systems, both with their maximum. `waiting` are
    the recipes without a system. `share` is the number of used systems for each guaranteed one.
    """
    document = client.get(client.path("partitions", name, "queues"), as_of=as_of)
    note_moment(client, output, as_of, document)
    if queue is not None:
        document["queues"] = [row for row in document["queues"] if _is_in(row["path"], queue)]
        if not document["queues"]:
            raise Unknown(
                display_name("queue", queue), f"{display_name('partition', name)} has no such queue"
            )
    output.rows(document, "queues", COLUMNS, empty="There is no queue.")


def _is_in(path: str, queue: str) -> bool:
    """Return whether a queue is another one or below it."""
    return path == queue or path.startswith(f"{queue}.")
