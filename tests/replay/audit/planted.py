"""The beginning and the check of tests with planted faults."""

from __future__ import annotations

from collections.abc import Iterable

from replay.audit.conservation import laws
from tests.replay.audit.moves import only, place
from tests.replay.audit.story import Story

LAWS = tuple(law.name for law in laws())


def opening() -> Story:
    """Return a story: b and, in lab-2, c are idle; m is Manual; recipe 1 waits on a, and recipe 2 for a."""
    story = Story()
    story.labs("lab-1", "lab-2")
    story.tree(1, "lab-1", "lab-2")
    story.idle("a", "b")
    story.idle("c", lab="lab-2")
    story.system("m", condition="Manual")
    story.job(1, {1: only("a")})
    story.decide(place(1, "a"))
    story.queue(2, {2: only("a")})
    return story


def assert_caught(story: Story, invariant: str, *subjects: str, beside: Iterable[str] | None = ()) -> None:
    """Check that the invariant is broken by these subjects, and no other except those in `beside` (None:
    any) and the conservation laws, which most faults break as well.
    """
    found = story.violations()
    about = [one for one in found if one.invariant == invariant and set(subjects) <= set(one.subjects)]
    assert about, f"{invariant} is not violated by {subjects}, but there are: {[str(one) for one in found]}"
    positions = {recorded.position for recorded in story.log}
    for one in about:
        assert one.positions, f"{one} names no position"
        assert set(one.positions) <= positions, f"{one} names positions that are not in the log"
    if beside is not None:
        others = [str(one) for one in found if one.invariant not in {invariant, *beside, *LAWS}]
        assert not others, f"other violations: {others}"
