"""`labledger claims`: the claims of waiting recipes to busy systems."""

from __future__ import annotations

import click

from cli.lists import completing
from cli.lists.listing import Listing, list_command, since
from cli.terminal.tables import Column
from cli.terminal.wording import clock, zone

CLAIMS = Listing(
    "/claims",
    "claims",
    (
        Column("recipe", "recipe_id", "number", 0),
        Column("system", "system", rank=0),
        Column("forced", lambda row: "yes" if row.get("forced") else "no", rank=1),
        Column(f"claimed ({zone()})", lambda row: clock(row.get("since")), rank=2),
        Column("for", since, "number", 1),
        Column("job", "job_id", "number", 2),
        Column("owner", "owner", rank=2),
    ),
    "No recipe claims a system.",
    "No recipe claimed a system then.",
    none_of="No recipe claims {system}.",
    were_none_of="No recipe claimed {system} then.",
)
claims = list_command(
    "claims",
    CLAIMS,
    "List the claims of waiting recipes to busy systems. A system that comes free first asks the recipe that"
    " claims it. A recipe that forces a busy system claims it at once, and such a claim does not run out;"
    " other claims begin and end by the section `claims` of the configuration.",
    filters=(
        click.Option(
            ["--system"],
            metavar="FQDN",
            help="Only the claim to this system.",
            shell_complete=completing.systems,
        ),
    ),
)
