"""The safety of grants by the cached plans, compared with a recomputation, over random histories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from random import Random

import pytest

from domain.errors import Refused
from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bitmaps import numbers_in, union
from domain.scheduling.decisions.granting import holders, is_safe
from domain.scheduling.safety.completion import Holder, is_completable, stuck
from domain.scheduling.safety.holders import Holders
from domain.scheduling.safety.matching import match
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import LET_GO
from tests.domain.scheduling.contents import check_indexes
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import one_lab
from tests.domain.scheduling.world import World

SYSTEMS = "abcdefghijkl"


def recomputed_safety(partition: Partition, host: Recipe, number: int) -> tuple[bool, str]:
    """Return whether a grant is safe, computed from all holders of the lab, and the case."""
    lab = partition.system(number).lab_controller
    of_lab = partition.labs.lab_controller[lab]
    missing = partition.sets.missing(host.recipe_set_id)
    rest = [other for other in missing if other.recipe_id != host.recipe_id]
    if not rest:
        return True, "last of its set"
    if match([partition.usable(each) & of_lab for each in missing]) is None:
        return False, "hopeless"
    placed = [each for each in partition.sets.hosts(host.recipe_set_id) if each.state == "scheduled"]
    held = union(1 << partition.labs.number(str(each.system)) for each in placed) | 1 << number
    grown = Holder(host.recipe_set_id, held, tuple(partition.usable(each) & of_lab for each in rest))
    others = [each for each in holders(partition, lab) if each.recipe_set_id != host.recipe_set_id]
    first = is_completable(grown, union(each.held for each in (grown, *others)))
    if first and not partition.triggers.has_unanswered(LET_GO, lab):
        return True, "comes first"
    safe = not stuck([grown, *others])
    return safe, ("safe" if safe else "unsafe") + (" while somebody has to let go" if stuck(others) else "")


def grants(partition: Partition) -> Iterator[tuple[Recipe, int]]:
    """Yield every waiting recipe with every system that it might be granted."""
    for host in partition.sets.recipes.values():
        if host.is_guest or host.state not in ("new", "queued", "assigned"):
            continue
        for number in numbers_in(partition.usable(host)):
            system = partition.system(number)
            if system.recipe_id is None and host.lab_controller in (None, system.lab_controller):
                yield host, number


def contested(seed: int) -> Iterator[World]:
    """Yield a lab with few systems and many sets, after each change and each answer."""
    chance, world = Random(seed), one_lab()
    world.add_idle(*SYSTEMS)
    for _ in range(120):
        with suppress(Refused):
            chance.choice(ACTS)(chance, world)
        yield world
        while chance.random() < 0.6 and (decisions := world.decide(limit=1)):
            world.commit_decisions(decisions, world.position)
            yield world


def _submit(chance: Random, world: World) -> None:
    hosts = [named(*chance.sample(SYSTEMS, chance.randrange(1, 4))) for _ in range(chance.randrange(1, 5))]
    world.submit_set(hosts, priority=chance.choice(("Normal", "High")))


def _end(chance: Random, world: World) -> None:
    if started := world.in_state("waiting"):
        world.abort(chance.choice(started).recipe_id)


def _cancel(chance: Random, world: World) -> None:
    if waiting := world.in_state("queued", "assigned", "scheduled"):
        world.cancel(chance.choice(waiting).recipe_id)


def _condition(chance: Random, world: World) -> None:
    world.set_condition(
        chance.choice(SYSTEMS), chance.choice(("Automated", "Automated", "Automated", "Broken", "Broken"))
    )


ACTS = (_submit, _submit, _submit, _end, _end, _end, _end, _condition, _condition, _cancel)


def compare(worlds: Iterable[World]) -> Counter[str]:
    """Return how often each case occurred."""
    seen: Counter[str] = Counter()
    for world in worlds:
        _compare(world, seen)
        check_indexes(world.partition)
    return seen


def _compare(world: World, seen: Counter[str]) -> None:
    for host, number in grants(world.partition):
        safe, why = recomputed_safety(world.partition, host, number)
        assert is_safe(world.partition, host, number) == safe, f"{host.subject}, system {number}: {why}"
        seen[why] += 1


def test_is_safe__any_history__equals_recomputation() -> None:
    seen: Counter[str] = Counter()
    for seed in range(10):
        seen.update(compare(contested(seed)))
    counts = (
        "last of its set",
        "hopeless",
        "comes first",
        "safe",
        "unsafe",
        "unsafe while somebody has to let go",
    )
    assert all(seen[why] for why in counts), seen


@pytest.mark.parametrize("forgets", ["_changed", "clear"])
def test_is_safe__cache_never_invalidated__differs(monkeypatch: pytest.MonkeyPatch, forgets: str) -> None:
    # Shows that the test above can fail.
    monkeypatch.setattr(Holders, forgets, lambda *_: None)
    with pytest.raises((AssertionError, KeyError)):
        for seed in range(10):
            compare(contested(seed))
