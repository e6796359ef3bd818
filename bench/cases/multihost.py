"""Sets of two to eight recipes on one half of a lab, beside single recipes that were there before them.

All systems are busy, and a queue of single recipes waits. What runs on half of the labs ends, as fast as a
lab can say so, and the single ones get those systems. Then sets come, before all others by their priority,
and the same labs end what runs there once more: now the sets get them, one system after the other. At last
everything ends, again and again, until each of those that held systems and waited for more has started.
"""

from __future__ import annotations

from bench.cases.full_lab import enable, fill_with, made_up, queue
from bench.cluster_fixture import Stand
from bench.completions import end_all, running
from bench.filling import Filling
from bench.hold_times import Holding, holding_of
from bench.latencies import in_milliseconds
from bench.measurements import SQL, Span, span_of
from bench.outcome import Figures, Sizes
from bench.progress import Told
from bench.settling import settle

MAX_SET_SIZE = 8
SINGLE, FIRST = "Low", "Urgent"
MOST_ROUNDS = 20


def prepare(stand: Stand, sizes: Sizes, told: Told) -> None:
    """Half of the queue are single recipes, and twice as many as there are systems at least."""
    fill_with(stand, sizes, told, (1,), max(sizes.queued // 2, 2 * sizes.systems), SINGLE)


def measure(stand: Stand, sizes: Sizes, told: Told) -> Figures:
    enable(stand)
    singles = _ended_on_half(stand, sizes)
    before = stand.log.end()
    filling = Filling(stand, told)
    filling.catch_up()
    in_a_set = range(2, (sizes.sets or MAX_SET_SIZE) + 1)
    queue(filling, made_up(sizes), sizes, in_a_set, max(sizes.queued // 2, sizes.systems), FIRST)
    settle(stand)
    sets = _ended_on_half(stand, sizes)
    filled = _holding(stand, before)
    rounds = _until_started(stand, before, set(filled.held), told)
    drained = _holding(stand, before)
    if not sets.events or not drained.started:
        raise ValueError("no set was given a system, or none has started: there is nothing to compare")
    return {
        "single_recipes_per_second": round(singles.per_second),
        "recipes_per_second": round(sets.per_second),
        "times_slower_than_single": round(singles.per_second / sets.per_second, 2),
        "sets_per_second": round(len(filled.started) / sets.seconds, 1) if sets.seconds else 0,
        "sets_started": len(filled.started),
        "most_systems_held_by_incomplete_sets": filled.most_held,
        "systems_held_when_half_had_ended": len(filled.held),
        **{f"held_{name}": value for name, value in in_milliseconds(drained.held_seconds or [0.0]).items()},
        "held_longer_than_needed_max_ms": round(1000 * max(drained.late_seconds, default=0.0), 3),
        "rounds_until_they_started": rounds,
        "systems_held_for_ever": len(drained.held.keys() & filled.held.keys()),
    }


def _ended_on_half(stand: Stand, sizes: Sizes) -> Span:
    """What runs on the first labs ends; the allocations that follow."""
    labs = {system["fqdn"]: system["lab_controller"] for system in made_up(sizes)["systems"]}
    half = sorted(set(labs.values()))[: (len(set(labs.values())) + 1) // 2]
    ending = [recipe_id for recipe_id, system in running(stand) if labs[system] in half]
    before = stand.log.end()
    end_all(stand, ending)
    settle(stand)
    return span_of(stand.log, "system.scheduled", before)


def _until_started(stand: Stand, before: int, recipes: set[str], told: Told) -> int:
    """How often everything had to end until none of these recipes held a system for a set not started."""
    for number in range(MOST_ROUNDS):
        if recipes.isdisjoint(_holding(stand, before).held):
            return number
        told("rounds", number, MOST_ROUNDS)
        end_all(stand, [recipe_id for recipe_id, _ in running(stand)])
        settle(stand)
    return MOST_ROUNDS


def _holding(stand: Stand, before: int) -> Holding:
    """Of the recipes that were submitted after a position."""
    return holding_of(stand.log.rows(SQL["of_sets"], (before, before)))
