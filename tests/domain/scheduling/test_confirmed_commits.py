"""A scheduler that confirms its own commits has the same state as one that reads them from the log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest

from domain.events import Recorded
from domain.scheduling.decisions.decide import decide
from domain.scheduling.decisions.draft import Decision
from domain.scheduling.world import late_events
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.tentative import CommitPlace, TentativeEvents
from tests.domain.scheduling import folded_log
from tests.domain.scheduling.consistency_loop import run_loop
from tests.domain.scheduling.contents import check_indexes, contents
from tests.domain.scheduling.history import ACTS, ADMITTED, QUEUED, Acts, _cancel, begin, burst
from tests.domain.scheduling.host_requirements import ANYTHING
from tests.domain.scheduling.world import World

SEEDS = (0, pytest.param(1, marks=pytest.mark.soak))


class Reader(Partition):
    """A partition that reads its own commits, and before them the `unread` events that precede them."""

    unread: Sequence[Recorded] = ()

    def confirm(self, place: CommitPlace) -> bool:
        return self._confirm(place._replace(preceding=place.first_position))

    def _confirm(self, place: CommitPlace) -> bool:
        is_confirmed = super().confirm(place)
        unread, self.unread = self.unread, ()
        for recorded in unread:
            self.apply(recorded)
        return is_confirmed


class Confirmer(Reader):
    """A partition that folds unread events after its commits if it may, as the scheduler process does.

    It counts the commits that it need not read, and those of them with unread events before them.
    """

    confirmed_count = 0
    behind_count = 0

    def confirm(self, place: CommitPlace) -> bool:
        unread = self.unread
        if all(late_events.may_follow(recorded.event) for recorded in unread):
            place = place._replace(preceding=self.position)
        is_confirmed = self._confirm(place)
        Confirmer.behind_count += is_confirmed and bool(unread)
        return is_confirmed

    def _confirm_tentative(self, tentative: TentativeEvents, recorded_at: datetime) -> None:
        Confirmer.confirmed_count += 1
        super()._confirm_tentative(tentative, recorded_at)


def two_worlds(seed: int, monkeypatch: pytest.MonkeyPatch) -> tuple[World, World]:
    worlds = []
    for kind in (Confirmer, Reader):
        monkeypatch.setattr(folded_log, "Partition", kind)
        worlds.append(begin(seed))
        # Deadlines of own commits count from the database clock, too.
        worlds[-1].database_ahead = timedelta(seconds=7)
    return worlds[0], worlds[1]


@pytest.mark.parametrize("acts", [ACTS, ADMITTED])
@pytest.mark.parametrize("seed", SEEDS)
def test_history__commits_confirmed_or_read__same_partition_after_each(
    seed: int, acts: Acts, monkeypatch: pytest.MonkeyPatch
) -> None:
    knower, reader = two_worlds(seed, monkeypatch)
    chances, before = (Random(seed), Random(seed)), Confirmer.confirmed_count
    beside = Random(seed)
    for _ in range(25):
        later, limit = timedelta(seconds=beside.choice((0, 60, 20_000))), beside.choice((1, 2, 500))
        for chance, world in zip(chances, (knower, reader), strict=True):
            burst(chance, world, acts)
            world.now += later
        if later:
            assert run_loop(knower).decisions == run_loop(reader).decisions
            assert contents(knower.partition) == contents(reader.partition)
        while decisions := decide(knower.partition, limit, knower.now):
            assert decide(reader.partition, limit, reader.now) == decisions
            for world in (knower, reader):
                world.commit_decisions(decisions, world.position)
            assert contents(knower.partition) == contents(reader.partition)
            check_indexes(knower.partition)
        assert not decide(reader.partition, limit, reader.now)
        assert contents(knower.partition)["sets"] == contents(knower.refolded())["sets"]
    assert Confirmer.confirmed_count - before > 5, "hardly any commit was confirmed without being read"


# People submit, and rarely do something else, while the scheduler decides.
MEANWHILE: Acts = (*((act, weight) for act, weight in ADMITTED if "submit" in act.__name__), (_cancel, 2))


@pytest.mark.parametrize("acts", [ACTS, ADMITTED, QUEUED])
@pytest.mark.parametrize("seed", SEEDS)
def test_history__sets_arrive_before_the_commit__same_partition_as_of_a_reader(
    seed: int, acts: Acts, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Confirmer.behind_count
    for_each_commit(seed, acts, monkeypatch)
    assert Confirmer.behind_count - before > 5, "hardly any commit was confirmed before what precedes it"


def for_each_commit(seed: int, acts: Acts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare a partition that confirms its commits with one that reads them, while sets arrive."""
    worlds = two_worlds(seed, monkeypatch)
    knower, reader = (world.partition for world in worlds)
    chances, chance = (Random(seed), Random(seed)), Random(seed)
    for _ in range(25):
        for each, world in zip(chances, worlds, strict=True):
            burst(each, world, acts)
            world.now += timedelta(seconds=30)
        limit, late_count = chance.choice((1, 2, 500)), chance.randrange(4)
        while decisions := decide(knower, limit, worlds[0].now):
            assert decide(reader, limit, worlds[1].now) == decisions
            for each, world in zip(chances, worlds, strict=True):
                commit_late(each, world, decisions, late_count > 0)
            late_count -= 1
            assert state_of(knower) == state_of(reader)
            check_indexes(knower)
        assert not decide(reader, limit, worlds[1].now)


