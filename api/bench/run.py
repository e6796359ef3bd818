"""One case: set up, measured, and held against what the machine did meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from api.bench.cases import pending, saturated, submit
from api.bench.limits.database import of_the_database
from api.bench.limits.http import of_http
from api.bench.outcome import Figures, Outcome, Sizes
from api.bench.stand import Stand, stand
from api.bench.told import Told, nobody

# For each of the limits, at most.
LIMIT_SECONDS = 2.5

Measure = Callable[[Stand, Sizes, Told], Figures]


@dataclass(frozen=True)
class Case:
    """`ratios` are of a figure to a limit, by the name they are shown under."""

    about: str
    measure: Measure
    ratios: Mapping[str, tuple[str, str]]


CASES: Mapping[str, Case] = {
    "pending": Case(
        "from the end of a recipe to the next allocation of its system",
        pending.run,
        {"p50_in_durable_inserts": ("p50_ms", "durable_insert_and_notify_ms")},
    ),
    "submit": Case(
        "jobs over HTTP from sixteen clients, as XML",
        submit.run,
        {"of_bare_falcon": ("jobs_per_second", "bare_falcon_requests_per_second")},
    ),
    "saturated": Case(
        "a deep queue in front of systems that are all idle",
        saturated.run,
        {"of_raw_insert": ("events_per_second", "raw_insert_events_per_second")},
    ),
}


def run(name: str, sizes: Sizes, told: Told = nobody) -> Outcome:
    """On a database of its own, which is gone afterwards."""
    case = CASES[name]
    with stand() as made:
        found = limits(made, min(LIMIT_SECONDS, sizes.seconds))
        figures = case.measure(made, sizes, told)
    ratios = {
        shown: round(figures[figure] / found[limit], 3) for shown, (figure, limit) in case.ratios.items()
    }
    return Outcome(name, sizes, figures, found, ratios)


def limits(made: Stand, seconds: float) -> Figures:
    """While nothing else runs."""
    return {**of_the_database(made.owner_url, seconds), **of_http(made.settings, seconds)}
