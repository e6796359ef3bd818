"""Made-up histories in which policies, groups and loans come and go: nobody breaks a rule over it."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from domain.priority import Priority
from domain.system.events import SystemLoaned, SystemLoanEnded
from replay.audit import from_recorded
from tests.domain.scheduling.history import LABS, POOLS, begin, burst
from tests.domain.scheduling.wants import ALL
from tests.domain.scheduling.world import World
from tests.replay.audit.peopled import GROUPS, PEOPLE, act
from tests.replay.audit.sound import assert_at_rest, assert_sound


def live(seed: int, bursts: int) -> World:
    """As in other histories, and people with a say over systems use it."""
    chance, world = Random(seed), begin(seed)
    for number in range(6):
        arches = ["x86_64", "aarch64"]
        world.add_system(
            f"p{number}", LABS[number % 2], pools=POOLS[: number % 3], arches=arches, memory_mb=16384
        )
    for _ in range(bursts):
        burst(chance, world)
        while chance.random() < 0.6:
            _submit(chance, world)
        while chance.random() < 0.5:
            _say(chance, world)
        world.settle(chance.choice((1, 3, 500)))
        for recipe in world.in_state("waiting", "installing", "running"):
            if not recipe.is_guest and chance.random() < 0.25:
                world.complete(recipe.recipe_id)
    world.settle()
    return world


def _submit(chance: Random, world: World) -> None:
    wants = [chance.choice(ALL).text for _ in range(chance.choice((1, 1, 1, 2)))]
    owner, group = chance.choice(PEOPLE), chance.choice((None, *GROUPS))
    world.submit_set(wants, 1, chance.choice(list(Priority)).name, owner=owner, group=group)


def _say(chance: Random, world: World) -> None:
    subject, event = act(chance, list(world.systems))
    system = world.systems.get(subject.partition("/")[2])
    lent = system is not None and system.loan is not None
    if isinstance(event, SystemLoaned if lent else SystemLoanEnded):
        # It is so already.
        return
    world.commit([(subject, event)])


@pytest.mark.parametrize("seed", range(20))
def test_history__people_use_their_say__nothing_is_broken_and_nobody_waits_in_vain(seed: int) -> None:
    world = live(seed, bursts=40)
    assert_sound(from_recorded(world.log))
    assert_at_rest(from_recorded(world.log))


def test_history__people_use_their_say__much_happens() -> None:
    said = Counter(row.event.TOPIC for seed in range(5) for row in live(seed, bursts=40).log)
    assert said["recipe.scheduled"] > 200 and said["recipe.queued"] > 100, said
    for topic in ("system.access-policy-changed", "pool.access-policy-changed", "group.changed"):
        assert said[topic] > 20, said
    assert said["system.loaned"] > 10, said
