"""A partition begun from a snapshot is the one it was taken of."""

from __future__ import annotations

from random import Random

import orjson
import pytest

from domain.scheduling import snapshot
from domain.scheduling.decide import decide
from domain.scheduling.labs import Labs
from domain.scheduling.partition import Partition
from domain.scheduling.snapshot import pieces, restored
from tests.domain.scheduling.contents import check_indexes, contents
from tests.domain.scheduling.effort import lab_of
from tests.domain.scheduling.history import begin, burst


def begun_from(partition: Partition) -> Partition:
    return restored(orjson.loads(orjson.dumps(piece)) for piece in pieces(partition))


@pytest.mark.parametrize("seed", range(5))
def test_restored__at_any_commit__knows_and_decides_the_same(seed: int) -> None:
    chance, world = Random(seed), begin(seed)
    for _ in range(20):
        burst(chance, world)
        while decisions := world.decide(limit=3):
            other = begun_from(world.partition)
            check_indexes(other)
            assert contents(other)["filters"] == contents(world.partition)["filters"]
            assert decide(other, 3) == decisions
            world.commit_decisions(decisions, world.position)
        world.settle()


def test_pieces__partition_goes_on_between_them__tell_of_when_they_were_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(snapshot, "PIECE_SIZE", 3)
    world = lab_of(20, busy=False, queued=20)
    at_once = orjson.dumps([*pieces(world.partition)])
    one_by_one = []
    for piece in pieces(world.partition):
        one_by_one.append(piece)
        world.commit_decisions(world.decide(limit=2), world.position)
        world.describe(f"m{len(one_by_one):05}", memory_mb=1)
    assert orjson.dumps([*pieces(world.partition)]) != at_once
    assert orjson.dumps(one_by_one) == at_once
    assert contents(restored(orjson.loads(at_once)))["systems"]


def test_restored__no_filter_was_asked_for_yet__no_system_is_held_against_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = lab_of(20, busy=True, queued=20)
    made: list[Labs] = []
    alone = Labs.alone

    def counted(self: Labs, *arguments: object) -> Labs:
        made.append(self)
        return alone(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Labs, "alone", counted)
    other = begun_from(world.partition)
    assert (other.effort.evaluations, made) == (0, [])
    # Afterwards it follows what changes.
    recipe = next(iter(world.in_state("queued")))
    assert other.viable(other.sets.recipes[recipe.recipe_id]) == world.partition.viable(recipe)
    world.describe("m00003", memory_mb=1)
    other.apply(world.log[-1])
    assert other.viable(other.sets.recipes[recipe.recipe_id]) == world.partition.viable(recipe)
    assert made == [world.partition.labs, other.labs]