def commit_late(chance: Random, world: World, decisions: Sequence[Decision], is_late: bool) -> None:
    """Commit decisions unless they are in conflict; if they are late, after a burst that is not read yet."""
    basis, partition = world.position, world.partition
    assert isinstance(partition, Reader)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world, "schedulers", list)
        count = len(world.log)
        if is_late:
            burst(chance, world, MEANWHILE)
        partition.unread = world.log[count:]
    if world.in_conflict(decisions):
        partition.rollback()
        for recorded in partition.unread:
            partition.apply(recorded)
        partition.unread = ()
    else:
        world.commit_decisions(decisions, basis)


def state_of(partition: Partition) -> dict[str, Any]:
    """Return the contents, without the triggers that the last commit raised."""
    found = contents(partition)
    del found["_commit_end"], found["_raised"], found["unread"]
    return found


def place(world: World, count: int, behind: int = 0, preceding: int | None = None) -> CommitPlace:
    """Return the place of a commit of `count` events, with a number of other events right before it."""
    first = world.position + 1 + behind
    read = world.position if preceding is None else preceding
    return CommitPlace(first, first + count - 1, read, world.now)


def test_confirm__unread_events_before_it__commit_is_read(world: World) -> None:
    world.add_idle("a")
    recipe_id = world.submit(ANYTHING.text)
    before = contents(world.partition)
    (decision,) = decide(world.partition, 1, world.now)
    at = place(world, len(decision.events), behind=1, preceding=world.position + 1)
    assert not world.partition.confirm(at)
    assert contents(world.partition)["sets"] == before["sets"]
    assert world.partition.position == world.position
    assert world.partition.sets.recipes[recipe_id].state == "new"


def test_confirm__events_of_others_before_it__has_the_positions_of_the_log(world: World) -> None:
    world.add_idle("a")
    recipe_id = world.submit(ANYTHING.text)
    (decision,) = decide(world.partition, 1, world.now)
    at = place(world, len(decision.events), behind=70)
    assert world.partition.confirm(at)
    assert world.partition.sets.recipes[recipe_id].state == "waiting"
    assert world.partition.position == at.last_position
    assert at.first_position <= world.partition.systems["a"].since <= at.last_position


def test_confirm__more_events_than_tentative__commit_is_read(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    (decision,) = decide(world.partition, 1, world.now)
    assert not world.partition.confirm(place(world, len(decision.events) + 1))
    assert world.partition.position == world.position


def test_confirm__decided_without_a_time__commit_is_read(world: World) -> None:
    world.add_idle("a")
    recipe_id = world.submit(ANYTHING.text)
    (decision,) = decide(world.partition, 1)
    assert not world.partition.confirm(place(world, len(decision.events)))
    assert world.partition.sets.recipes[recipe_id].state == "new", "a watchdog needs a time"
