"""`labledger bench`: measures this machine, and Labledger on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from api.bench.outcome import Figures, Outcome
    from api.bench.told import Told


# Named here too, so that nothing of the benchmark is loaded for the help of other commands.
CASES = (
    *("pending", "saturated", "submit", "lifecycle", "multihost"),
    *("start", "rebuild", "verify", "query", "recovery"),
)


@click.command
@click.argument("case", type=click.Choice(CASES))
@click.option("--systems", type=click.IntRange(1), default=10_000, show_default=True)
@click.option(
    "--queued", type=click.IntRange(1), default=100_000, show_default=True, help="Recipes that wait."
)
@click.option("--filters", type=click.IntRange(1), default=2_000, show_default=True, help="Distinct filters.")
@click.option(
    "--sets", type=click.IntRange(1), help="Recipes of a set, at most.  [default: as the case has it]"
)
@click.option(
    "--rate", type=click.FloatRange(0, min_open=True), default=50, show_default=True, help="Endings a second."
)
@click.option(
    "--seconds", type=click.FloatRange(0, min_open=True), default=20, show_default=True, help="How long."
)
@click.option(
    "--events",
    type=click.IntRange(1),
    default=1_000_000,
    show_default=True,
    help="Length of the log that is read from its beginning.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="What lab and queue are made from.")
@click.option("--json", "as_json", is_flag=True, help="For machines: JSON instead of text.")
def bench(case: str, as_json: bool, **sizes: Any) -> None:
    """Measure CASE on a made-up lab: real processes, on a PostgreSQL of its own that is gone afterwards."""
    from api.bench.outcome import Sizes
    from api.bench.run import run

    with _bars() as told:
        outcome = run(case, Sizes(**sizes), told)
    if as_json:
        click.echo(json.dumps(outcome.document()))
    else:
        show(outcome)


def show(outcome: Outcome) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("", "", title=f"bench {outcome.case}", title_justify="left", show_header=False, box=None)
    sections: dict[str, Figures] = {
        "sizes": {name: size for name, size in outcome.document()["sizes"].items() if size is not None},
        "figures": outcome.figures,
        "limits of this machine": outcome.limits,
        "ratios": outcome.ratios,
    }
    for name, figures in sections.items():
        table.add_row(f"[bold]{name}[/]", "")
        for figure, value in figures.items():
            table.add_row(f"  {figure}", f"{value:,}")
    Console().print(table)


@contextmanager
def _bars() -> Iterator[Told]:
    import sys

    if not sys.stderr.isatty():
        yield lambda what, done, of: None
        return
    from rich.console import Console
    from rich.progress import Progress, TaskID

    with Progress(console=Console(stderr=True), transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def told(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=of)
            progress.update(tasks[what], completed=done)

        yield told
