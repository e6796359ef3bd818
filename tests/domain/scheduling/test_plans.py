"""What is known of holders from before leads to the same answers as looking at all of them anew."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.scheduling.bitsets.bitmaps import numbers_in
from domain.scheduling.safety import plans as module
from domain.scheduling.safety.completion import Holder, stuck
from domain.scheduling.safety.plans import Plans
from tests.domain.scheduling.contents import check_plans

A, B, C, D = (1 << number for number in range(4))
SYSTEMS = 7
SETS = range(1, 6)

bitmaps = st.integers(0, (1 << SYSTEMS) - 1)
# A set, a system, what it wants if it is new or has lost a system, and what happens to it.
steps = st.tuples(
    st.sampled_from(SETS),
    st.integers(0, SYSTEMS - 1),
    st.lists(bitmaps, min_size=1, max_size=3).map(tuple),
    st.sampled_from(("grow", "grow", "grow", "grow", "lose", "go")),
)


class Anew:
    """The holders as they are, without a thought of how they came to be so."""

    def __init__(self) -> None:
        self.holders: dict[int, Holder] = {}

    def are_safe_with(self, holder: Holder) -> bool:
        return not stuck(list({**self.holders, holder.recipe_set_id: holder}.values()))

    def nobody_has(self, system: int) -> bool:
        return not any(each.held >> system & 1 for each in self.holders.values())


def happen(plans: Plans, anew: Anew, number: int, system: int, wants: tuple[int, ...], what: str) -> None:
    """One step, and the same answer from both."""
    before = anew.holders.get(number)
    if what == "go":
        plans.remove(number)
        anew.holders.pop(number, None)
    elif what == "lose" and before is not None and before.held:
        lost = next(numbers_in(before.held))
        put(plans, anew, replace(before, held=before.held & ~(1 << lost), wants=(*before.wants, wants[0])))
    elif what == "grow" and anew.nobody_has(system):
        grown = Holder(number, 1 << system, wants)
        if before is not None:
            grown = Holder(number, before.held | 1 << system, before.wants[1:])
        safe = plans.plan(grown) is not None
        assert safe == anew.are_safe_with(grown)
        # Asking has changed nothing that matters.
        check_plans(plans)
        if safe:
            put(plans, anew, grown)


def put(plans: Plans, anew: Anew, holder: Holder) -> None:
    """Who cannot be completed any more is out of the picture: it would let go."""
    plans.remove(holder.recipe_set_id)
    safe = anew.are_safe_with(holder)
    assert plans.put(holder) == safe
    anew.holders.pop(holder.recipe_set_id, None)
    if safe:
        anew.holders[holder.recipe_set_id] = holder


def go_through(history: list[tuple[int, int, tuple[int, ...], str]]) -> None:
    plans, anew = Plans(), Anew()
    for number, system, wants, what in history:
        happen(plans, anew, number, system, wants, what)
        check_plans(plans)
        assert plans._holders == anew.holders


@given(st.lists(steps, max_size=30))
def test_plans__any_history_of_holders__answers_what_looking_at_all_of_them_answers(
    history: list[tuple[int, int, tuple[int, ...], str]],
) -> None:
    go_through(history)


# Holder 1 has a and may take b or c; holder 2 has b and may take c or d.
TWO = [(1, 0, (B | C,), "grow"), (2, 1, (C | D,), "grow")]


@pytest.mark.parametrize("forgotten", ["_behind", "_waiting_for"])
def test_plans__without_a_look_at_who_waits__answers_differ(
    monkeypatch: pytest.MonkeyPatch, forgotten: str
) -> None:
    # Shows that the test above would notice: 3 takes c and wants what 1 has, who now has to wait for it.
    circle = [(1, 0, (C,), "grow"), (3, 2, (A,), "grow")]
    go_through(circle)
    monkeypatch.setattr(module.Plans, forgotten, lambda *_: [])
    with pytest.raises(AssertionError):
        go_through(circle)


def test_plan__who_waits_for_it_can_do_otherwise__is_found_and_theirs_changes() -> None:
    plans = Plans()
    assert plans.put(Holder(1, A, (B | C,)))
    assert plans._plans[1] == [1]
    # 2 takes b and wants a: 1, which meant to have b, has c instead.
    assert plans.plan(Holder(2, B, (A,))) == [0]
    assert plans._plans[1] == [2]


def test_plan__who_waits_for_it_cannot__is_none() -> None:
    plans = Plans()
    assert plans.put(Holder(1, A, (B,)))
    assert plans.plan(Holder(2, B, (A,))) is None
    assert plans._plans[1] == [1]


def test_plan__holders_that_have_nothing_to_do_with_it__are_not_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plans = Plans()
    others = 200
    for number in range(others):
        # Each holds one of its own and waits for one that is busy.
        assert plans.put(Holder(number, 1 << 10 + 2 * number, (1 << 11 + 2 * number,)))
    assert plans.put(Holder(others, A, (B,)))
    looked_at = []
    plan = module._plan

    def looking(holder: Holder, held: int) -> list[int] | None:
        looked_at.append(holder.recipe_set_id)
        return plan(holder, held)

    monkeypatch.setattr(module, "_plan", looking)
    # It takes b and wants a, both of which concern one holder alone, or c.
    assert plans.plan(Holder(others + 1, B, (A | C,))) == [2]
    assert plans.plan(Holder(others + 1, B, (A,))) is None
    assert set(looked_at) == {others, others + 1}
