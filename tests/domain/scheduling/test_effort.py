"""What a trigger costs does not depend on the size of the lab, nor on the depth of the queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from domain.scheduling.filters import FilterKey, Filters, Rank
from domain.scheduling.labs import numbers_in
from tests.domain.scheduling.effort import FILTERS, Cost, cost_of, lab_of, new_job, system_freed
from tests.domain.scheduling.world import World

# A system may be wanted by every filter: it is offered to each when it goes idle, and each is asked for its
# first recipe when it is pending. Twice, because what was decided is supposed, taken back and then read.
ROWS = 3 * len(FILTERS)
# Lines may differ a little, by the length of way through heaps and the like.
TOLERANCE = 1.1

CASES = [
    # Everybody finds a system at once.
    pytest.param(lambda k: lab_of(100 * k, busy=False), new_job, id="new-job-idle-lab"),
    # Nobody does, and the queue is long.
    pytest.param(lambda k: lab_of(50 * k, busy=True, queued=100 * k), new_job, id="new-job-busy-lab"),
    # Recipes end, others take their systems.
    pytest.param(
        lambda k: lab_of(50 * k, busy=True, queued=100 * k), system_freed, id="pending-system-deep-queue"
    ),
    # Recipes end, and nobody waits: the idle pool grows.
    pytest.param(lambda k: lab_of(100 * k, busy=True), system_freed, id="pending-system-no-queue"),
]


def hold_to_bounds(small: Cost, large: Cost) -> None:
    assert small.evaluations == large.evaluations == 0, "a known filter is held against the lab again"
    assert max(small.rows, large.rows) <= ROWS, f"rows per trigger: {small.rows}, {large.rows}"
    assert large.lines <= TOLERANCE * small.lines, f"lines per trigger: {small.lines}, {large.lines}"


@pytest.mark.parametrize(("build", "trigger"), CASES)
def test_trigger__lab_and_queue_ten_times_as_large__costs_the_same(
    build: Callable[[int], World], trigger: Callable[[World], None]
) -> None:
    hold_to_bounds(cost_of(trigger, build(1)), cost_of(trigger, build(10)))


def test_new_filter__lab_ten_times_as_large__is_evaluated_once() -> None:
    for size in (10, 100):
        world = lab_of(size, busy=True)
        before = world.partition.effort.evaluations
        for _ in range(5):
            world.submit('{"element":"system_type","op":"==","value":"Machine"}')
            world.settle()
        assert world.partition.effort.evaluations == before + 1


# Schedulers that scan, to show that the bounds bite.


def _scanning_lab(self: Filters, key: FilterKey) -> str | None:
    viable = self.viable(key) & self._idle_bits
    return min((self._lab.names[number] for number in numbers_in(viable)), default=None)


def _scanning_queue(self: Filters, fqdn: str) -> Iterator[Rank]:
    number = self._lab.number(fqdn)
    for entry in self._entries.values():
        for rank in sorted(entry.queue._members):
            self._effort.rows += 1
            if self.viable(entry.key) >> number & 1:
                yield rank


SCANNING = [
    # Every idle system is looked at; it does not even count its rows.
    pytest.param("first_idle", _scanning_lab, CASES[0], id="lab"),
    # Every queued recipe is looked at.
    pytest.param("heads_for", _scanning_queue, CASES[2], id="queue"),
]


@pytest.mark.parametrize(("method", "scanning", "case"), SCANNING)
def test_bounds__planted_scan__are_broken(
    monkeypatch: pytest.MonkeyPatch, method: str, scanning: object, case: object
) -> None:
    build, trigger = case.values  # type: ignore[attr-defined]
    small, large = build(1), build(10)
    monkeypatch.setattr(Filters, method, scanning)
    with pytest.raises(AssertionError, match="per trigger"):
        hold_to_bounds(cost_of(trigger, small), cost_of(trigger, large))
