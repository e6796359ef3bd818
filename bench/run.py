"""One case: set up, measured, and held against what the machine did meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from bench import history
from bench.cases import (
    change,
    explanation,
    full_lab,
    lifecycle,
    multihost,
    pending,
    query,
    rebuild,
    recovery,
    saturated,
    start,
    submit,
    verify,
)
from bench.cluster_fixture import Stand, stand
from bench.deployment import whole
from bench.limits.database import of_the_database
from bench.limits.http import of_http
from bench.outcome import Figures, Outcome, Sizes
from bench.progress import Told, nobody

# For each of the limits, at most.
LIMIT_SECONDS = 2.5


def nothing(made: Stand, sizes: Sizes, told: Told) -> None:
    """A case that needs no more than it makes itself."""


def any_sizes(sizes: Sizes) -> None:
    """A case that makes do with little."""


def as_given(sizes: Sizes) -> Sizes:
    """A case that asks for nothing beside."""
    return sizes


@dataclass(frozen=True)
class Case:
    """`ratios` are of a figure to a limit, by the name they are shown under; `require` raises TooSmall, and
    `sized` says of what sizes it is where some are left open.
    """

    about: str
    prepare: Callable[[Stand, Sizes, Told], None]
    measure: Callable[[Stand, Sizes, Told], Figures]
    ratios: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    place: Callable[[], AbstractContextManager[Stand]] = stand
    require: Callable[[Sizes], None] = any_sizes
    sized: Callable[[Sizes], Sizes] = as_given


CASES: Mapping[str, Case] = {
    "pending": Case(
        "from the end of a recipe to the next allocation of its system",
        full_lab.fill_behind,
        pending.measure,
        {"p50_in_durable_inserts": ("p50_ms", "durable_insert_and_notify_ms")},
        require=pending.require_enough,
    ),
    "saturated": Case(
        "a deep queue in front of systems that are all idle",
        full_lab.fill,
        saturated.measure,
        {"of_raw_insert": ("events_per_second", "raw_insert_events_per_second")},
    ),
    "submit": Case(
        "jobs over HTTP from sixteen clients, as XML, behind a deep queue",
        full_lab.fill_behind,
        submit.measure,
        {"of_bare_falcon": ("jobs_per_second", "bare_falcon_requests_per_second")},
    ),
    "lifecycle": Case(
        "recipes from submission to completed over HTTP, in a lab whose machines take no time",
        nothing,
        lifecycle.measure,
    ),
    "start": Case(
        "the start of a scheduler on a long log, without and with a snapshot",
        history.grow,
        start.measure,
    ),
    "rebuild": Case(
        "the read models made anew from a long log",
        history.grow,
        rebuild.measure,
        {"of_raw_insert": ("events_per_second", "raw_insert_events_per_second")},
    ),
    "verify": Case(
        "every decision of a saturated run made again, twice",
        verify.prepare,
        verify.measure,
    ),
    "multihost": Case(
        "sets of two to eight recipes on half a lab, beside single ones",
        multihost.prepare,
        multihost.measure,
    ),
    "query": Case(
        "every read resource while all systems are given away",
        full_lab.fill,
        query.measure,
    ),
    "explanation": Case(
        "why recipes wait, and why others got their systems, over HTTP",
        full_lab.fill_behind,
        explanation.measure,
        sized=full_lab.ruled,
    ),
    "change": Case(
        "from a change of policy or inventory of a thousand systems until all is decided that follows",
        change.prepare,
        change.measure,
        sized=full_lab.ruled,
    ),
    "recovery": Case(
        "from kill -9 to the next answer and the next allocation, under `labledger up`",
        full_lab.fill_behind,
        recovery.measure,
        place=whole,
    ),
}


def run(name: str, sizes: Sizes, told: Told = nobody) -> Outcome:
    """On a database of its own, which is gone afterwards."""
    (outcome,) = run_together([name], sizes, told)
    return outcome


def run_together(names: Sequence[str], sizes: Sizes, told: Told = nobody) -> Iterator[Outcome]:
    """Several cases on one database: each goes on where the one before has left it."""
    sizes = CASES[names[0]].sized(sizes)
    with CASES[names[0]].place() as made:
        found = limits(made, min(LIMIT_SECONDS, sizes.seconds), told)
        CASES[names[0]].prepare(made, sizes, told)
        for name in names:
            figures = CASES[name].measure(made, sizes, told)
            yield Outcome(name, sizes, figures, found, _ratios(CASES[name], figures, found))


def limits(made: Stand, seconds: float, told: Told = nobody) -> Figures:
    """While nothing else runs."""
    found: dict[str, float] = {}
    told("limits of this machine", 0, 2)
    found |= of_the_database(made.owner_url, seconds)
    told("limits of this machine", 1, 2)
    found |= of_http(made.settings, seconds)
    told("limits of this machine", 2, 2)
    return found


def _ratios(case: Case, figures: Figures, found: Figures) -> Figures:
    return {shown: round(figures[figure] / found[limit], 3) for shown, (figure, limit) in case.ratios.items()}
