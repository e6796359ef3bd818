"""`--queue` and `--partition` of a job, with the names of the server, and the shown queue and partition."""

from __future__ import annotations

import click

from cli.arguments.params import Command, Words
from cli.lists import completing
from cli.terminal.tables import Row
from domain.directory.partitions import DEFAULT
from domain.queues.tree import DEFAULT_QUEUE

queue_option = click.option(
    "--queue",
    type=Words(),
    metavar="PATH",
    shell_complete=completing.leaf_queues,
    help="Queue of the job, such as root.kernel [default: by the placement rules].",
)
partition_option = click.option(
    "--partition",
    type=Words(),
    metavar="NAME",
    shell_complete=completing.partitions,
    help="Partition of the job [default: the first active one that could run it].",
)


def placement_options(command: Command) -> Command:
    """Add the options to a command, as `queue` and `partition`."""
    return queue_option(partition_option(command))


def shown_partition(row: Row) -> str | None:
    """Return the partition of a job, recipe set or recipe for people, None if it is `default`."""
    name: str = row.get("partition", DEFAULT)
    return None if name == DEFAULT else name


def placement_text(submitted: Row) -> str:
    """Return the queue of a submitted job, such as ` to root.a of partition west`.

    Empty for `root.default` of the partition `default`, where all jobs are without a configuration.
    """
    partition, queue = shown_partition(submitted), submitted.get("queue", DEFAULT_QUEUE)
    if partition is None:
        return "" if queue == DEFAULT_QUEUE else f" to {queue}"
    return f" to {queue} of partition {partition}"
