"""`labledger bench all`: every case, some with several lengths of the queue, and a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile

from bench.capacity_check import require_room
from bench.outcome import CaseOutcome, ProgressCallback, Sizes, no_progress
from bench.picture import require_matplotlib
from bench.report import write_report
from bench.run import CASES, run_together

DEPTHS = (100, 10, 1)
"""The lengths of the queue, as divisors of the longest one."""


@dataclass(frozen=True)
class CaseGroup:
    """Cases that continue on one database; a group that `grows` is repeated for each length of the queue."""

    cases: tuple[str, ...]
    grows: bool = False


# In the order of the report.
RUNS = (
    CaseGroup(("pending", "submit"), grows=True),
    CaseGroup(("crowded",)),
    CaseGroup(("saturated", "verify"), grows=True),
    CaseGroup(("partitions",)),
    CaseGroup(("flood",)),
    CaseGroup(("multihost",), grows=True),
    CaseGroup(("query",), grows=True),
    CaseGroup(("search",)),
    CaseGroup(("explanation",)),
    CaseGroup(("change",)),
    CaseGroup(("locks",)),
    CaseGroup(("lifecycle",)),
    CaseGroup(("start", "rebuild")),
    CaseGroup(("long_log",)),
    CaseGroup(("pages",)),
    CaseGroup(("recovery",)),
)


def run_all(
    sizes: Sizes, folder: Path, on_progress: ProgressCallback = no_progress, runs: Sequence[CaseGroup] = RUNS
) -> list[CaseOutcome]:
    """Run every case and return the outcomes. Write the report after each, in case of an interruption."""
    require_matplotlib()
    require_room(sizes)
    _require_folder(folder)
    planned_runs = [
        (run, queued) for run in runs for queued in (_queue_lengths(sizes) if run.grows else (sizes.queued,))
    ]
    for run, queued in planned_runs:
        for name in run.cases:
            CASES[name].require(replace(sizes, queued=queued))
    outcomes: list[CaseOutcome] = []
    for number, (run, queued) in enumerate(planned_runs):
        on_progress("all cases", number, len(planned_runs))
        for outcome in run_together(run.cases, replace(sizes, queued=queued), on_progress):
            outcomes.append(outcome)
            write_report(outcomes, folder)
    return outcomes


def _require_folder(folder: Path) -> None:
    """Create the folder of the report. Raises OSError if it is not writable."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=folder):
        pass


def _queue_lengths(sizes: Sizes) -> list[int]:
    return sorted({max(1, sizes.queued // depth) for depth in DEPTHS})
