"""`labledger replay verify`: verification of the decisions on the log."""

from __future__ import annotations

import click

from cli.arguments.setting_flags import data_option
from cli.log.verification_report import is_sound, report_lines
from cli.terminal.output import Output
from cli.terminal.progress import progress_bar


@click.command
@click.option(
    "--until",
    type=click.IntRange(0),
    metavar="POSITION",
    help="Verify only the commits up to this position [default: all].",
)
@data_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def verify(until: int | None, data: str | None, as_json: bool) -> None:
    """Recompute every decision on the log, and check every commit against the rules.

    Two processes recompute the decisions with the code of the scheduler, each with another hash seed, to find
    results that depend on it. A third process checks the rules with independent code. The services may run
    meanwhile.

    Exit status 1 if a decision differs, was granted late or could not be checked, or if a rule is violated.
    Decisions of earlier policy versions are counted, but not recomputed. The database is that of
    LABLEDGER_OWNER_DATABASE_URL or LABLEDGER_DATABASE_URL, otherwise that of a running `labledger up`.
    """
    from runtime.embedded.database import database_url
    from runtime.settings import Settings
    from workers.verification.verify import verify as verify_log

    url = database_url(Settings.read(data=data))
    with progress_bar("verifying") as on_progress:
        result = verify_log(url, on_progress, until)
    Output(as_json).line(result, "\n".join(report_lines(result)))
    if not is_sound(result):
        raise click.exceptions.Exit(1)
