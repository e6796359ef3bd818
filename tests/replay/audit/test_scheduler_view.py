"""The view of the scheduler that the audit keeps, and people who do no harm."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest

from replay.audit.facts import facts_of
from replay.audit.matching import unplaced_hosts
from replay.audit.queues import AFTER_ALL
from replay.audit.ranking import eligible_recipes, rank_on
from replay.audit.record import Commit, from_recorded
from replay.audit.requirement import judge as answer
from replay.audit.safety import could_take_safely, is_safe, stuck_holders
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from replay.audit.values import Recipe, System
from tests.domain.scheduling.policies import group, user
from tests.replay.audit.access_events import (
    given_back,
    group_is_now,
    group_made,
    group_removed,
    into_pool,
    lent,
    out_of_pool,
    own_policy,
    owned_by,
    pool_policy,
)
from tests.replay.audit.moves import LAB, Pair, assigned, grant, only
from tests.replay.audit.people_histories import lived
from tests.replay.audit.story import Story

SEEDS = range(3)
EVERY = 12


def folded(history: list[Commit]) -> SchedulerView:
    view = SchedulerView()
    for commit in history:
        fold(view, commit)
    return view


def fold(view: SchedulerView, commit: Commit) -> None:
    for record in commit.records:
        view.apply(record)


def moments() -> Iterator[tuple[SchedulerView, SystemMatcher, SchedulerView]]:
    """Yield checkpoints: a view and its matcher that went through all of a history, and a new view."""
    for seed in SEEDS:
        view, history = SchedulerView(), lived(seed)
        matcher = SystemMatcher(view)
        for number, commit in enumerate(history):
            fold(view, commit)
            if number % EVERY == 0:
                yield view, matcher, folded(history[: number + 1])


def searched(world: SchedulerView, system: System) -> Iterator[int]:
    """Search for the recipes that could take a system: the first one of each need."""
    waiting = [
        recipe
        for recipe in world.recipes.values()
        if recipe.state in ("queued", "assigned") and not recipe.is_guest
    ]
    needs = set()
    matcher = SystemMatcher(world)
    ranks = {
        recipe.recipe_id: rank_on(world, matcher, recipe, system, bound_first=False) for recipe in waiting
    }
    for recipe in sorted(waiting, key=lambda one: (ranks[one.recipe_id], one.recipe_id)):
        need = recipe.state, world.representative(recipe.submitter), world.need(recipe)
        if need not in needs and _could_take(world, recipe, system):
            needs.add(need)
            yield recipe.recipe_id


def _could_take(world: SchedulerView, recipe: Recipe, system: System) -> bool:
    """Compute the answer without any cache."""
    if not SystemMatcher(world).could_take(recipe, system):
        return False
    asked = json.loads(recipe.requirements.host_requires)
    assert answer(asked, facts_of(world.document(system))) is True
    if unplaced_hosts(world, recipe.set_id) == [recipe]:
        return True
    with world.tentatively():
        for member in world.members(recipe.set_id):
            if member.recipe_id == recipe.recipe_id:
                world.put_recipe(member.with_state("scheduled", system.fqdn, system.lab))
        return not stuck_holders(world, SystemMatcher(world), system.lab)


def test_eligible_recipes__any_moment__are_those_that_a_search_finds() -> None:
    found = 0
    for view, matcher, plain in moments():
        for fqdn, system in plain.systems.items():
            said = {recipe.recipe_id for recipe in eligible_recipes(view, matcher, view.systems[fqdn])}
            assert said == set(searched(plain, system))
            found += len(said)
    assert found, "the history has nobody who could take anything"


def test_grant__to_each_waiting_recipe__is_as_safe_as_without_caches() -> None:
    answers = set()
    for view, matcher, plain in moments():
        for recipe in list(plain.recipes.values()):
            if recipe.state in ("queued", "assigned") and not recipe.is_guest:
                for system in plain.systems.values():
                    said = could_take_safely(view, matcher, recipe, system)
                    assert said is _could_take(plain, recipe, system)
                    answers.add((said, matcher.could_take(recipe, system)))
    assert answers >= {(True, True), (False, True), (False, False)}, "the history was too calm"


TABLES = (
    *("recipes", "finished", "sets", "systems", "enabled", "pools", "recipes_on", "holder_versions"),
    *("policies", "people", "former_people", "removed_groups"),
)
INDEXES = ("systems_of", "holding", "held")


def snapshot_of(view: SchedulerView) -> dict[str, object]:
    """Return the whole content of a view as comparable values."""
    lines = {
        lab: sorted(
            (str(who), rank)
            for who, line in view.queues[lab]
            for need in line.needs(-1, AFTER_ALL)
            for rank in line.ranks_of(need)
        )
        for lab in (None, *view.systems_of)
    }
    tables = {name: {key: repr(value) for key, value in getattr(view, name).items()} for name in TABLES}
    indexes = {
        name: {lab: dict(held) for lab, held in getattr(view, name).items() if held} for name in INDEXES
    }
    waiting = {str(who): set(numbers) for who, numbers in view._in_queue.items()}
    return {
        **tables,
        **indexes,
        "waiting": waiting,
        "lines": {lab: ranks for lab, ranks in lines.items() if ranks},
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_tentatively__the_rest_of_a_history__leaves_no_trace(seed: int) -> None:
    history = lived(seed)
    middle = len(history) // 2
    view, untouched = folded(history[:middle]), folded(history[:middle])
    assert snapshot_of(view) == snapshot_of(untouched)
    with view.tentatively():
        for commit in history[middle:]:
            with view.tentatively():
                fold(view, commit)
            fold(view, commit)
        assert snapshot_of(view) != snapshot_of(untouched)
    assert snapshot_of(view) == snapshot_of(untouched)


@pytest.mark.parametrize(
    ("lost", "regained"),
    [
        (group_is_now("qe"), group_is_now("qe", "bob")),
        (pool_policy("big", user("eve")), pool_policy("big", user("bob"))),
        (lent("b", "eve"), given_back("b")),
        (lent("b", "eve"), lent("b", "bob")),
        (pool_policy("big"), own_policy("b", user("bob"))),
        (out_of_pool("big", "b"), into_pool("big", "b")),
        (group_removed("qe"), owned_by("b", "bob")),
    ],
    ids=str,
)
def test_is_safe__access_is_lost_and_regained__follows(lost: Pair, regained: Pair) -> None:
    """Check a set of bob for qe that holds a and wants b, which is in the pool of qe."""
    story = Story()
    story.labs(LAB)
    story.tree(1, LAB)
    story.idle("a", "b")
    for pair in _begin():
        story.commit(pair)
    story.job(1, {1: only("a"), 2: only("b")}, owner="bob", group="qe")
    story.decide([*grant(1, "a"), assigned(2)])
    view = SchedulerView()
    matcher = SystemMatcher(view)
    for pairs, safe in (([], True), ([lost], False), ([regained], True)):
        begin = len(story.log)
        for pair in pairs:
            story.commit(pair)
        for record in from_recorded(story.log[begin if pairs else 0 :]):
            view.apply(record)
        assert is_safe(view, matcher, LAB) is safe


def _begin() -> Sequence[Pair]:
    own = own_policy("b", user("eve"))
    return group_made("qe", "bob"), own, pool_policy("big", group("qe")), into_pool("big", "b")
