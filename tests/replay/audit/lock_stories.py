"""Beginnings of stories with resource locks: sets that hold them, and sets that wait for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain.events import Batch
from domain.scheduling.decisions.decide import POLICY_VERSION
from tests.replay.audit.moves import (
    NO_LOCKS,
    Locks,
    Pair,
    configured,
    grant,
    only,
    place,
    scheduled,
    start,
    waiting,
)
from tests.replay.audit.story import Story

X: Locks = {"network": {"Exclusive": ["x"]}}
X_SHARED: Locks = {"network": {"Shared": ["x"]}}
Y: Locks = {"network": {"Exclusive": ["y"]}}
Y_SHARED: Locks = {"network": {"Shared": ["y"]}}
XY: Locks = {"network": {"Exclusive": ["x", "y"]}}
WHOLE_LAB: Locks = {"whole_lab": True}


def lab(**configuration: Any) -> Story:
    """Return a story: a, b, d and e are idle in lab-1, f and g in lab-2."""
    story = Story()
    story.labs("lab-1", "lab-2")
    story.tree(1, "lab-1", "lab-2")
    story.idle("a", "b", "d", "e")
    story.idle("f", "g", lab="lab-2")
    if configuration:
        story.commit(configured(**configuration))
    return story


def comes(story: Story, number: int, fqdn: str, locks: Locks, gets: Locks | None, **beside: Any) -> None:
    """Submit a set of one recipe, which gets a system at once, and locks; None if it waits for these."""
    lab_of = "lab-2" if fqdn in "fg" else "lab-1"
    story.job(number, {number: only(fqdn)}, locks=locks, **beside)
    story.batch(place(number, fqdn, lab_of, gets))


def holder(held: Locks = X, **configuration: Any) -> Story:
    """Return a story: recipe 1 has started on a, and holds these locks."""
    story = lab(**configuration)
    comes(story, 1, "a", held, held)
    return story


def two_wait(**second: Any) -> Story:
    """Return a story: recipe 1 holds x; recipe 2 on b waits for x, and after it recipe 3 on d."""
    story = holder()
    comes(story, 2, "b", X, None)
    comes(story, 3, "d", X, None, **second)
    return story


def set_of_two_waits(story: Story | None = None, *, gets: bool = False) -> Story:
    """Set 2 has recipe 2 with the guest 4, and recipe 3. All three declare locks with own names."""
    story = holder() if story is None else story
    own = {"network": {"Exclusive": ["x"]}, "system": {"Shared": ["$system", "s"]}}
    profile = {"network": {"Exclusive": ["x"]}, "system": "UnknownShared"}
    story.job(2, {2: only("b"), 3: only("d")}, guests={4: 2}, locks=own, profile=profile)
    granted = [*grant(2, "b"), *grant(3, "d"), scheduled(4, "b")]
    taken = (on("b"), on("d"), NO_LOCKS) if gets else (None, None, None)
    story.batch([*granted, *start(2, "b", taken[0]), *start(3, "d", taken[1]), waiting(4, "b", taken[2])])
    return story


def on(fqdn: str) -> Locks:
    """Return the locks of a recipe of the set of two."""
    return {"network": {"Exclusive": ["x"]}, "system": {"Shared": [fqdn, "s"]}}


def after_the_batch(story: Story, decision: list[Pair], change: Callable[[], None]) -> None:
    """Change something after the triggers of a batch were collected, before this decision of the batch."""
    upto = story.end
    change()
    story.decide(decision, policy=POLICY_VERSION, batch=Batch(upto, upto, None))


def name_of(made: Callable[..., object]) -> str:
    return made.__name__
