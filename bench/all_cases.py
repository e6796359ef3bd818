"""`labledger bench all`: every case, at several depths of the queue where that matters, and a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile

from bench.capacity_check import require_room
from bench.outcome import Outcome, Sizes
from bench.picture import require_matplotlib
from bench.progress import Told, nobody
from bench.report import write_report
from bench.run import CASES, run_together

DEPTHS = (100, 10, 1)
"""The queue is so many times less deep than the deepest."""


@dataclass(frozen=True)
class Together:
    """Cases on one database, each where the one before has left it. `grows`: once for each depth."""

    cases: tuple[str, ...]
    grows: bool = False


# In the order of the report.
RUNS = (
    Together(("pending", "submit"), grows=True),
    Together(("saturated", "verify"), grows=True),
    Together(("multihost",), grows=True),
    Together(("query",), grows=True),
    Together(("explanation",)),
    Together(("change",)),
    Together(("lifecycle",)),
    Together(("start", "rebuild")),
    Together(("recovery",)),
)


def run_all(
    sizes: Sizes, folder: Path, told: Told = nobody, runs: Sequence[Together] = RUNS
) -> list[Outcome]:
    """The report is there after each case, as far as it goes: who interrupts this keeps what is measured."""
    require_matplotlib()
    require_room(sizes)
    _require_folder(folder)
    planned = [(run, queued) for run in runs for queued in (_depths(sizes) if run.grows else (sizes.queued,))]
    for run, queued in planned:
        for name in run.cases:
            CASES[name].require(replace(sizes, queued=queued))
    outcomes: list[Outcome] = []
    for number, (run, queued) in enumerate(planned):
        told("all cases", number, len(planned))
        for outcome in run_together(run.cases, replace(sizes, queued=queued), told):
            outcomes.append(outcome)
            write_report(outcomes, folder)
    return outcomes


def _require_folder(folder: Path) -> None:
    """Raises OSError before anything is measured in vain."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=folder):
        pass


def _depths(sizes: Sizes) -> list[int]:
    return sorted({max(1, sizes.queued // depth) for depth in DEPTHS})
