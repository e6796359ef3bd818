"""Planted faults of reservations."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.replay.audit.access_events import given_back, lent, reserved, returned
from tests.replay.audit.moves import Pair, condition, idle, only, pending, place
from tests.replay.audit.planted import assert_caught, opening


def test_rightful_reservation__of_what_is_lent_to_them__no_violation() -> None:
    story = opening()
    story.commit(lent("b", "bob"))
    story.commit(*reserved("b", "bob"))
    story.commit(lent("m", "bob"))
    story.commit(*reserved("m", "bob"))
    assert story.violations() == []


def test_rightful_reservation__returned__the_queue_is_asked() -> None:
    story = opening()
    story.commit(lent("b", "bob"))
    story.commit(*reserved("b", "bob"))
    story.queue(5, {5: only("b")}, owner="bob")
    story.commit(returned("b"), pending("b"))
    story.decide(place(5, "b"))
    assert story.violations() == []


def test_the_queue_is_asked__borrower_returned_it__idle_at_once_is_found() -> None:
    story = opening()
    story.commit(lent("b", "bob"))
    story.commit(*reserved("b", "bob"))
    story.commit(returned("b"), idle("b"))
    assert_caught(story, "the_queue_is_asked", "system/b")


@pytest.mark.parametrize(
    ("before", "fqdn"),
    [
        # Automated, and without a borrower.
        ([], "b"),
        ([lent("b", "eve")], "b"),
        ([lent("b", "bob"), given_back("b")], "b"),
        ([lent("m", "eve")], "m"),
        ([condition("b", "Broken")], "b"),
        ([lent("b", "bob"), condition("b", "Removed")], "b"),
    ],
    ids=str,
)
def test_rightful_reservation__of_what_is_not_theirs_to_reserve__is_found(
    before: Sequence[Pair], fqdn: str
) -> None:
    story = opening()
    for pair in before:
        story.commit(pair)
    story.commit(*reserved(fqdn, "bob"))
    assert_caught(story, "rightful_reservation", f"system/{fqdn}")
