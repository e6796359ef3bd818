"""`labledger jobs`, `idle`, `lab-controllers` and `filters`: lists with filters."""

from __future__ import annotations

import click

from cli.arguments.params import WordChoice, Words
from cli.arguments.time_span import BEGIN, END
from cli.lists import completing
from cli.lists.directory import FILTERS
from cli.lists.jobs import JOBS
from cli.lists.listing import list_command
from cli.lists.systems import IDLE, LAB_CONTROLLERS
from domain.directory.partitions import DEFAULT
from domain.recipe.lifecycle import RECIPE
from domain.roll_up import RESULT_ORDER


def owner_option(objects: str) -> click.Option:
    return click.Option(["--owner"], metavar="USER", shell_complete=completing.users, help=f"Only {objects}.")


def partition_option(objects: str) -> click.Option:
    return click.Option(
        ["--partition"],
        metavar="NAME",
        shell_complete=completing.partitions,
        help=f"Only {objects} this partition.",
    )


jobs = list_command(
    "jobs",
    JOBS,
    "List jobs, newest first.",
    rows=20,
    filters=(
        click.Option(
            ["--state"],
            type=WordChoice(RECIPE.states),
            metavar="STATE",
            help="Only jobs in this state, such as queued or running.",
        ),
        owner_option("jobs that run for this user"),
        click.Option(
            ["--group"], metavar="GROUP", shell_complete=completing.groups, help="Only jobs of this group."
        ),
        partition_option("jobs of"),
        click.Option(["--mine"], flag_value="true", help="Only your jobs."),
        click.Option(
            ["--whiteboard"],
            metavar="TEXT",
            type=Words(),
            help="Only jobs with this text in their whiteboard, in upper or lower case.",
        ),
        click.Option(
            ["--since"], metavar="TIME", type=BEGIN, help="Only jobs submitted at this time or later."
        ),
        click.Option(["--until"], metavar="TIME", type=END, help="Only jobs submitted before this time."),
        click.Option(
            ["--result"],
            type=WordChoice(RESULT_ORDER),
            metavar="RESULT",
            help="Only jobs with this result, such as Pass or Fail.",
        ),
        click.Option(
            ["--system"],
            metavar="FQDN",
            shell_complete=completing.systems,
            help="Only jobs with a recipe that has started on this system.",
        ),
        click.Option(["--task"], metavar="NAME", type=Words(), help="Only jobs with a task of this name."),
        click.Option(["--product"], metavar="NAME", type=Words(), help="Only jobs of this product."),
    ),
)
idle = list_command(
    "idle",
    IDLE,
    "List the idle systems that could be granted to a recipe now.",
    filters=(partition_option("systems in"),),
)
lab_controllers = list_command(
    "lab-controllers",
    LAB_CONTROLLERS,
    "List the lab controllers and the times of their last contact.",
    filters=(partition_option("lab controllers in"),),
)
filters = list_command(
    "filters",
    FILTERS,
    "List the job filters of a partition in their order: the first one that matches a recipe set, and is not"
    f" CONTINUE, applies to it [default: those of {DEFAULT}].",
    filters=(partition_option("job filters of"),),
)
