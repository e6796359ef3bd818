"""A partition restored from a snapshot equals the original."""

from __future__ import annotations

from random import Random

import orjson
import pytest

from domain.scheduling.decisions.decide import decide
from domain.scheduling.demand.filters import Filters
from domain.scheduling.demand.lines import OWED
from domain.scheduling.supply.labs import Labs, PartOfLabs
from domain.scheduling.world import snapshot
from domain.scheduling.world.snapshot import pieces, restored
from tests.domain.scheduling.contents import answers, check_indexes, contents, restored_copy, snapshot_of
from tests.domain.scheduling.effort import lab_of
from tests.domain.scheduling.history import ADMITTED, QUEUED, Acts, begin, burst
from tests.domain.scheduling.host_requirements import at_least


@pytest.mark.parametrize("acts", [ADMITTED, QUEUED])
@pytest.mark.parametrize("seed", range(5))
def test_restored__at_any_commit__same_state_and_decisions(seed: int, acts: Acts) -> None:
    chance, world = Random(seed), begin(seed)
    for _ in range(20):
        burst(chance, world, acts)
        while decisions := world.decide(limit=3):
            other = restored_copy(world.partition)
            check_indexes(other)
            assert contents(other)["filters"] == contents(world.partition)["filters"]
            assert snapshot_of(other) == snapshot_of(world.partition)
            assert answers(other) == answers(world.partition)
            assert decide(other, 3) == decisions
            world.commit_decisions(decisions, world.position)
        world.settle()


def test_pieces__partition_changes_meanwhile__state_at_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_restored__filters_were_evaluated__are_not_evaluated_again() -> None:
    world = lab_of(20, busy=True, queued=20)
    other = restored_copy(world.partition)
    for recipe in world.in_state("queued"):
        host = other.sets.recipes[recipe.recipe_id]
        assert other.viable(host) == world.partition.viable(recipe) != 0
    assert other.filters.demand_counts().value(3) == world.partition.filters.demand_counts().value(3) > 0
    assert other.effort.evaluations == 0
    check_indexes(other)


def test_restored__free_filter_numbers__reused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Filters, "MAX_SPARE", 3)
    world = lab_of(5, busy=True, queued=0)
    for megabytes in range(20, 28):
        recipe_id = world.submit(at_least(megabytes).text)
        world.settle()
        if megabytes not in (21, 26):
            world.cancel(recipe_id)
            world.settle()
    numbers = [each.number for each in world.partition.filters.evaluated()]
    assert len(numbers) <= max(numbers), "some number between them is free"
    other = restored_copy(world.partition)
    check_indexes(other)
    for megabytes in range(30, 36):
        world.submit(at_least(megabytes).text)
        for recorded in world.log:
            if recorded.position > other.position:
                other.apply(recorded)
        check_indexes(other)


def test_restored__many_recipes_with_the_same_texts__share_them() -> None:
    world = lab_of(3, busy=True, queued=20)
    recipes = [*restored_copy(world.partition).sets.recipes.values()]
    for name in ("host_requires", "owner", "state"):
        by_text = {getattr(recipe, name): getattr(recipe, name) for recipe in recipes}
        assert len(recipes) > len(by_text)
        assert all(getattr(recipe, name) is by_text[getattr(recipe, name)] for recipe in recipes)


def test_restored__every_set_is_owed__waits_in_the_line_of_the_owed() -> None:
    world = lab_of(3, busy=True, queued=5)
    world.configure(order={"most_overtaken": 0})
    other = restored_copy(world.partition)
    check_indexes(other)
    recipe = next(iter(world.in_state("queued")))
    assert other.sets.places.line_of(other.sets.recipes[recipe.recipe_id]) == OWED
    world.cancel(recipe.recipe_id)
    other.apply(world.log[-1])
    check_indexes(other)


@pytest.mark.parametrize("column", ["recipe_id", "tasks", "host_requires", "state"])
def test_restored__columns_of_different_length__refused(column: str) -> None:
    made = orjson.loads(orjson.dumps([*pieces(lab_of(3, busy=True, queued=5).partition)]))
    (piece,) = (piece for piece in made if "recipes" in piece)
    piece["recipes"][column].pop()
    with pytest.raises(ValueError, match=r"shorter|longer"):
        restored(made)


def test_restored__no_filter_evaluated__no_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    world = lab_of(20, busy=True, queued=20)
    made: list[Labs] = []
    part = Labs.part

    def counted(self: Labs, systems: int) -> PartOfLabs:
        made.append(self)
        return part(self, systems)

    monkeypatch.setattr(Labs, "part", counted)
    other = restored_copy(world.partition)
    assert (other.effort.evaluations, made) == (0, [])
    # Later changes are followed.
    recipe = next(iter(world.in_state("queued")))
    assert other.viable(other.sets.recipes[recipe.recipe_id]) == world.partition.viable(recipe)
    world.describe("m00003", memory_mb=1)
    other.apply(world.log[-1])
    assert other.viable(other.sets.recipes[recipe.recipe_id]) == world.partition.viable(recipe)
    assert made == [other.labs, world.partition.labs]
