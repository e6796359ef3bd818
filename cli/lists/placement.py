"""`--queue` and `--partition` of a job, with the names of the server."""

from __future__ import annotations

import click

from cli.arguments.params import Command, Words
from cli.lists import completing

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
