"""The audit finds nothing in generated histories with resource locks, and finds faults of their scheduler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from domain.contention.locks import NO_LOCKS
from domain.scheduling.decisions import lock_grants
from domain.scheduling.locking.lock_queue import LockQueue
from replay.audit import check, from_recorded
from tests.domain.scheduling.world import World
from tests.replay.audit.lock_histories import contend
from tests.replay.audit.sound import assert_at_rest, assert_sound

BURSTS = 50


def lived(seed: int) -> World:
    return contend(seed, BURSTS, limit=(1, 3, 500)[seed % 3])


@pytest.mark.parametrize("seed", range(6))
def test_history__sets_wait_for_locks__is_sound_and_nobody_waits_in_vain(seed: int) -> None:
    log = lived(seed).log
    topics = [recorded.event.TOPIC for recorded in log]
    assert topics.count("recipe.locked") > 5
    assert_sound(from_recorded(log))
    assert_at_rest(from_recorded(log))


@pytest.mark.parametrize(
    ("where", "name", "planted", "invariant"),
    [
        (LockQueue, "can_start", lambda *_: True, "no_conflicting_locks"),
        (LockQueue, "overtake", lambda *_: None, "no_lock_jumped"),
        (LockQueue, "next", lambda *_: None, "starts_with_locks"),
        (lock_grants, "locks_at_start", lambda *_: NO_LOCKS, "locks_all_at_once"),
    ],
)
def test_history__scheduler_leaves_out_a_rule_of_locks__is_found(
    monkeypatch: pytest.MonkeyPatch, where: Any, name: str, planted: Callable[..., object], invariant: str
) -> None:
    monkeypatch.setattr(where, name, planted)
    histories = (check(from_recorded(lived(seed).log)) for seed in range(10))
    found = (one.invariant for violations in histories for one in violations)
    assert invariant in found
