"""Histories of the scheduler with claims have no violations; rules that it leaves out are found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.scheduling.decisions import claim_timers, claiming, pending_system, room_order
from replay.audit import EventRecord, check, from_recorded
from replay.audit.tables import CLAIM_ENDED, CLAIMED
from tests.domain.scheduling.history import Acts
from tests.domain.scheduling.host_requirements import forces, named
from tests.domain.scheduling.labs import one_lab
from tests.replay.audit.claim_histories import CLAIMING, CLAIMING_IN_QUEUES, claim
from tests.replay.audit.sound import assert_at_rest, assert_sound

BURSTS = 40


def lived(seed: int, acts: Acts) -> list[EventRecord]:
    return list(from_recorded(claim(seed, BURSTS, acts).log))


@pytest.mark.parametrize("acts", [CLAIMING, CLAIMING_IN_QUEUES], ids=["people", "queues"])
@pytest.mark.parametrize("seed", range(6))
def test_history__recipes_claim_systems__is_sound_and_nobody_waits_in_vain(seed: int, acts: Acts) -> None:
    log = lived(seed, acts)
    assert_sound(log)
    assert_at_rest(log)


def test_histories__of_a_few_seeds__have_claims_of_both_kinds_with_all_ends() -> None:
    records = [record for seed in range(5) for record in lived(seed, CLAIMING_IN_QUEUES)]
    assert {record.data["forced"] for record in records if record.topic == CLAIMED} == {True, False}
    reasons = {record.data["reason"] for record in records if record.topic == CLAIM_ENDED}
    assert reasons == {"served", "ended", "system away", "no room", "over"}


def test_claimant__rejected_in_the_batch_in_which_locks_come_free__is_sound() -> None:
    world = one_lab()
    world.add_idle("a", "b")
    network = {"network": {"Exclusive": ["n1"]}}
    (holder,), (waits,) = (world.submit_set([named(fqdn)], locks_of=[network]) for fqdn in ("a", "b"))
    world.settle()
    claimant = world.submit(forces("b"))
    world.settle()
    assert world.recipes[waits].awaits_locks and world.recipes[claimant].claim is not None
    world.cancel(holder)
    predicate = {"field": "job_id", "op": "=", "value": world.recipes[claimant].job_id}
    world.put_job_filter("none", "REJECT", predicate=predicate)
    world.settle()
    assert (world.recipes[claimant].state, world.recipes[waits].started) == ("cancelled", True)
    assert_sound(list(from_recorded(world.log)))


def nobody(*_: object) -> None:
    return None


@pytest.mark.parametrize(
    ("where", "name", "planted", "acts", "invariant"),
    [
        (room_order, "claimant_for_system", nobody, CLAIMING_IN_QUEUES, "nobody_jumped"),
        (pending_system, "end_without_room", nobody, CLAIMING_IN_QUEUES, "rightful_claims"),
        (claim_timers, "_ticks", lambda *_: 1_000, CLAIMING_IN_QUEUES, "claims_in_order"),
        # People take the access to systems that recipes force.
        (claiming, "is_within_reach", lambda *_: True, CLAIMING, "rightful_claims"),
    ],
)
def test_history__scheduler_leaves_out_a_rule_of_claims__is_found(
    monkeypatch: pytest.MonkeyPatch,
    where: object,
    name: str,
    planted: Callable[..., object],
    acts: Acts,
    invariant: str,
) -> None:
    monkeypatch.setattr(where, name, planted)
    histories = (check(lived(seed, acts)) for seed in range(20))
    assert any(one.invariant == invariant for found in histories for one in found)
