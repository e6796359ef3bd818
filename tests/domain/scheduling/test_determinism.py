"""Decisions depend only on the log: not on hashes, commit sizes, refused commits or restarts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from domain.scheduling.decisions.decide import decide
from replay.audit import from_recorded
from tests.domain.scheduling.contents import answers, check_indexes, contents
from tests.domain.scheduling.history import (
    ACTS,
    ADMITTED,
    CONTENDED,
    EVERYTHING,
    LOCKED,
    QUEUED,
    Acts,
    begin,
    burst,
    live,
)
from tests.replay.audit.sound import assert_at_rest, assert_sound

TOP = Path(__file__).resolve().parents[3]
SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2)))


def digests(*arguments: str) -> list[str]:
    """Return the output of three processes that differ only in their hash seed."""
    command = [sys.executable, "-m", "tests.domain.scheduling.history", *arguments]
    printed = []
    for hash_seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        run = subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, check=True)
        printed.append(run.stdout)
    return printed


def test_history__two_hash_seeds__same_log() -> None:
    one, *others = digests()
    assert others == [one, one]


def test_history__planted_choice_by_hash__logs_differ() -> None:
    # Shows that the test above can fail.
    assert len(set(digests("planted"))) > 1


@pytest.mark.parametrize("seed", SEEDS)
def test_history__commit_refused_before_each_one__rolled_back_completely(seed: int) -> None:
    chance, world = Random(seed), begin(seed)
    for _ in range(30):
        burst(chance, world, CONTENDED)
        before = contents(world.partition)
        check_indexes(world.partition)
        decisions = world.decide(limit=chance.choice((1, 2, 500)))
        if decisions:
            assert contents(world.partition) == before, "the rollback was incomplete"
            again = world.decide(limit=1)
            assert again == decisions[: len(again)]
        world.settle()


@pytest.mark.parametrize("seed", SEEDS)
def test_history__restarted_at_any_commit__same_decisions(seed: int) -> None:
    chance, world = Random(seed), begin(seed)
    for _ in range(20):
        burst(chance, world, LOCKED)
        while decisions := world.decide(limit=3):
            restarted = world.refolded()
            assert decide(restarted, 3) == decisions
            restarted.rollback()
            assert contents(restarted)["sets"] == contents(world.partition)["sets"]
            world.commit_decisions(decisions, world.position)
        world.settle()
        assert decide(world.refolded(), 500) == [], "answered triggers were answered again, and differently"


@pytest.mark.parametrize("seed", SEEDS)
def test_history__refolded__same_answers(seed: int) -> None:
    """Policies, loans, groups, owners and priorities change, and change back."""
    chance, world = Random(seed), begin(seed)
    for _ in range(30):
        burst(chance, world, CONTENDED)
        check_indexes(world.partition)
        assert answers(world.refolded()) == answers(world.partition)
        world.settle()


@pytest.mark.parametrize("acts", [ACTS, ADMITTED, QUEUED])
@pytest.mark.parametrize("limit", [1, 500])
@pytest.mark.parametrize("seed", SEEDS)
def test_history__any_commit_size__audit_finds_no_violation(seed: int, limit: int, acts: Acts) -> None:
    world = live(seed, bursts=50, limit=limit, acts=acts)
    records = list(from_recorded(world.log))
    assert_sound(records)
    assert_at_rest(records)


def test_history__generated__has_enough_events() -> None:
    topics = {row.event.TOPIC for seed in range(3) for row in live(seed, bursts=50, limit=500).log}
    states = {topic for topic in topics if topic.startswith("recipe.")}
    assert states >= {f"recipe.{state}" for state in ("assigned", "queued", "waiting", "completed")}
    assert topics >= {"system.reservation-begun", "system.undrained", "pool.system-removed"}
    assert topics >= {"system.occupied", "system.vacated"}
    topics = {row.event.TOPIC for seed in (0, 1, 3) for row in live(seed, 50, 500, EVERYTHING).log}
    assert topics >= {"system.loaned", "pool.access-policy-changed", "group.removed", "system.owner-changed"}
