"""`labledger extend`: more time for a recipe, a reservation or a loan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.arguments.numbered import RECIPE_ID
from cli.arguments.option_names import by_option, faults_changed
from cli.arguments.params import Duration, TimeParam, reason_option
from cli.lists import completing
from cli.remote import remote
from cli.systems.kind import SYSTEM
from cli.terminal.output import Output
from cli.terminal.wording import clock, zone

if TYPE_CHECKING:
    from api.client import Client

OPTIONS = {"seconds": "--by", "until": "--until", "reason": "--reason"}


@click.command
@click.argument("wanted", metavar="RECIPE|SYSTEM", shell_complete=completing.systems)
@click.option(
    "--by",
    "seconds",
    metavar="DURATION",
    type=Duration(),
    help="By how much, such as 2h or 1d 12h.",
)
@click.option("--until", metavar="TIME", type=TimeParam(), help="To when, such as 'tomorrow 18:00'.")
@reason_option
@remote
def extend(
    client: Client, output: Output, wanted: str, seconds: int | None, until: str | None, reason: str | None
) -> None:
    """Give a recipe or a reservation more time.

    RECIPE is a number, or as in Beaker R:30: its watchdog expires later, or it keeps its system longer. The
    start of its next task sets the watchdog anew. SYSTEM is an FQDN: its reservation ends later or, without
    one, its loan. The lab bounds all extensions of one recipe, reservation or loan together.
    """
    if (seconds is None) == (until is None):
        raise click.UsageError("needs either --by or --until")
    # No FQDN is a number or has a colon.
    is_recipe = wanted.isdecimal() or ":" in wanted
    number = RECIPE_ID.convert(wanted, None, click.get_current_context()) if is_recipe else None
    path = f"/recipes/{number}" if is_recipe else client.path(SYSTEM.plural, wanted)
    given = {"seconds": seconds, "until": until, "reason": reason}
    with faults_changed(by_option(OPTIONS)):
        answer = client.post(
            f"{path}/extension", {name: each for name, each in given.items() if each is not None}
        )
    what = f"recipe {number}" if is_recipe else wanted
    output.line(answer, f"{what}: extended until {clock(answer['until'])} ({zone()})")
