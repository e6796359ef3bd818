"""Many seeds, in as many processes as there are to be had; and less of one that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import replace
from multiprocessing import get_context

from tests.simulation.people.faults import FAULTS
from tests.simulation.seed import Asked, Outcome, run_seed

# What a killed strand held is not given back before its process ends. A pool that renews its own processes
# (`max_tasks_per_child`) may wait for them for ever, in Python 3.11.
SEEDS_OF_A_POOL = 400

Run = Callable[[Asked], Outcome]


def many(asked: Sequence[Asked], processes: int) -> Iterator[Outcome]:
    """In their order, each as soon as it and those before it are done."""
    if processes == 1:
        yield from map(run_seed, asked)
        return
    for first in range(0, len(asked), SEEDS_OF_A_POOL):
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            yield from pool.map(run_seed, asked[first : first + SEEDS_OF_A_POOL], chunksize=4)


def shrunk(outcome: Outcome, run: Run = run_seed) -> Outcome:
    """The least that fails as well: without kinds of faults, as long as one can be spared, and shorter."""
    for asked in _less(outcome.asked):
        with suppress(Exception):
            again = run(asked)
            if again.findings:
                return shrunk(again, run)
    return outcome


def _less(asked: Asked) -> Iterable[Asked]:
    """Shorter ones first: they are soon tried."""
    if asked.hours > 1:
        yield replace(asked, hours=asked.hours / 2)
    for name in FAULTS:
        if name not in asked.without:
            yield replace(asked, without=asked.without | {name})
