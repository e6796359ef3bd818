"""Runs of many seeds in parallel processes, and the shrinking of a seed that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import replace
from multiprocessing import get_context

from tests.simulation.people.faults import FAULTS
from tests.simulation.seed import Asked, Outcome, run_seed

# The memory of a killed strand is not freed before its process ends. In Python 3.11 a pool that renews its
# processes (`max_tasks_per_child`) may hang.
SEEDS_OF_A_POOL = 400

Run = Callable[[Asked], Outcome]


def many(asked: Sequence[Asked], processes: int) -> Iterator[Outcome]:
    """Yield the outcomes in the order of the seeds, as soon as they are complete."""
    if processes == 1:
        yield from map(run_seed, asked)
        return
    for first in range(0, len(asked), SEEDS_OF_A_POOL):
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            yield from pool.map(run_seed, asked[first : first + SEEDS_OF_A_POOL], chunksize=4)


def shrunk(outcome: Outcome, run: Run = run_seed) -> Outcome:
    """Return the smallest run that fails as well: without kinds of faults that can be spared, and shorter."""
    for asked in _less(outcome.asked):
        with suppress(Exception):
            again = run(asked)
            if again.findings:
                return shrunk(again, run)
    return outcome


def _less(asked: Asked) -> Iterable[Asked]:
    """Yield smaller runs, shorter ones first, because they are quick to try."""
    if asked.hours > 1:
        yield replace(asked, hours=asked.hours / 2)
    for name in FAULTS:
        if name not in asked.without:
            yield replace(asked, without=asked.without | {name})
