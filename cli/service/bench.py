"""`labledger bench`: performance of Labledger on this machine."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from api.intake.limits import MAX_JOBS
from cli.arguments.params import Decorator

if TYPE_CHECKING:
    from bench.outcome import CaseOutcome, Figures, ProgressCallback, Sizes

# Case -> its line in the help. Repeated from `bench.run`, so that `--help` does not import the benchmark.
CASES = {
    "pending": "from the end of a recipe to the next grant of its system",
    "crowded": "`pending` beside readers and a program that keeps a core busy, with priorities and without",
    "saturated": "the grants of all systems while recipes wait",
    "partitions": "the grants of `saturated` in two partitions, half of everything in each",
    "flood": "grants in one partition while a lab controller of another one reports as fast as it can",
    "submit": "submissions of 16 clients while recipes wait",
    "lifecycle": "recipes from the submission to completed, in a simulated lab",
    "multihost": "grants to recipe sets of 2 to 8 recipes, compared with single recipes",
    "start": "the start of a scheduler on a long log, with and without a snapshot",
    "rebuild": "`labledger replay rebuild` on a long log",
    "long_log": "appends, grants, reads as of, vacuum, start and disk on a long log, and on a shorter one",
    "verify": "`labledger replay verify` on the log of `saturated`",
    "query": "all kinds of reads during `saturated`",
    "search": "searches among jobs that have ended",
    "explanation": "explanations of waiting and of placed recipes",
    "change": "from a change of a policy, limit, job filter or the inventory to the last decision after it",
    "locks": "from the end of a recipe to the grant of its locks to a set that waits for them",
    "pages": "pages of the web interface, alone and with live viewers beside `pending`",
    "recovery": "from kill -9 of a process to the next write and the next grant",
}
ALL = "all"
REPORT = "bench-report"
PROFILES = 200
# Maximum of rates and of durations in seconds (a day).
MAX_NUMBER = 86_400.0


class Number(click.FloatRange):
    """A range of numbers that refuses `nan`, which FloatRange accepts."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


COUNT, POSITIVE, SHARE = click.IntRange(1), Number(0, MAX_NUMBER, min_open=True), Number(0, 1)


def _number(name: str, kind: click.ParamType[Any], default: float, help: str) -> Decorator:
    return click.option(name, type=kind, default=default, show_default=True, help=help)


