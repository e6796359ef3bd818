"""Events of claims in stories, and a story in which a recipe may claim a system."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from domain.recipe.events import RecipeClaimed, RecipeClaimEnded
from tests.replay.audit.moves import Pair, configured, only, place
from tests.replay.audit.story import Story

TICK = timedelta(seconds=30)
FORCED: dict[str, Any] = {"force": "a"}
CLAIM_SETTINGS = {"after_ticks": 2, "for_ticks": 3}
LOW: dict[str, Any] = {"field": "priority", "op": "=", "value": "Low"}


def claimed(number: int, fqdn: str = "a", *, forced: bool = True) -> Pair:
    return f"recipe/{number}", RecipeClaimed(system=fqdn, forced=forced)


def claim_ended(number: int, reason: str, fqdn: str = "a") -> Pair:
    return f"recipe/{number}", RecipeClaimEnded(system=fqdn, reason=reason)


def busy_lab(*sections: Pair) -> Story:
    """Return a story: recipe 1 waits on a, b is idle; 2, Urgent, and 3 want a; 4, Low, forces a.

    Recipes claim systems when they have waited 2 ticks, for 3 ticks.
    """
    story = Story()
    story.labs("lab-1")
    story.tree(1, "lab-1")
    story.commit(*sections or [configured(claims=CLAIM_SETTINGS)])
    story.idle("a", "b")
    story.job(1, {1: only("a")})
    story.batch(place(1, "a"))
    story.queue(2, {2: only("a")}, "Urgent")
    story.queue(3, {3: only("a")})
    story.queue(4, {4: FORCED}, "Low")
    return story


def claimed_lab(*sections: Pair) -> Story:
    """Return the story of `busy_lab`, in which recipe 4 claims a, and then recipe 1 ends."""
    story = busy_lab(*sections)
    story.batch([claimed(4)])
    story.complete(1, "a")
    return story


def aged_lab() -> Story:
    """Return the story of `busy_lab`, in which recipe 2 claims a by its age."""
    story = busy_lab()
    pass_ticks(story, 2)
    by_timer(story, 2, claimed(2, forced=False))
    return story


def pass_ticks(story: Story, count: float) -> None:
    story.now += count * TICK
    story.recorded_at += count * TICK


def by_timer(story: Story, number: int, *pairs: Pair) -> None:
    """Append a decision of the timer of the claim of a recipe."""
    story.batch(list(pairs), cause=f"timer/claim/{number}")
