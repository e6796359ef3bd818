"""The audit's search by weight, beside the plain definition: nobody who ranks before is left out."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from replay.audit.ranking import eligible_by_weight, rank_on
from replay.audit.record import from_recorded
from replay.audit.safety import could_take_safely
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from replay.audit.weights import weights_at
from tests.replay.audit.moves import Locks, assigned, only
from tests.replay.audit.weighed_lab import HEAVY, LIGHT, lab, passes

OTHER: Locks = {"network": {"Exclusive": ["y"]}, "pool": "AllShared"}
WAITING = st.tuples(
    st.sampled_from(("Low", "Normal", "Urgent")),
    st.sampled_from((LIGHT, HEAVY, OTHER, {"whole_lab": True})),
    st.sampled_from((("a",), ("b",), ("a", "b"), ("m",))),
    st.integers(0, 20),
    st.booleans(),
)


@given(st.lists(WAITING, min_size=1, max_size=12), st.sampled_from((HEAVY, OTHER)), st.data())
def test_eligible_by_weight__before_any_recipe__are_those_that_a_plain_search_finds(
    waiting: list[Any], placed: Locks, data: st.DataObject
) -> None:
    """Recipe 1 runs on a, and 10 on b; the others wait, alone or as sets of two.

    Some sets were assigned to the lab in this batch.
    """
    story = lab(placed)
    sets: list[list[int]] = []
    for number, (priority, locks, names, ticks, has_two) in enumerate(waiting, start=20):
        passes(story, ticks)
        sets.append([2 * number, 2 * number + 1] if has_two else [2 * number])
        story.queue(number, dict.fromkeys(sets[-1], only(*names)), priority, locks=locks)
    newly = data.draw(st.sets(st.sampled_from(range(len(sets)))))
    story.decide(*([assigned(number) for number in sets[index]] for index in newly))
    view = SchedulerView()
    for record in from_recorded(story.log):
        view.before_event(record, in_batches=True)
        view.apply(record)
    weights, matcher = weights_at(view, story.now), SystemMatcher(view)
    assert weights is not None, "recipe 10 declares locks"
    for fqdn in "ab":
        system = view.systems[fqdn]
        queued = [recipe for recipe in view.recipes.values() if recipe.recipe_id >= 40]
        for bound_first in (False, True):
            ranks = {
                recipe.recipe_id: rank_on(
                    view, matcher, recipe, system, bound_first=bound_first, weights=weights
                )
                for recipe in queued
            }
            could = {r.recipe_id for r in queued if could_take_safely(view, matcher, r, system)}
            for before in ranks.values():
                found = {
                    each.recipe_id for each in eligible_by_weight(view, matcher, system, before, weights)
                }
                assert found == {number for number in could if ranks[number] < before}
