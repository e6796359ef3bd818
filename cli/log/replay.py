"""`labledger replay`: rebuild and verification, directly on the database as its owner."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.setting_flags import data_option
from cli.lazy import SuggestingGroup
from cli.log.verification_report import is_sound, report_lines
from cli.terminal.output import Output
from cli.terminal.progress import progress_bar

if TYPE_CHECKING:
    from projections.rebuild.differences import Difference

MAX_SHOWN_PER_TABLE = 10


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
    results that depend on it. A third process checks the rules with independent code: the states of recipes
    and systems, who may have which system, and the order in which recipes get systems and sets get locks.
    Each partition is judged by itself. The services may run meanwhile.

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


@click.group(cls=SuggestingGroup)
def replay() -> None:
    """Rebuild the read models from the log, or verify the recorded decisions."""


replay.add_command(verify)


@replay.command
@click.option("--check", is_flag=True, help="Change nothing; show where the read models differ from the log.")
@data_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def rebuild(check: bool, data: str | None, as_json: bool) -> None:
    """Build new read models from the log, and replace the present ones with them.

    The services may run meanwhile. Exit status 1 if --check finds differences. The database is that of
    LABLEDGER_OWNER_DATABASE_URL or LABLEDGER_DATABASE_URL, otherwise that of a running `labledger up`.
    """
    from runtime.embedded.database import database_url
    from runtime.processes.garbage_collection import FOLD_YOUNG_OBJECTS, freeze_survivors
    from runtime.settings import Settings

    url = database_url(Settings.read(data=data))
    freeze_survivors(FOLD_YOUNG_OBJECTS)
    (_check if check else _swap)(Output(as_json), url)


def _swap(output: Output, url: str) -> None:
    from workers.rebuild import rebuild

    with progress_bar() as on_progress:
        position = rebuild(url, on_progress)
    output.line({"position": position}, f"rebuilt the read models from the log up to position {position}")


def _check(output: Output, url: str) -> None:
    from workers.rebuild import check

    with progress_bar() as on_progress:
        position, differences = check(url, on_progress, MAX_SHOWN_PER_TABLE)
    document = {"position": position, "differences": [difference._asdict() for difference in differences]}
    output.line(document, "\n".join([*map(_line, differences), _summary(position, differences)]))
    if differences:
        raise click.exceptions.Exit(1)


def _summary(position: int, differences: list[Difference]) -> str:
    if not differences:
        return f"the read models match the log up to position {position}"
    tables = dict.fromkeys(difference.table for difference in differences)
    return (
        f"the read models differ from the log up to position {position} in {', '.join(tables)}"
        f" (at most {MAX_SHOWN_PER_TABLE} rows of each shown); run `labledger replay rebuild` to repair them"
    )


def _line(difference: Difference) -> str:
    key = " ".join(f"{name}={value}" for name, value in difference.key.items())
    row = f"{difference.table} {key}"
    live, fresh = difference.live, difference.fresh
    if live is None:
        return f"{row}: missing, expected {_written(fresh)}"
    if fresh is None:
        return f"{row}: unexpected, is {_written(live)}"
    changed = [
        f"{name} is {_written(live[name])}, expected {_written(fresh[name])}"
        for name in fresh
        if _written(live[name]) != _written(fresh[name])
    ]
    return f"{row}: {'; '.join(changed)}"


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
