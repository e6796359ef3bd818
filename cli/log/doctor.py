"""`labledger doctor`: the conservation laws, directly on the database as its owner."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from cli.arguments.as_of import PositionOrMoment, is_position
from cli.arguments.params import PAST_EXAMPLES
from cli.arguments.setting_flags import data_option
from cli.terminal.output import Output
from cli.terminal.progress import progress_bar
from cli.terminal.tables import Column
from cli.terminal.wording import counted

if TYPE_CHECKING:
    from workers.doctor import Report

COLUMNS = (
    Column("law", "law", rank=0),
    Column("violations", "violations", "number", 0),
    Column("says", "says", "text", 1),
)
USES = ("used", "free", "reserved", "occupied", "away")


@click.command
@click.option("--log", "is_log", is_flag=True, help="Check the log after each commit, not the read models.")
@click.option(
    "--as-of",
    metavar="POSITION|TIME",
    type=PositionOrMoment(past=True),
    help=f"Check the state as of this log position, or time such as {PAST_EXAMPLES} (local without a zone).",
)
@data_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def doctor(is_log: bool, as_of: str | None, data: str | None, as_json: bool) -> None:
    """Check that the sums over recipes, systems and limits agree.

    The state of Labledger follows from its log, so a broken law is a fault of Labledger: please report it.
    Without --log the command checks the read models, with --log the whole log, or that up to --as-of. The
    services may run meanwhile.

    Exit status 1 if a law is broken, or if the laws cannot be checked, as without a database; then the only
    output is the error. The database is that of LABLEDGER_OWNER_DATABASE_URL or
    LABLEDGER_DATABASE_URL, otherwise that of a running `labledger up`.
    """
    from runtime.embedded.database import database_url
    from runtime.settings import Settings
    from workers.doctor import check_log, check_read_models

    url, moment = database_url(Settings.read(data=data)), _moment(as_of)
    if is_log:
        with progress_bar("checking") as on_progress:
            report = check_log(url, on_progress, moment)
    else:
        report = check_read_models(url, moment)
    _show(Output(as_json), report)
    if report["violations"]:
        raise click.exceptions.Exit(1)


def _moment(as_of: str | None) -> int | datetime | None:
    if as_of is None:
        return None
    return int(as_of) if is_position(as_of) else datetime.fromisoformat(as_of)


def _show(output: Output, report: Report) -> None:
    from domain.scheduling.world.conservation import LAWS

    laws = [{"law": law, "violations": count, "says": LAWS[law]} for law, count in report["laws"].items()]
    if not output.as_json:
        output.table(COLUMNS, laws)
    output.line(report, "\n".join(_lines(report)))


def _lines(report: Report) -> list[str]:
    total, shown = sum(report["laws"].values()), report["violations"]
    lines = [f"{violation['law']}: {violation['subject']}: {violation['what']}" for violation in shown]
    if total > len(shown):
        lines.append(f"and {total - len(shown)} more")
    if systems := report.get("systems"):
        parts = " + ".join(f"{systems[use]} {use}" for use in USES)
        lines.append(f"{counted(systems['systems'], 'system')} = {parts}")
    lines.append(f"{counted(total, 'violation')} up to position {report['position']}")
    return lines
