"""`labledger replay verify`: verification of the decisions in the log."""

from __future__ import annotations

import click

from cli.arguments.setting_flags import data_option
from cli.log.verified import is_sound, lines
from cli.terminal.output import Output
from cli.terminal.progress import progress_bar


@click.command
@click.option(
    "--until", type=click.IntRange(0), metavar="POSITION", help="Verify only the commits up to this position."
)
@data_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def verify(until: int | None, data: str | None, as_json: bool) -> None:
    """Recompute each decision, and check every commit against the rules.

    The scheduler's code recomputes the decisions twice, in processes with different hash seeds. An
    independent implementation checks the rules. Exit status 1 if a decision differs or could not be checked,
    or if a rule is violated. The services may run meanwhile. The database is that of
    LABLEDGER_OWNER_DATABASE_URL or LABLEDGER_DATABASE_URL, else that of a running `labledger up`.
    """
    from runtime.embedded.database import database_url
    from runtime.settings import Settings
    from workers.verification.verify import verify as verified

    url = database_url(Settings.read(data=data))
    with progress_bar("verifying") as on_progress:
        found = verified(url, on_progress, until)
    Output(as_json).line(found, "\n".join(lines(found)))
    if not is_sound(found):
        raise click.exceptions.Exit(1)
