"""The audit finds windows that drain at a wrong time or override people."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta

import pytest

from domain.directory.events import MaintenanceWindowAdded, MaintenanceWindowEnded
from domain.system.events import SystemDrained, SystemMaintenanceEnded, SystemUndrained
from replay.audit import check, from_recorded
from replay.verify.recomputation import Recomputation
from tests.domain.scheduling.history import MAINTAINED, live
from tests.replay.audit.moves import Pair, pending
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import AT, Story

HOUR = timedelta(hours=1)


@pytest.mark.parametrize("seeds", [range(1), pytest.param(range(1, 20), marks=pytest.mark.soak)])
def test_histories__with_windows__are_sound_and_recomputed(seeds: Iterable[int]) -> None:
    topics: set[str] = set()
    for seed in seeds:
        log = live(seed, bursts=40, limit=3, acts=MAINTAINED).log
        topics |= {recorded.event.TOPIC for recorded in log}
        assert list(check(from_recorded(log))) == [], seed
        assert list(Recomputation().take_all(log)) == [], seed
    assert topics >= {"system.maintenance-ended", "system.undrained"}


def with_window(after: timedelta = HOUR) -> Story:
    """Return a story with a window from two hours on, with a lead of one, at a time."""
    story = opening()
    times = ((AT + number * HOUR).isoformat() for number in (2, 3))
    added = MaintenanceWindowAdded("disks", *times, 3_600, ["b"], None, None, None, "ada", "", True)
    story.commit(("maintenance-window/1", added))
    story.now = AT + after
    return story


def timer(story: Story, *pairs: Pair, cause: str = "timer/maintenance/1") -> None:
    story.decide([*pairs], cause=cause)


DRAINED = ("system/b", SystemDrained("", 1))
OVER = ("system/b", SystemMaintenanceEnded(1))
UNDRAINED = ("system/b", SystemUndrained())


def end_soon(story: Story) -> None:
    story.commit(("maintenance-window/1", MaintenanceWindowEnded(ended_at="", reason=None)))


def late(story: Story) -> None:
    story.now = AT + 3 * HOUR


def drain_by_person(story: Story) -> None:
    story.commit(("system/b", SystemDrained("fan")))


@pytest.mark.parametrize("after", [end_soon, late], ids=["ended", "late"])
def test_window__drains_and_undrains_in_time__no_violation(after: Callable[[Story], None]) -> None:
    story = with_window()
    timer(story, DRAINED)
    after(story)
    timer(story, OVER, UNDRAINED, pending("b"))
    assert story.violations() == []


@pytest.mark.parametrize("after", [HOUR - timedelta(seconds=1), 3 * HOUR])
def test_window__drains_too_early_or_late__is_found(after: timedelta) -> None:
    story = with_window(after)
    timer(story, DRAINED)
    assert_caught(story, "maintenance_in_time", "system/b")


def test_window__drains_after_its_end_by_a_person_or_without_a_timer__is_found() -> None:
    story = with_window()
    end_soon(story)
    timer(story, DRAINED)
    assert_caught(story, "maintenance_in_time", "system/b")
    story = with_window()
    story.commit(DRAINED)
    assert_caught(story, "maintenance_in_time", "system/b")


def test_window__ends_too_early__is_found() -> None:
    story = with_window()
    timer(story, DRAINED)
    timer(story, OVER, UNDRAINED, pending("b"))
    assert_caught(story, "maintenance_in_time", "system/b")


def test_window__drains_again_after_a_person_undrained__is_found() -> None:
    story = with_window()
    timer(story, DRAINED)
    story.commit(UNDRAINED)
    timer(story, DRAINED)
    assert_caught(story, "maintenance_in_time", "system/b", beside=None)


def test_window__ends_what_a_person_drained__is_found() -> None:
    story = with_window()
    timer(story, DRAINED)
    drain_by_person(story)
    late(story)
    timer(story, OVER, UNDRAINED, pending("b"))
    assert_caught(story, "maintenance_in_time", "system/b")
