"""A queue before some machines, with bursts of recipes, and the estimates that its recipes would get."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import NamedTuple

from domain.estimates.estimate import ENDED, STARTED, WAITS, ComparedWaits, ObservedWaits, Wait
from domain.estimates.kinds import LADDER

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
MAX_ENDED = 500


class Waited(NamedTuple):
    """The wait of a recipe; all of them are of one kind. `is_start`: it did not end by a cancellation."""

    began: float
    ended: float
    ahead: int
    is_start: bool


def queue_before_machines(
    dice: Random, *, machines: int, recipes: int, load: float, burst: float
) -> list[Waited]:
    """Return the waits of recipes in the order of submission; people cancel those that wait for long.

    Machines are busy for an hour on average. `burst`: how many times as many recipes people submit in the
    first sixth of each day as in the rest of it.
    """
    per_second = load * machines / 3_600 * 6 / (burst + 5)
    free_at = [0.0] * machines
    ends: list[float] = []
    found: list[Waited] = []
    now = 0.0
    for _ in range(recipes):
        now += dice.expovariate(per_second * (burst if now % 86_400 < 14_400 else 1.0))
        while ends and ends[0] <= now:
            heapq.heappop(ends)
        start = max(now, free_at[0])
        patience = now + dice.expovariate(1 / 36_000)
        ended = min(start, patience)
        if start <= patience:
            heapq.heapreplace(free_at, start + dice.lognormvariate(0.0, 0.8) * 2_600)
        found.append(Waited(now, ended, len(ends), start <= patience))
        heapq.heappush(ends, ended)
    return found


def p90_of(waits: Sequence[Waited], number: int, age: float, *, per_place: bool = True) -> float | None:
    """Return the p90 that a recipe gets when it has waited so long, from what has happened until then."""
    own = waits[number]
    now = own.began + age
    compared = ComparedWaits(LADDER[-1], list(_observed(waits, number, now, per_place)))
    found = compared.estimate(_wait(own, age, per_place))
    p90: float | None = found["p90_seconds"]
    return p90


def _wait(waited: Waited, seconds: float, per_place: bool) -> Wait:
    return Wait(seconds, waited.ahead if per_place else 0)


def _observed(waits: Sequence[Waited], number: int, now: float, per_place: bool) -> Iterator[ObservedWaits]:
    before = [each for place, each in enumerate(waits) if each.began <= now and place != number]
    ended = sorted((each for each in before if each.ended <= now), key=lambda each: each.ended)[-MAX_ENDED:]
    since = ended[0].ended if len(ended) == MAX_ENDED else 0.0
    for each in (*ended, *(each for each in before if each.ended > now)):
        begin, end = max(since - each.began, 0.0), min(each.ended, now) - each.began
        outcome = WAITS if each.ended > now else STARTED if each.is_start else ENDED
        length = _wait(each, begin, per_place), _wait(each, end, per_place)
        moment = BEGINNING + timedelta(seconds=max(since, each.began))
        yield ObservedWaits(*(one.seconds_per_place for one in length), outcome, 1, moment)
