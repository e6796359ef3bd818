"""`labledger replay`: what the log says, folded again. It works on the database itself, as its owner."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.setting_flags import data_option
from cli.lazy import Group
from cli.log.verify import verify
from cli.terminal.output import Output
from cli.terminal.progress import told_by_a_bar

if TYPE_CHECKING:
    from projections.rebuild.differences import Difference

SHOWN_OF_A_TABLE = 10


@click.group(cls=Group)
def replay() -> None:
    """Fold the log again."""


replay.add_command(verify)


@replay.command
@click.option(
    "--check", is_flag=True, help="Change nothing; show where the read models are not as the log says."
)
@data_option
@click.option("--json", "as_json", is_flag=True, help="For machines: JSON instead of text.")
def rebuild(check: bool, data: str | None, as_json: bool) -> None:
    """Build the read models anew from the log, and swap them in.

    Everything may run meanwhile. Exit status 1 also when --check finds differences. The database is that of
    LABLEDGER_OWNER_DATABASE_URL or LABLEDGER_DATABASE_URL, else that of the `labledger up` which runs.
    """
    from runtime.embedded.running import database_url
    from runtime.processes.garbage import YOUNG_OF_A_FOLD, spare_what_lasts
    from runtime.settings import Settings

    url = database_url(Settings.read(data=data))
    spare_what_lasts(YOUNG_OF_A_FOLD)
    (_check if check else _swap)(Output(as_json), url)


def _swap(output: Output, url: str) -> None:
    from workers.rebuild import rebuild

    with told_by_a_bar() as told:
        position = rebuild(url, told)
    output.line(
        {"position": position}, f"the read models are built anew from the log up to position {position}"
    )


def _check(output: Output, url: str) -> None:
    from workers.rebuild import check

    with told_by_a_bar() as told:
        position, found = check(url, told, SHOWN_OF_A_TABLE)
    document = {"position": position, "differences": [difference._asdict() for difference in found]}
    output.line(document, "\n".join([*map(told_of, found), _summary(position, found)]))
    if found:
        raise click.exceptions.Exit(1)


def _summary(position: int, found: list[Difference]) -> str:
    if not found:
        return f"the read models are as the log says, up to position {position}"
    tables = dict.fromkeys(difference.table for difference in found)
    return (
        f"up to position {position} the read models are not as the log says, in {', '.join(tables)}"
        f" (shown: the first {SHOWN_OF_A_TABLE} rows of each); `labledger replay rebuild` puts it right"
    )


def told_of(difference: Difference) -> str:
    """One line: which row, and what of it is wrong."""
    key = " ".join(f"{name}={value}" for name, value in difference.key.items())
    row = f"{difference.table} {key}"
    live, fresh = difference.live, difference.fresh
    if live is None:
        return f"{row}: is missing, must be {_written(fresh)}"
    if fresh is None:
        return f"{row}: must not be there, is {_written(live)}"
    changed = [
        f"{name} is {_written(live[name])}, must be {_written(fresh[name])}"
        for name in fresh
        if _written(live[name]) != _written(fresh[name])
    ]
    return f"{row}: {'; '.join(changed)}"


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
