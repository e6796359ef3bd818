"""`labledger jobs`, `queue`, `systems`: the lists that can be narrowed down."""

from __future__ import annotations

import click

from cli.arguments.params import OneOf
from cli.lists import completing
from cli.lists.inventory import export, import_
from cli.lists.jobs import JOBS, QUEUE
from cli.lists.listing import list_command, with_commands
from cli.lists.systems import SYSTEMS
from domain.recipe.lifecycle import RECIPE
from domain.system.lifecycle import CONDITIONS, USAGE


def _owner(of: str) -> click.Option:
    return click.Option(
        ["--owner"], metavar="USER", shell_complete=completing.users, help=f"Only {of} of this user."
    )


jobs = list_command(
    "jobs",
    JOBS,
    "List jobs, newest first.",
    rows=20,
    filters=(
        click.Option(
            ["--state"], type=OneOf(RECIPE.states), metavar="STATE", help="Only jobs in this state."
        ),
        _owner("jobs"),
        click.Option(
            ["--group"], metavar="GROUP", shell_complete=completing.groups, help="Only jobs of this group."
        ),
    ),
)
queue = list_command(
    "queue",
    QUEUE,
    "List the recipes that wait for a system, in rank order.",
    filters=(
        click.Option(
            ["--system"],
            metavar="FQDN",
            shell_complete=completing.systems,
            help="Only recipes that might have this system, in the order in which it asks them.",
        ),
    ),
)
OF_SYSTEMS = (
    click.Option(["--condition"], type=OneOf(CONDITIONS), help="Only systems in this condition."),
    click.Option(["--usage"], type=OneOf(USAGE.states), metavar="USAGE", help="Only systems that do this."),
    click.Option(
        ["--lab-controller"],
        metavar="FQDN",
        shell_complete=completing.lab_controllers,
        help="Only systems of this lab.",
    ),
    click.Option(
        ["--pool"], metavar="POOL", shell_complete=completing.pools, help="Only systems in this pool."
    ),
    _owner("systems"),
)
export.params = [*OF_SYSTEMS, *export.params]
systems = with_commands(
    list_command(
        "systems", SYSTEMS, "List the systems, their condition and what they do.", filters=OF_SYSTEMS
    ),
    *(export, import_),
)
