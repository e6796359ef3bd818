"""`labledger reconciliations`: occupied systems, and refused items of registrations."""

from __future__ import annotations

import click

from cli.lists.completing import lab_controllers
from cli.lists.listing import Listing, list_command, since
from cli.terminal.tables import Column

RECONCILIATIONS = Listing(
    "/reconciliations",
    "reconciliations",
    (
        Column("id", "id", "number", 0),
        Column("system", "system", rank=0),
        Column("reason", "reason", rank=0),
        Column("recipe", "recipe_id", "number", 2),
        Column("attempt", "attempt", "number", 4),
        Column("for", since, "number", 1),
        Column("lab controller", "lab_controller", rank=3),
    ),
    "No system is occupied.",
    "No system was occupied then.",
    further="rejected",
    further_title="Refused items of registrations",
    further_columns=(
        Column("lab controller", "lab_controller", rank=0),
        Column("system", "system", rank=0),
        Column("reason", "reason", rank=0),
        Column("instance", "instance", rank=1),
    ),
)
reconciliations = list_command(
    "reconciliations",
    RECONCILIATIONS,
    "List the occupied systems. Something runs on such a system without having it, so nobody can have the"
    " system. The lab controller stops a recipe there, and then reports that the system is vacant. People"
    " stop anything else, and then run `labledger system vacate`. A second table has the items that the"
    " service refused in the present registrations of lab controllers.",
    filters=(
        click.Option(
            ["--lab-controller", "--lab"],
            metavar="FQDN",
            help="Only systems of this lab controller.",
            shell_complete=lab_controllers,
        ),
    ),
)
