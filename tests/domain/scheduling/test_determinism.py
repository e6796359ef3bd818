"""Decisions follow from the log alone: not from hashes, batches or restarts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from domain.scheduling.decide import decide
from tests.domain.scheduling import invariants
from tests.domain.scheduling.history import live

TOP = Path(__file__).resolve().parents[3]


def digests(*arguments: str) -> list[str]:
    """What two processes print that differ in nothing but how texts hash."""
    command = [sys.executable, "-m", "tests.domain.scheduling.history", *arguments]
    printed = []
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        run = subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, check=True)
        printed.append(run.stdout)
    return printed


def test_history__two_hash_seeds__same_log() -> None:
    one, other = digests()
    assert one == other


def test_history__planted_choice_by_hash__logs_differ() -> None:
    # Shows that the test above would notice.
    one, other = digests("planted")
    assert one != other


@pytest.mark.parametrize("seed", range(5))
def test_history__one_decision_per_commit_or_five_hundred__same_log(seed: int) -> None:
    # Triggers are answered in log order, each seeing the answers before it, and no answer raises a trigger
    # that stands before one that is waiting: so where commits end cannot matter. (Positions may differ: the
    # log leaves its gaps between commits.)
    one, many = live(seed, bursts=40, limit=1), live(seed, bursts=40, limit=500)
    assert [(row.subject, row.event) for row in one.log] == [(row.subject, row.event) for row in many.log]


@pytest.mark.parametrize("seed", range(3))
def test_history__restarted_at_any_commit__decides_what_the_long_lived_one_decides(seed: int) -> None:
    world = live(seed, bursts=10, limit=500)
    for _ in range(10):
        for recipe in world.placed()[:2]:
            world.complete(recipe.recipe_id)
        world.submit(next(iter(world.recipes.values())).host_requires)
        while decisions := world.decide(limit=3):
            assert decide(world.refolded(), 3) == decisions
            world.commit(pair for decision in decisions for pair in decision.events)


@pytest.mark.parametrize("seed", range(5))
def test_history__all_answered__nobody_double_booked_and_nobody_starves(seed: int) -> None:
    world = live(seed, bursts=60, limit=500)
    invariants.nobody_double_booked(world)
    invariants.in_step(world)
    invariants.nobody_starves_an_idle_system(world)
    # The history was worth living: every outcome is in it.
    states = {recipe.state for recipe in world.recipes.values()}
    assert states >= {"completed", "aborted", "cancelled", "queued", "waiting"}