@click.command(
    epilog="\b\n" + "\n".join(f"{name:<13}{about}" for name, about in {**CASES, ALL: "all of these"}.items())
)
@click.argument("case", metavar="CASE", type=click.Choice([*CASES, ALL]))
@_number("--systems", COUNT, 10_000, "Number of systems.")
@_number("--queued", COUNT, 100_000, "Number of waiting recipes.")
@_number("--filters", COUNT, 2_000, "Number of different requirements on systems among the recipes.")
@click.option(
    "--pools",
    type=click.IntRange(0),
    default=0,
    help="Number of pools [default: the six of the generated lab; explanation and change: 50, with 20 groups"
    " and policies on half of the systems].",
)
@click.option(
    "--groups",
    type=click.IntRange(0),
    default=0,
    help="With --pools: number of groups that own these pools and the jobs.",
)
@_number(
    "--policies", SHARE, 0.0, "With --pools: share of the systems that have an access policy, from 0 to 1."
)
@click.option(
    "--sets",
    type=click.IntRange(1),
    help="Maximum number of recipes in a recipe set  [default: 1; multihost: 8].",
)
@click.option(
    "--locks",
    type=click.IntRange(0, 5),
    default=0,
    help="Number of levels at which each recipe declares resource locks  [default: 0; locks: 5].",
)
@click.option(
    "--profiles",
    type=click.IntRange(0),
    default=0,
    help="With --locks: number of different lock declarations  [default: 200].",
)
@click.option(
    "--aged", is_flag=True, help="With --locks: all waiting recipes have waited K ticks, and weigh 0."
)
@click.option(
    "--job-filters", type=click.IntRange(0), default=0, help="Number of job filters, which match no job."
)
@click.option(
    "--buckets",
    type=click.IntRange(0),
    default=0,
    help="Number of rate-limit buckets; each recipe set takes a place in one of them.",
)
@click.option(
    "--queues",
    type=click.IntRange(0),
    default=0,
    help="Number of leaves of a queue tree in 4 levels, all fair and with maxima, which share the jobs.",
)
@click.option(
    "--batch",
    type=click.IntRange(1, MAX_JOBS),
    default=1,
    help="submit: number of jobs in a request, all in one commit.",
)
@_number(
    "--rate", POSITIVE, 50, "pending, locks, explanation, recovery: number of recipes that end per second."
)
@_number("--seconds", POSITIVE, 20, "Duration in seconds of the cases that measure for a fixed time.")
@_number("--events", COUNT, 1_000_000, "start, rebuild, long_log: number of events on the log.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the generated lab and queue.")
@click.option(
    "--report",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help=f"Folder for the report of `all`.  [default: {REPORT}]",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def bench(case: str, as_json: bool, folder: Path | None, **sizes: Any) -> None:
    """Measure CASE (listed below) on a generated lab, with real processes on a temporary PostgreSQL.

    `all` measures every case, some with a hundredth and a tenth of --queued as well, and writes a report.
    """
    from bench.outcome import Sizes

    if folder is not None and case != ALL:
        raise click.BadOptionUsage("--report", "--report is only for `bench all`.")
    if not sizes["pools"] and (sizes["groups"] or sizes["policies"]):
        raise click.BadOptionUsage("--pools", "--groups and --policies need --pools.")
    if not sizes["locks"] and (sizes["profiles"] or sizes["aged"]):
        raise click.BadOptionUsage("--locks", "--profiles and --aged need --locks.")
    if sizes["locks"]:
        sizes["profiles"] = sizes["profiles"] or PROFILES
    report = folder or Path(REPORT)
    with _bars() as on_progress:
        outcomes = _measure(case, Sizes(**sizes), report, on_progress)
    if as_json:
        click.echo("\n".join(json.dumps(outcome.document()) for outcome in outcomes))
        return
    for outcome in outcomes:
        show(outcome)
    if case == ALL:
        click.echo(f"wrote the report to {report}")


def _measure(case: str, sizes: Sizes, folder: Path, on_progress: ProgressCallback) -> list[CaseOutcome]:
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
    """Yield a progress callback that draws a bar for each step on a terminal, and otherwise does nothing."""
    import sys

    if not sys.stderr.isatty():
        yield lambda step, done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress, TaskID

    with Progress(console=Console(stderr=True), transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def on_progress(step: str, done: int, total: int) -> None:
            if step not in tasks:
                for task in progress.tasks:
                    progress.update(task.id, visible=not task.finished)
                tasks[step] = progress.add_task(step, total=total)
            progress.update(tasks[step], completed=done, total=total)

        yield on_progress


def show(outcome: CaseOutcome) -> None:
    """Print a table of an outcome, with its targets if they apply to its sizes."""
    from rich.console import Console
    from rich.table import Table

    from bench.cpu_use import limit_met

    table = Table(
        "", "", "", title=f"bench {outcome.case}", title_justify="left", show_header=False, box=None
    )
    sizes = outcome.document()["sizes"]
    sections: dict[str, Figures] = {
        "sizes": {name: size for name, size in sizes.items() if size is not None},
        "figures": outcome.figures,
        "limits of this machine": outcome.limits,
        "ratios": outcome.ratios,
    }
    for name, figures in sections.items():
        if not figures:
            continue
        table.add_row(f"[bold]{name}[/]", "")
        for figure, value in figures.items():
            table.add_row(f"  {figure}", f"{value:,}", _target(outcome, figure, value))
    if limit := limit_met(outcome.figures):
        table.add_row("[bold]limit met[/]", limit)
    Console().print(table)


def _target(outcome: CaseOutcome, figure: str, value: float) -> str:
    from bench.targets import TARGETS, apply_to

    target = TARGETS.get((outcome.case, figure))
    if target is None or not apply_to(outcome.sizes):
        return ""
    return f"[dim]{target}[/]" if target.is_met(value) else f"[red]{target}: missed[/]"
