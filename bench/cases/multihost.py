"""Allocation of systems to sets of two to eight recipes on half of the labs, compared with single recipes.

All systems are busy, and single recipes are queued. The recipes on half of the labs end as fast as a lab can
report it, and single recipes get those systems. Then sets of a higher priority are submitted, and the recipes
on the same labs end again: now the sets get the systems, one after the other. Finally all recipes end, round
after round, until each holder has started.
"""

from __future__ import annotations

from bench.cases.full_lab import enable, fill_with, generated_lab, queue
from bench.cluster_fixture import BenchCluster
from bench.completions import end_all, running
from bench.hold_times import HoldTimes, hold_times_of
from bench.log_filler import LogFiller
from bench.measurements import SQL, EventSpan, in_milliseconds, span_of
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.settling import settle

MAX_SET_SIZE = 8
SINGLE_PRIORITY, SET_PRIORITY = "Low", "Urgent"
MAX_ROUNDS = 20


def prepare(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> None:
    """Queue single recipes: half of the queue, and at least twice the number of systems."""
    fill_with(cluster, sizes, on_progress, max(sizes.queued // 2, 2 * sizes.systems), (1,), SINGLE_PRIORITY)


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    enable(cluster)
    singles = _end_on_half(cluster, sizes)
    before = cluster.log.end()
    filler = LogFiller(cluster, on_progress)
    filler.catch_up()
    set_sizes = range(2, (sizes.sets or MAX_SET_SIZE) + 1)
    queue(filler, generated_lab(sizes), sizes, set_sizes, max(sizes.queued // 2, sizes.systems), SET_PRIORITY)
    settle(cluster)
    sets = _end_on_half(cluster, sizes)
    halfway = _hold_times(cluster, before)
    rounds = _until_started(cluster, before, set(halfway.held), on_progress)
    final = _hold_times(cluster, before)
    if not sets.events or not final.started:
        raise ValueError("no set got a system, or none started: there is nothing to compare")
    ((broken_count,),) = cluster.log.rows(SQL["broken_systems"], (before,))
    return {
        "single_recipes_per_second": round(singles.per_second),
        "recipes_per_second": round(sets.per_second),
        "times_slower_than_single": round(singles.per_second / sets.per_second, 2),
        "sets_per_second": round(len(halfway.started) / sets.seconds, 1) if sets.seconds else 0,
        "sets_started": len(halfway.started),
        "most_systems_held_by_incomplete_sets": halfway.max_held,
        "systems_held_when_half_had_ended": len(halfway.held),
        **{f"held_{name}": value for name, value in in_milliseconds(final.held_seconds or [0.0]).items()},
        "held_longer_than_needed_max_ms": round(1000 * max(final.late_seconds, default=0.0), 3),
        "rounds_until_they_started": rounds,
        "systems_held_for_ever": len(final.held.keys() & halfway.held.keys()),
        "systems_broken": int(broken_count),
    }


def _end_on_half(cluster: BenchCluster, sizes: Sizes) -> EventSpan:
    """End the recipes on the first half of the labs, and return the span of the allocations that follow."""
    labs = {system["fqdn"]: system["lab_controller"] for system in generated_lab(sizes)["systems"]}
    half = sorted(set(labs.values()))[: (len(set(labs.values())) + 1) // 2]
    ending = [recipe_id for recipe_id, system in running(cluster) if labs[system] in half]
    before = cluster.log.end()
    end_all(cluster, ending)
    settle(cluster)
    return span_of(cluster.log, "system.scheduled", before)


def _until_started(
    cluster: BenchCluster, before: int, recipes: set[str], on_progress: ProgressCallback
) -> int:
    """End all recipes in rounds until no given recipe holds a system; return the number of rounds."""
    for number in range(MAX_ROUNDS):
        if recipes.isdisjoint(_hold_times(cluster, before).held):
            return number
        on_progress("rounds", number, MAX_ROUNDS)
        end_all(cluster, [recipe_id for recipe_id, _ in running(cluster)])
        settle(cluster)
    return MAX_ROUNDS


def _hold_times(cluster: BenchCluster, before: int) -> HoldTimes:
    return hold_times_of(cluster.log.rows(SQL["recipe_events"], (before, before)))
