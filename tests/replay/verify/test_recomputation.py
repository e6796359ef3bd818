"""Every decision of a log is recomputed, and a different one is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from hashlib import sha256
from random import Random
from typing import Any

import pytest

from domain.admission.dependencies import FINAL_STATES
from domain.events import Batch, Recorded, Stamp
from domain.recipe.events import RecipeScheduled
from domain.scheduling.decisions import choice
from domain.scheduling.decisions.decide import POLICY_VERSION, WITHOUT_CLAIMS, decide
from domain.scheduling.decisions.draft import Decision
from domain.scheduling.supply.labs import Labs
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.tentative import CommitPlace
from domain.scheduling.world.trigger_rules import TriggerRule
from domain.scheduling.world.wake_ups import TRIGGER_RULES
from domain.system.events import SystemIdle
from replay.verify import recomputation
from replay.verify.recomputation import DecisionDifference, Recomputation
from replay.verify.recorded_decisions import commits
from tests.domain.scheduling.consistency_loop import tick
from tests.domain.scheduling.contents import contents
from tests.domain.scheduling.history import (
    ACTS,
    CONFIGURED,
    CONTENDED,
    EVERYTHING,
    INTERRUPTED,
    Acts,
    begin,
    burst,
    live,
)
from tests.domain.scheduling.host_requirements import ALL, ANYTHING, forces, named
from tests.domain.scheduling.labs import one_lab
from tests.domain.scheduling.rules import rules
from tests.domain.scheduling.world import World
from tests.replay.verify.queue_of_three import Log, busy, scheduled, with_queue_jump


def recomputed(log: Iterable[Recorded]) -> tuple[Recomputation, list[DecisionDifference]]:
    fresh = Recomputation()
    return fresh, list(fresh.take_all(log))


def with_stamp(log: Log, change: Callable[[Stamp], Stamp], commit_end: int) -> list[Recorded]:
    return [row._replace(stamp=change(row.stamp)) if row.commit_end == commit_end else row for row in log]


@pytest.mark.parametrize(
    "acts",
    [ACTS, EVERYTHING, CONFIGURED, CONTENDED, INTERRUPTED],
    ids=["jobs-and-systems", "policies-too", "configuration-too", "locks-too", "stops-too"],
)
@pytest.mark.parametrize("limit", [1, 3, 500])
@pytest.mark.parametrize("seed", range(3))
def test_history__recomputed__every_decision_is_the_recorded_one(seed: int, limit: int, acts: Acts) -> None:
    log = live(seed, bursts=40, limit=limit, acts=acts).log
    fresh, found = recomputed(log)
    assert found == []
    assert fresh.counts.decisions == len(
        {(row.commit_end, row.stamp.number) for row in log if row.stamp.basis}
    )
    assert fresh.counts.unchecked == fresh.counts.mended == 0


def live_while_sets_come(seed: int, bursts: int, limit: int) -> World:
    """Return a world as `live` does, but sets and other events arrive while the scheduler decides."""
    chance, world = Random(seed), begin(seed)
    for _ in range(bursts):
        burst(chance, world)
        while decisions := world.decide(limit):
            basis = world.position
            if chance.random() < 0.2:
                wanted = chance.choices(ALL, k=chance.choice((1, 2)))
                earlier = chance.choices([*world.sets], k=chance.randrange(2)) if world.sets else []
                depends_on = [{"recipe_set": number, "states": FINAL_STATES} for number in earlier]
                submitted = {"depends_on": depends_on}
                world.submit_set([each.text for each in wanted], chance.choice((1, 2)), submitted=submitted)
            if chance.random() < 0.1:
                burst(chance, world)
            if not _is_overtaken(world, decisions):
                world.commit_decisions(decisions, basis)
    return world


def _is_overtaken(world: World, decisions: Sequence[Decision]) -> bool:
    """Return whether the log refuses a commit because one of its subjects has changed."""
    expected: dict[str, int] = {}
    for subject, version in (each for decision in decisions for each in decision.expected):
        expected.setdefault(subject, version)
    versions = {row.subject: row.version for row in world.log}
    return any(versions.get(subject, 0) != version for subject, version in expected.items())


class FoldingPartition(Partition):
    """A partition that confirms no commit, and folds all of them from the log."""

    def confirm(self, place: CommitPlace) -> bool:
        return super().confirm(place._replace(preceding=place.last_position))


@pytest.mark.parametrize("limit", [1, 3, 500])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("history", [live, live_while_sets_come])
def test_history__recomputed__state_equals_a_fold(
    seed: int, limit: int, history: Callable[[int, int, int], World], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = history(seed, 40, limit).log
    fresh = Recomputation()
    monkeypatch.setattr(recomputation, "Partition", FoldingPartition)
    folding = Recomputation()
    unfolded_commits = 0
    for commit in commits(log):
        assert not list(fresh.take(commit)) and not list(folding.take(commit))
        if commit[0].stamp.basis is None:
            continue
        unfolded_commits += commit[-1] not in fresh._ahead
        assert _folded(fresh) == _folded(folding)
    assert fresh.counts.unchecked == 0
    assert unfolded_commits >= 5, "hardly any commit was confirmed without being folded"


def _folded(made: Recomputation) -> dict[str, Any]:
    """Return the state after the whole log, without the triggers that the last commit raised."""
    while made._ahead:
        made._fold_next()
    found = contents(made._partition)
    del found["_commit_end"], found["_raised"]
    return found


def by_chance() -> Log:
    """Return a log in which four recipes take one of eight idle systems each, chosen at random."""
    world = World()
    world.add_lab("lab-1")
    world.put_tree(1, "x86_64", ["lab-1"])
    world.add_idle(*"abcdefgh")
    for _ in range(4):
        world.submit(ANYTHING.text, autopick_random=True)
    world.settle()
    return world.log


def test_chance__recomputed__is_that_of_the_cause_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    _, found = recomputed(by_chance())
    assert found == []
    with monkeypatch.context() as planted:
        planted.setattr(choice, "sha256", lambda text: sha256(b"of this process: " + text))
        log = by_chance()
    _, found = recomputed(log)
    assert len(found) == 4


def test_history__system_chosen_by_another_rule__differs(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as planted:
        planted.setattr(Labs, "first_by_name", lambda labs, among: among.bit_length() - 1)
        log = live(9, bursts=40, limit=500).log
    fresh, found = recomputed(log)
    assert found
    assert fresh.counts.differences == len(found)


def test_history__decided_without_wake_ups__mended_by_the_loop__counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(rules(wakes=()))
    world.add_lab("lab-1", enabled=False)
    world.put_tree(1, "x86_64", ["lab-1"])
    world.add_idle("a")
    world.submit(ANYTHING.text)
    world.settle()
    world.enable("lab-1", enabled=True)
    assert tick(world).causes == ["timer/consistency"]
    fresh, (found,) = recomputed(world.log)
    assert (fresh.counts.mended, found.recorded) == (1, None), "the wake-up was not answered"


def test_timers__recomputed__at_their_time_only() -> None:
    world = busy()
    tick(world, after_seconds=1e6)
    log = world.log
    _, found = recomputed(log)
    assert any(row.stamp.cause.startswith("timer/watchdog") for row in log)
    assert found == []
    last = max(row.commit_end for row in log if row.stamp.cause.startswith("timer/watchdog"))

    def earlier(stamp: Stamp) -> Stamp:
        assert stamp.basis is not None
        return replace(stamp, basis=replace(stamp.basis, now=busy().now))

    _, found = recomputed(with_stamp(log, earlier, last))
    assert [(one.recorded is None, one.recomputed) for one in found] == [(False, None)]


def test_queue_jump__planted__next_recipe_in_rank_is_shown() -> None:
    log = busy().log
    jumped = with_queue_jump(log)
    _, (found,) = recomputed(jumped)
    assert found.recorded is not None
    assert found.recomputed is not None
    assert {subject for subject, _ in found.recorded.events} == {"recipe/4", "system/a"}
    assert {subject for subject, _ in found.recomputed.events} == {"recipe/3", "system/a"}
    assert found.commit.first_position == log[scheduled(log)[-1]].position


def test_decision__left_out__is_missed() -> None:
    """A system that a recipe wanted is recorded as idle."""
    log = list(busy().log)
    end = log[scheduled(log)[-1]].commit_end
    (*_, freed) = (row for row in log if row.commit_end == end and row.subject == "system/a")
    others = [row for row in log if row.commit_end != end]
    _, found = recomputed([*others, freed._replace(event=SystemIdle())])
    assert len(found) == 1


@pytest.mark.parametrize("cause", ["event/1", "event/x", "request/1", "timer/watchdog/1", ""])
def test_decision__under_another_cause__differs(cause: str) -> None:
    log = busy().log
    end = log[scheduled(log)[-1]].commit_end
    _, found = recomputed(with_stamp(log, lambda stamp: replace(stamp, cause=cause), end))
    assert found


def test_decision__of_another_policy__is_counted_apart() -> None:
    log = busy().log
    end = log[scheduled(log)[-1]].commit_end

    def older(stamp: Stamp) -> Stamp:
        assert stamp.basis is not None
        return replace(stamp, basis=replace(stamp.basis, policy_version=99))

    fresh, found = recomputed(with_stamp(log, older, end))
    assert found == []
    assert fresh.other_policies == {99: 1}


def test_decisions__before_claims__verify_in_a_log_that_goes_on_with_claims(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = one_lab()
    world.add_idle("a")
    with monkeypatch.context() as earlier:
        earlier.setattr(
            "tests.domain.scheduling.world.decide", partial(decide, policy_version=WITHOUT_CLAIMS)
        )
        earlier.setattr("tests.domain.scheduling.folded_log.POLICY_VERSION", WITHOUT_CLAIMS)
        running, *_ = (world.submit(forces("a")) for _ in range(3))
        world.settle()
        world.complete(running)
        world.settle()
    world.partition = world.refolded()
    world.settle()
    topics = [recorded.event.TOPIC for recorded in world.log]
    assert topics.count("recipe.claimed") == 1
    made, found = recomputed(world.log)
    assert (found, made.other_policies) == ([], Counter())
    bases = [recorded.stamp.basis for recorded in world.log if recorded.stamp.basis is not None]
    assert {basis.policy_version for basis in bases} == {WITHOUT_CLAIMS, POLICY_VERSION}


def test_decision__on_a_basis_left_behind__is_not_called_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recomputation, "MAX_EVENTS_AHEAD", 0)
    fresh, found = recomputed(busy().log)
    assert found == []
    assert fresh.counts.unchecked == 0, "here nothing comes between"
    log = busy().log
    end = log[scheduled(log)[-1]].commit_end

    def behind(stamp: Stamp) -> Stamp:
        assert stamp.basis is not None
        return replace(stamp, basis=replace(stamp.basis, position=stamp.basis.position - 1))

    fresh, _ = recomputed(with_stamp(log, behind, end))
    assert fresh.counts.unchecked == 1


def test_events__between_basis_and_commit__are_not_considered() -> None:
    """Return a history in which a more urgent set arrives while the scheduler decides."""
    world = busy()
    placed = next(row for row in reversed(world.log) if isinstance(row.event, RecipeScheduled))
    world.complete(int(placed.subject.partition("/")[2]))
    decisions, basis = world.decide(500), world.position
    world.submit(named("a"), priority="Urgent")
    world.commit_decisions(decisions, basis)
    world.settle()
    fresh, found = recomputed(world.log)
    assert found == []
    assert fresh.counts.unchecked == 0


def _eased_before_a_job(table: tuple[TriggerRule, ...]) -> World:
    """Enable the lab of a waiting recipe's system; then submit a job that wants another system."""
    world = World(table)
    world.add_lab("lab-1", enabled=False)
    world.put_tree(1, "x86_64", ["lab-1"])
    world.add_idle("a", "b")
    world.submit(named("a"))
    world.settle()
    world.enable("lab-1", enabled=True)
    world.settle()
    world.submit(named("b"))
    world.settle()
    return world


