"""The queue of sets that wait for locks, compared with a plain model after random changes."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pytest

from domain.contention.algebra import conflicts, held
from domain.contention.documents import stored_locks
from domain.contention.locks import LEVELS, Locks
from domain.scheduling.locking.lock_queue import Held, LockQueue, Turn, Wanted

KINDS = (
    {"Shared": ["x"]},
    {"Exclusive": ["x"]},
    {"Shared": ["y", "z"]},
    {"Exclusive": ["y"]},
    "AllShared",
    "AllExclusive",
    [{"Exclusive": ["z"]}, {"Shared": ["x"]}],
)
LABS = ("lab-1", "lab-2")


class Model:
    """Held and wanted locks in plain dictionaries; every question goes through all of them. Mutable."""

    def __init__(self, bound: int) -> None:
        self.bound = bound
        self.held: dict[int, Held] = {}
        self.waiting: dict[int, Wanted] = {}
        self.overtaken: dict[int, int] = {}

    def can_have(self, wanted: Wanted) -> bool:
        if any(
            each.recipe_set_id != wanted.recipe_set_id and meet(each, wanted) for each in self.held.values()
        ):
            return False
        before = [each for each in self.waiting.values() if each.turn < wanted.turn and meet(each, wanted)]
        owed = [each for each in before if self.overtaken.get(each.recipe_set_id, 0) >= self.bound]
        return not owed and not any(map(self.can_have, before))

    def next(self) -> int | None:
        able = [wanted.turn for wanted in self.waiting.values() if self.can_have(wanted)]
        return min(able).recipe_set_id if able else None

    def overtake(self, got: Wanted) -> None:
        for number, wanted in self.waiting.items():
            if wanted.turn < got.turn and meet(wanted, got):
                self.overtaken[number] = self.overtaken.get(number, 0) + 1


def meet(one: Held | Wanted, other: Held | Wanted) -> bool:
    return conflicts(one.locks, other.locks, one.lab == other.lab)


class Both:
    """The queue and the model, changed in the same way, with random sets. Mutable."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        bound = chance.choice((0, 1, 2, 5))
        self.queue, self.model = LockQueue(bound), Model(bound)
        self.submitted = 0

    def locks(self) -> Locks:
        levels = self.chance.sample(LEVELS[:3], self.chance.randrange(3))
        document = {level: self.chance.choice(KINDS) for level in levels}
        return held(stored_locks({**document, "whole_lab": self.chance.random() < 0.1}))

    def come(self) -> None:
        """A set has its last system: it starts, or waits for its locks."""
        self.submitted += 1
        turn = Turn(-self.chance.randrange(3), self.submitted, self.submitted)
        wanted = Wanted(turn, self.chance.choice(LABS), self.locks())
        assert self.queue.can_start(wanted) == self.model.can_have(wanted)
        if self.model.can_have(wanted):
            self.start(wanted)
        else:
            self.queue.wait(wanted)
            self.model.waiting[wanted.recipe_set_id] = wanted

    def start(self, wanted: Wanted) -> None:
        """A set with one or two recipes gets its locks."""
        for part in range(self.chance.choice((1, 2))):
            held = Held(wanted.recipe_set_id, wanted.lab, wanted.locks)
            recipe_id = 2 * wanted.recipe_set_id + part
            self.queue.hold(recipe_id, held)
            self.model.held[recipe_id] = held
        self.queue.overtake(wanted)
        self.model.overtake(wanted)

    def leave(self, number: int) -> None:
        self.queue.stop_waiting(number)
        del self.model.waiting[number]
        self.model.overtaken.pop(number, None)

    def get(self) -> None:
        """The next set gets its locks."""
        number = self.model.next()
        assert self.queue.next() == number
        if number is not None:
            wanted = self.model.waiting[number]
            self.leave(number)
            self.start(wanted)

    def end(self) -> None:
        if self.model.held:
            recipe_id = self.chance.choice(list(self.model.held))
            self.queue.release(recipe_id)
            del self.model.held[recipe_id]

    def narrow(self) -> None:
        if self.model.held:
            recipe_id = self.chance.choice(list(self.model.held))
            before = self.model.held[recipe_id]
            levels = list(before.locks.levels)
            levels[self.chance.randrange(3)] = Locks().levels[0]
            after = before._replace(locks=before.locks._replace(levels=tuple(levels)))
            self.queue.hold(recipe_id, after)
            self.model.held[recipe_id] = after

    def withdraw(self) -> None:
        if self.model.waiting:
            self.leave(self.chance.choice(list(self.model.waiting)))

    def change_priority(self) -> None:
        if self.model.waiting:
            wanted = self.chance.choice(list(self.model.waiting.values()))
            turn = wanted.turn._replace(negative_priority=-self.chance.randrange(3))
            self.queue.wait(wanted._replace(turn=turn))
            self.model.waiting[wanted.recipe_set_id] = wanted._replace(turn=turn)

    def configure(self) -> None:
        self.model.bound = self.chance.choice((0, 1, 2, 5))
        self.queue.configure(self.model.bound)

    def check(self) -> None:
        assert self.queue.next() == self.model.next()
        assert self.queue.waiting == self.model.waiting
        assert self.queue.overtaken == self.model.overtaken
        for number, wanted in self.model.waiting.items():
            assert (next(self.queue.blockers(wanted), None) is None) == self.model.can_have(wanted)
            is_owed = self.model.overtaken.get(number, 0) >= self.model.bound
            assert self.queue.is_owed(number) == is_owed

    def restored(self) -> LockQueue:
        """Return a queue with the present content, as after a start from a snapshot."""
        model = self.model
        return _queue_of(model.bound, model.held, model.waiting, model.overtaken)


