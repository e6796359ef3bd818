from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from domain.scheduling.demand.ranked import Ranked

Step = tuple[bool, int]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=200))
def test_ranked__any_changes__sorted(steps: list[Step]) -> None:
    ranked: Ranked[tuple[int, ...]] = Ranked()
    members: set[tuple[int, ...]] = set()
    for adding, number in steps:
        key = (number,)
        (ranked.add if adding else ranked.discard)(key)
        (members.add if adding else members.discard)(key)
        assert list(ranked) == sorted(members)
        assert ranked.first() == min(members, default=None)
        assert len(ranked) == len(members)
        assert (key in ranked) == adding


def test_ranked__same_key_in_and_out_a_thousand_times__heap_stays_small() -> None:
    ranked: Ranked[tuple[int, ...]] = Ranked()
    ranked.add((1,))
    for _ in range(1_000):
        ranked.discard((1,))
        ranked.add((1,))
    assert len(ranked._heap) <= 66
