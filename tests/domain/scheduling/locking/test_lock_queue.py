"""The queue of sets that wait for locks, compared with a plain model after random changes."""

from __future__ import annotations

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
        queue = LockQueue(self.model.bound)
        for recipe_id, each in self.model.held.items():
            queue.hold(recipe_id, each)
        for wanted in self.model.waiting.values():
            queue.wait(wanted)
        queue.restore(self.model.overtaken)
        return queue


ACTS = (
    (Both.come, 12),
    (Both.get, 12),
    (Both.end, 8),
    (Both.narrow, 2),
    (Both.withdraw, 2),
    (Both.change_priority, 2),
    (Both.configure, 1),
)


@pytest.mark.parametrize("seed", range(60))
def test_queue__random_changes__equals_the_model(seed: int) -> None:
    chance = Random(seed)
    both = Both(chance)
    acts, frequencies = zip(*ACTS, strict=True)
    for act in chance.choices(acts, frequencies, k=150):
        act(both)
        if chance.random() < 0.5:
            both.check()
    both.check()
    assert both.restored().next() == both.queue.next()


def test_queue__histories_of_these_tests__sets_wait_and_are_owed() -> None:
    waiting = owed = 0
    for seed in range(10):
        chance = Random(seed)
        both = Both(chance)
        acts, frequencies = zip(*ACTS, strict=True)
        for act in chance.choices(acts, frequencies, k=150):
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
