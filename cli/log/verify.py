"""`labledger replay verify`: is each decision in the log the one that the policy demands?"""

from __future__ import annotations

import click

from cli.arguments.setting_flags import data_option
from cli.log.verified import is_sound, lines
from cli.terminal.output import Output
from cli.terminal.progress import told_by_a_bar


@click.command
@click.option("--until", type=click.IntRange(0), metavar="POSITION", help="Only the commits up to there.")
@data_option
@click.option("--json", "as_json", is_flag=True, help="For machines: JSON instead of text.")
def verify(until: int | None, data: str | None, as_json: bool) -> None:
    """Make each decision again, and hold the log against the rules.

    Again by the code that decided, twice, in processes in which texts hash otherwise; against the rules by an
    audit that shares nothing with it. Exit status 1 when a decision is not the one that its basis demands, or
    could not be checked, or a rule is broken. Everything may run meanwhile. The database is that of
    LABLEDGER_OWNER_DATABASE_URL or LABLEDGER_DATABASE_URL, else that of the `labledger up` which runs.
    """
    from runtime.embedded.running import database_url
    from runtime.settings import Settings
    from workers.verification.verify import verify as verified

    url = database_url(Settings.read(data=data))
    with told_by_a_bar("verifying") as told:
        found = verified(url, told, until)
    Output(as_json).line(found, "\n".join(lines(found)))
    if not is_sound(found):
        raise click.exceptions.Exit(1)
