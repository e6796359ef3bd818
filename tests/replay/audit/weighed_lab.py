"""Stories in which recipes with different locks wait for the system a, while locks are held beside it."""

from __future__ import annotations

from datetime import timedelta

from tests.replay.audit.moves import Locks, cancelled, only, place, queued
from tests.replay.audit.planted import opening
from tests.replay.audit.story import Story

LIGHT: Locks = {}
HEAVY: Locks = {"network": {"Exclusive": ["x"]}}
"""Locks that weigh 1 and 4 beside a placed recipe that holds HEAVY."""

TICK = timedelta(seconds=30)


def lab(placed: Locks = HEAVY) -> Story:
    """Return a story: recipe 1 runs on a and declares nothing, 10 runs on b and declares `placed`."""
    story = opening()
    story.commit(cancelled(2))
    story.job(10, {10: only("b")}, locks=placed)
    story.decide(place(10, "b", locks=placed))
    return story


def waits(story: Story, number: int, locks: Locks, profile: Locks | None = None) -> None:
    story.job(number, {number: only("a")}, locks=locks, profile=profile)
    story.decide([queued(number)])


def passes(story: Story, ticks: float) -> None:
    story.now += ticks * TICK
    story.recorded_at += ticks * TICK
