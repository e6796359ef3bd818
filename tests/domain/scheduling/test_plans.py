"""Incremental plans give the same answers as a recomputation from all holders."""

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
# A set, a system, the wants of a new set or one that lost a system, and the change.
steps = st.tuples(
    st.sampled_from(SETS),
    st.integers(0, SYSTEMS - 1),
    st.lists(bitmaps, min_size=1, max_size=3).map(tuple),
    st.sampled_from(("grow", "grow", "grow", "grow", "lose", "go")),
)


class Recomputed:
    """The present holders, without any cached plan."""

    def __init__(self) -> None:
        self.holders: dict[int, Holder] = {}

    def are_safe_with(self, holder: Holder) -> bool:
        return not stuck(list({**self.holders, holder.recipe_set_id: holder}.values()))

    def nobody_has(self, system: int) -> bool:
        return not any(each.held >> system & 1 for each in self.holders.values())


def happen(
    plans: Plans, other: Recomputed, number: int, system: int, wants: tuple[int, ...], what: str
) -> None:
    """Make one step, and compare the answers."""
    before = other.holders.get(number)
    if what == "go":
        plans.remove(number)
        other.holders.pop(number, None)
    elif what == "lose" and before is not None and before.held:
        lost = next(numbers_in(before.held))
        put(plans, other, replace(before, held=before.held & ~(1 << lost), wants=(*before.wants, wants[0])))
    elif what == "grow" and other.nobody_has(system):
        grown = Holder(number, 1 << system, wants)
        if before is not None:
            grown = Holder(number, before.held | 1 << system, before.wants[1:])
        safe = plans.plan(grown) is not None
        assert safe == other.are_safe_with(grown)
        # The query has not changed the plans.
        check_plans(plans)
        if safe:
            put(plans, other, grown)


def put(plans: Plans, other: Recomputed, holder: Holder) -> None:
    """Store a holder in both; a holder that cannot be completed is removed, because it would let go."""
    plans.remove(holder.recipe_set_id)
    safe = other.are_safe_with(holder)
    assert plans.put(holder) == safe
    other.holders.pop(holder.recipe_set_id, None)
    if safe:
        other.holders[holder.recipe_set_id] = holder


def go_through(history: list[tuple[int, int, tuple[int, ...], str]]) -> None:
    plans, other = Plans(), Recomputed()
    for number, system, wants, what in history:
        happen(plans, other, number, system, wants, what)
        check_plans(plans)
        assert plans._holders == other.holders


@given(st.lists(steps, max_size=30))
def test_plans__any_history_of_holders__equal_recomputation(
    history: list[tuple[int, int, tuple[int, ...], str]],
) -> None:
    go_through(history)


# Holder 1 has a and may take b or c; holder 2 has b and may take c or d.
TWO = [(1, 0, (B | C,), "grow"), (2, 1, (C | D,), "grow")]


@pytest.mark.parametrize("forgotten", ["_behind", "_waiting_for"])
def test_plans__without_waiting_holders__answers_differ(
    monkeypatch: pytest.MonkeyPatch, forgotten: str
) -> None:
    # Shows that the test above can fail: 3 takes c and wants the system of 1, which now has to wait for 3.
    cycle = [(1, 0, (C,), "grow"), (3, 2, (A,), "grow")]
    go_through(cycle)
    monkeypatch.setattr(module.Plans, forgotten, lambda *_: [])
    with pytest.raises(AssertionError):
        go_through(cycle)


def test_plan__waiting_holder_has_alternative__found_and_plan_changed() -> None:
    plans = Plans()
    assert plans.put(Holder(1, A, (B | C,)))
    assert plans._plans[1] == [1]
    # 2 takes b and wants a: 1, which had planned b, plans c instead.
    assert plans.plan(Holder(2, B, (A,))) == [0]
    assert plans._plans[1] == [2]


def test_plan__waiting_holder_has_no_alternative__none() -> None:
    plans = Plans()
    assert plans.put(Holder(1, A, (B,)))
    assert plans.plan(Holder(2, B, (A,))) is None
    assert plans._plans[1] == [1]


def test_plan__unrelated_holders__not_visited(monkeypatch: pytest.MonkeyPatch) -> None:
    plans = Plans()
    others = 200
    for number in range(others):
        # Each holds one system and waits for a busy one.
        assert plans.put(Holder(number, 1 << 10 + 2 * number, (1 << 11 + 2 * number,)))
    assert plans.put(Holder(others, A, (B,)))
    looked_at = []
    plan = module._plan

    def looking(holder: Holder, held: int) -> list[int] | None:
        looked_at.append(holder.recipe_set_id)
        return plan(holder, held)

    monkeypatch.setattr(module, "_plan", looking)
    # The new holder takes b and wants c, or a; a and b concern only one other holder.
    assert plans.plan(Holder(others + 1, B, (A | C,))) == [2]
    assert plans.plan(Holder(others + 1, B, (A,))) is None
    assert set(looked_at) == {others, others + 1}