def test_batch__wake_up_is_recorded_as_answered_and_was_not__is_found() -> None:
    """The decision after it records that the triggers before its batch had no result."""
    assert recomputed(_eased_before_a_job(TRIGGER_RULES).log)[1] == []
    world = _eased_before_a_job(rules(wakes=()))
    assert world.states() == ["queued", "waiting"]
    (found,) = recomputed(world.log)[1]
    assert found.recorded is None and found.recomputed is not None
    assert ("recipe/1", RecipeScheduled(system="a", lab_controller="lab-1")) in found.recomputed.events


def test_batch__no_decision_while_room_is_kept__differs_nowhere() -> None:
    """A wake-up with no result is recomputed at a time when the set for which room is kept still weighs 0."""
    world = World()
    world.add_lab("lab-1")
    world.put_tree(1, "x86_64", ["lab-1"])
    world.add_idle(*"abcde")
    world.configure(limits={"placed_recipes": 2})
    first, second = world.submit(named("a")), world.submit(named("b"))
    world.submit_set([named("c"), named("d")])
    small = world.submit(named("e"))
    world.settle()
    world.now += timedelta(minutes=15)
    world.complete(first)
    world.settle()
    world.describe("e", memory=4096)
    assert world.settle() == []
    assert world.states(small) == ["queued"]
    world.complete(second)
    world.settle()
    assert recomputed(world.log)[1] == []


FORGED: dict[str, Callable[[Batch], Batch]] = {
    "after is lower": lambda batch: replace(batch, after=batch.after - 1),
    "after is higher": lambda batch: replace(batch, after=batch.upto),
    "upto is lower": lambda batch: replace(batch, upto=batch.upto - 1),
    "upto is higher": lambda batch: replace(batch, upto=batch.upto + 1),
    "left": lambda batch: replace(batch, left="new-job"),
    "all of it is later": lambda batch: replace(batch, after=batch.upto + 1, upto=batch.upto + 1),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_batch__recorded_otherwise__differs(forge: Callable[[Batch], Batch]) -> None:
    log = busy().log
    end = log[scheduled(log)[-1]].commit_end

    def forged(stamp: Stamp) -> Stamp:
        assert stamp.basis is not None and stamp.basis.batch is not None
        return replace(stamp, basis=replace(stamp.basis, batch=forge(stamp.basis.batch)))

    _, found = recomputed(with_stamp(log, forged, end))
    assert found
    assert {one.commit.last_position for one in found} == {end}