ACTS = (
    (Both.come, 12),
    (Both.get, 12),
    (Both.end, 8),
    (Both.narrow, 2),
    (Both.withdraw, 2),
    (Both.change_priority, 2),
    (Both.configure, 1),
)


@pytest.mark.parametrize("seed", range(90))
def test_queue__random_changes__equals_the_model(seed: int) -> None:
    chance = Random(seed)
    both = Both(chance)
    acts, frequencies = zip(*ACTS, strict=True)
    for act in chance.choices(acts, frequencies, k=100):
        act(both)
        if chance.random() < 0.5:
            both.check()
    both.check()
    assert both.restored().next() == both.queue.next()


def test_queue__random_changes__answers_as_a_queue_built_anew() -> None:
    for seed in range(160):
        chance, queue = Random(seed), LockQueue(3)
        for number in range(1, 101):
            act = chance.choices((_come, _get, _end, _withdraw), (10, 1, 6, 1))[0]
            act(queue, number, chance)


def _come(queue: LockQueue, number: int, chance: Random) -> None:
    names = [name for name in "pqxyz" if chance.random() < 0.4] or ["p"]
    wanted = _wanted(number, *names, priority=chance.randrange(3))
    can_start = queue.can_start(wanted)
    assert can_start == _built_anew(queue).can_start(wanted)
    if can_start:
        _hold(queue, number, *names)
        queue.overtake(wanted)
    else:
        queue.wait(wanted)


def _get(queue: LockQueue, *_: object) -> None:
    number = queue.next()
    assert number == _built_anew(queue).next()
    if number is not None:
        wanted = queue.waiting[number]
        queue.stop_waiting(number)
        queue.hold(number, Held(number, wanted.lab, wanted.locks))
        queue.overtake(wanted)


def _end(queue: LockQueue, _: int, chance: Random) -> None:
    if queue._held:
        queue.release(chance.choice(list(queue._held)))


def _withdraw(queue: LockQueue, _: int, chance: Random) -> None:
    if queue.waiting:
        queue.stop_waiting(chance.choice(list(queue.waiting)))


def _built_anew(queue: LockQueue) -> LockQueue:
    """Return a queue with equal content and no recorded blockers, as after a start from a snapshot."""
    return _queue_of(queue._max_overtaken, queue._held, queue.waiting, queue.overtaken)


def _queue_of(
    bound: int, held: Mapping[int, Held], waiting: Mapping[int, Wanted], overtaken: Mapping[int, int]
) -> LockQueue:
    queue = LockQueue(bound)
    for recipe_id, each in held.items():
        queue.hold(recipe_id, each)
    for wanted in waiting.values():
        queue.wait(wanted)
    queue.restore(overtaken)
    return queue


def test_can_start__set_that_waited_for_a_blocked_set__is_before_a_later_set() -> None:
    queue = LockQueue(8)
    _hold(queue, 101, "x")
    _hold(queue, 102, "y", "q")
    for wanted in (_wanted(1, "x"), _wanted(2, "y", "q"), _wanted(3, "q")):
        queue.wait(wanted)
    assert queue.next() is None
    queue.release(101)
    queue.release(102)
    # Set 3 waits for set 2, which could have its locks.
    assert queue.can_start(_wanted(4, "z"))
    # A set before all others gets a lock that set 2 wants, so set 3 could have its lock.
    _hold(queue, 5, "y")
    assert list(queue.blockers(_wanted(6, "q"))) == [3]


def _wanted(number: int, *names: str, priority: int = 0) -> Wanted:
    locks = stored_locks({"network": {"Exclusive": sorted(names)}})
    return Wanted(Turn(-priority, number, number), "lab-1", locks)


def _hold(queue: LockQueue, number: int, *names: str) -> None:
    queue.hold(number, Held(number, "lab-1", _wanted(number, *names).locks))


def test_queue__histories_of_these_tests__sets_wait_and_are_owed() -> None:
    waiting = owed = 0
    for seed in range(10):
        chance = Random(seed)
        both = Both(chance)
        acts, frequencies = zip(*ACTS, strict=True)
        for act in chance.choices(acts, frequencies, k=100):
            act(both)
            waiting += len(both.queue.waiting)
            owed += sum(map(both.queue.is_owed, both.queue.waiting))
    assert waiting > 1_000
    assert owed > 100


@pytest.mark.parametrize("seed", range(10))
def test_rollback__counts__are_as_before(seed: int) -> None:
    chance = Random(seed)
    both = Both(chance)
    for _ in range(60):
        both.come()
    held, waiting = dict(both.queue._held), dict(both.queue.waiting)
    counts = dict(both.queue.overtaken)
    both.queue.begin_tentative()
    for act in chance.choices((Both.come, Both.get, Both.end, Both.withdraw), k=40):
        act(both)
    for recipe_id in [each for each in both.queue._held if each not in held]:
        both.queue.release(recipe_id)
    for number in [each for each in both.queue.waiting if each not in waiting]:
        both.queue.stop_waiting(number)
    for recipe_id, each in held.items():
        both.queue.hold(recipe_id, each)
    for wanted in waiting.values():
        both.queue.wait(wanted)
    both.queue.rollback()
    both.model.held, both.model.waiting, both.model.overtaken = held, waiting, counts
    both.check()
