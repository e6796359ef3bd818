"""How tests with planted faults begin and end."""

from __future__ import annotations

from collections.abc import Iterable

from tests.replay.audit.moves import only, place
from tests.replay.audit.story import Story


def opening() -> Story:
    """Idle are b and, in lab-2, c; m is Manual. Recipe 1 waits on a, and recipe 2 for it."""
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
    """The invariant is broken by these subjects, and no other is but those named (None: any)."""
    found = story.violations()
    about = [one for one in found if one.invariant == invariant and set(subjects) <= set(one.subjects)]
    assert about, f"{invariant} is not found broken by {subjects}, but: {[str(one) for one in found]}"
    known = {recorded.position for recorded in story.log}
    for one in about:
        assert one.positions, f"{one} names no position"
        assert set(one.positions) <= known, f"{one} names positions that are not in the log"
    if beside is not None:
        others = [str(one) for one in found if one.invariant not in {invariant, *beside}]
        assert not others, f"more is found broken: {others}"
