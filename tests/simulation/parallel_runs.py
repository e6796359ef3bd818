"""Runs of many seeds in parallel processes, and the shrinking of a seed that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import replace
from multiprocessing import get_context

from tests.simulation.people.faults import FAULTS
from tests.simulation.seed import SeedOptions, SeedOutcome, run_seed

# The memory of a killed strand is not freed before its process ends. In Python 3.11 a pool that renews its
# processes (`max_tasks_per_child`) may hang.
SEEDS_OF_A_POOL = 400

Run = Callable[[SeedOptions], SeedOutcome]


def run_seeds(options: Sequence[SeedOptions], processes: int) -> Iterator[SeedOutcome]:
    """Yield the outcomes in the order of the seeds, as soon as they are complete."""
    if processes == 1:
        yield from map(run_seed, options)
        return
    for first in range(0, len(options), SEEDS_OF_A_POOL):
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            yield from pool.map(run_seed, options[first : first + SEEDS_OF_A_POOL], chunksize=4)


def shrunk(outcome: SeedOutcome, run: Run = run_seed) -> SeedOutcome:
    """Return the smallest run that fails as well: without kinds of faults that can be spared, and shorter."""
    for options in _less(outcome.options):
        with suppress(Exception):
            again = run(options)
            if again.findings:
                return shrunk(again, run)
    return outcome


def _less(options: SeedOptions) -> Iterable[SeedOptions]:
    """Yield smaller runs, shorter ones first, because they are quick to try."""
    if options.hours > 1:
        yield replace(options, hours=options.hours / 2)
    for name in FAULTS:
        if name not in options.without:
            yield replace(options, without=options.without | {name})
