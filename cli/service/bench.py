"""`labledger bench`: performance of Labledger on this machine."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from bench.outcome import CaseOutcome, Sizes
    from bench.progress import ProgressCallback


# Repeated here, so that `--help` does not import the benchmark.
CASES = (
    *("pending", "saturated", "submit", "lifecycle", "multihost"),
    *("start", "rebuild", "verify", "query", "explanation", "change", "recovery"),
)
ALL = "all"
REPORT = "bench-report"
# Maximum of rates and durations: a day.
MAX_NUMBER = 86_400.0


class Number(click.FloatRange):
    """A range that refuses `nan`, which passes the comparisons of FloatRange."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return found


POSITIVE, SHARE = Number(0, MAX_NUMBER, min_open=True), Number(0, 1)


@click.command
@click.argument("case", type=click.Choice([*CASES, ALL]))
@click.option(
    "--systems", type=click.IntRange(1), default=10_000, show_default=True, help="Number of systems."
)
@click.option(
    "--queued", type=click.IntRange(1), default=100_000, show_default=True, help="Number of waiting recipes."
)
@click.option(
    "--filters", type=click.IntRange(1), default=2_000, show_default=True, help="Number of distinct filters."
)
@click.option(
    "--pools", type=click.IntRange(0), default=0, help="Number of pools, instead of the six pools of the lab."
)
@click.option(
    "--groups", type=click.IntRange(0), default=0, help="Number of groups that own these pools and the jobs."
)
@click.option(
    "--policies",
    type=SHARE,
    default=0.0,
    show_default=True,
    help="Share of the systems that have an access policy, from 0 to 1.",
)
@click.option(
    "--sets",
    type=click.IntRange(1),
    help="Maximum number of recipes in a set.  [default: depends on the case]",
)
@click.option(
    "--rate", type=POSITIVE, default=50, show_default=True, help="Number of recipes that end per second."
)
@click.option(
    "--seconds", type=POSITIVE, default=20, show_default=True, help="Duration of the measurement in seconds."
)
@click.option(
    "--events",
    type=click.IntRange(1),
    default=1_000_000,
    show_default=True,
    help="Number of events in a log that is read from its beginning.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the generated lab and queue.")
@click.option(
    "--report",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help=f"Folder for the report of `all`.  [default: {REPORT}]",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def bench(case: str, as_json: bool, folder: Path | None, **sizes: Any) -> None:
    """Measure CASE on a generated lab, with real processes on a temporary PostgreSQL.

    `all` measures every case, some at three lengths of the queue, and writes a report.
    """
    from bench.outcome import Sizes

    if folder is not None and case != ALL:
        raise click.BadOptionUsage("--report", "--report is only for `bench all`.")
    if not sizes["pools"] and (sizes["groups"] or sizes["policies"]):
        raise click.BadOptionUsage("--pools", "--groups and --policies need --pools.")
    report = folder or Path(REPORT)
    with _bars() as on_progress:
        outcomes = _measured(case, Sizes(**sizes), report, on_progress)
    if as_json:
        click.echo("\n".join(json.dumps(outcome.document()) for outcome in outcomes))
        return
    from cli.service.bench_table import show

    for outcome in outcomes:
        show(outcome)
    if case == ALL:
        click.echo(f"wrote the report to {report}")


def _measured(case: str, sizes: Sizes, folder: Path, on_progress: ProgressCallback) -> list[CaseOutcome]:
    if case == ALL:
        from bench.all_cases import run_all

        return run_all(sizes, folder, on_progress)
    from bench.capacity_check import require_room
    from bench.run import CASES, run

    require_room(sizes)
    CASES[case].require(sizes)
    return [run(case, sizes, on_progress)]


@contextmanager
def _bars() -> Iterator[ProgressCallback]:
    import sys

    if not sys.stderr.isatty():
        yield lambda what, done, of: None
        return
    from rich.console import Console
    from rich.progress import Progress, TaskID

    with Progress(console=Console(stderr=True), transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def on_progress(what: str, done: int, of: int) -> None:
            if what not in tasks:
                for task in progress.tasks:
                    progress.update(task.id, visible=not task.finished)
                tasks[what] = progress.add_task(what, total=of)
            progress.update(tasks[what], completed=done, total=of)

        yield on_progress
