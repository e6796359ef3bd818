"""Queue jumps by effective priority (seed 004): all of them are found, and nothing else."""

from __future__ import annotations

from itertools import pairwise

import pytest

from domain.events import Batch
from tests.domain.scheduling.policies import everybody, group, user
from tests.replay.audit.access_events import (
    group_is_now,
    group_made,
    into_pool,
    lent,
    own_policy,
    pool_policy,
)
from tests.replay.audit.moves import Pair, assigned, cancelled, configured, grant, only, place, start
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import Story

Asked = tuple[str, str | None]
"""The priority of a job, and its group."""

OURS, THEIRS = "ours", "theirs"


def lab() -> Story:
    """Return a story: recipe 1 runs on a in the pool big, where `ours` may be Urgent and all others
    Medium.
    """
    story = opening()
    story.commit(cancelled(2))
    story.commit(group_made(OURS, "bob"))
    story.commit(group_made(THEIRS, "bob"))
    story.commit(into_pool("big", "a"))
    story.commit(pool_policy("big", group(OURS), everybody("Medium")))
    return story


def waits(
    story: Story, number: int, priority: str, whose: str | None, owner: str = "bob", system: str = "a"
) -> None:
    story.queue(number, {number: only(system)}, priority, owner=owner, group=whose)


def takes_a(story: Story, number: int) -> None:
    """Free system a and give it to this recipe."""
    story.complete(1, "a")
    story.decide(place(number, "a"))


def granted(first: Asked, second: Asked, *, jump: bool) -> Story:
    """Return a story: two recipes wait in this order, and the second gets a, or with `jump` the first."""
    story = lab()
    for number, (priority, name) in ((11, first), (12, second)):
        waits(story, number, priority, name)
    takes_a(story, 12 if jump else 11)
    return story


# The first table of seed 004, from the top: (effective, nominal) on such a system.
ROWS: list[Asked] = [
    ("Urgent", OURS),
    ("High", OURS),
    ("Normal", OURS),
    ("Urgent", THEIRS),
    ("High", None),
    ("Normal", THEIRS),
    ("Medium", OURS),
    ("Low", THEIRS),
]
PAIRS = [(first, second) for place_, first in enumerate(ROWS) for second in ROWS[place_ + 1 :]]


@pytest.mark.parametrize(("before", "behind"), PAIRS)
def test_nobody_jumped__past_recipe_of_higher_rank__is_found(before: Asked, behind: Asked) -> None:
    """The later row passes over the earlier one, whichever was submitted first."""
    for first, second in ((before, behind), (behind, before)):
        story = granted(first, second, jump=second == behind)
        winner, loser = ("recipe/12", "recipe/11") if second == behind else ("recipe/11", "recipe/12")
        assert_caught(story, "nobody_jumped", winner, loser, "system/a", beside={"nobody_jumped"})


@pytest.mark.parametrize(("before", "behind"), PAIRS)
def test_nobody_jumped__by_effective_priority__no_violation(before: Asked, behind: Asked) -> None:
    for first, second in ((before, behind), (behind, before)):
        assert _about(granted(first, second, jump=second == before), {"recipe/11", "recipe/12"}) == []


def _about(story: Story, subjects: set[str]) -> list[str]:
    return [str(found) for found in story.violations() if subjects <= set(found.subjects)]


def test_nobody_jumped__same_row__is_by_submission() -> None:
    assert _about(granted(("High", THEIRS), ("High", None), jump=False), {"recipe/11"}) == []
    assert_caught(granted(("High", THEIRS), ("High", None), jump=True), "nobody_jumped", "recipe/11")
    # Medium in `ours` is effective Medium, as for the others.
    assert_caught(granted(("Medium", THEIRS), ("Medium", OURS), jump=True), "nobody_jumped", "recipe/11")


def test_nobody_jumped__in_words__names_both_priorities() -> None:
    story = granted(("Normal", OURS), ("Urgent", THEIRS), jump=True)
    (found,) = story.violations()
    assert "recipe/11 (Normal), which ranks before recipe/12 (Urgent, there Medium)" in found.what


def test_nobody_jumped__elsewhere__nominal_priorities_count() -> None:
    """System b is in no pool, and open to everybody."""
    story = lab()
    story.job(10, {10: only("b")}, owner="bob")
    story.decide(place(10, "b"))
    waits(story, 11, "Normal", OURS, system="b")
    waits(story, 12, "Urgent", THEIRS, system="b")
    story.complete(10, "b")
    story.decide(place(11, "b"))
    assert_caught(story, "nobody_jumped", "recipe/11", "recipe/12")


def test_nobody_jumped__two_pools__the_highest_of_both_counts() -> None:
    story = lab()
    story.commit(into_pool("small", "a"))
    story.commit(pool_policy("small", group(THEIRS, "High")))
    waits(story, 11, "Normal", OURS)
    waits(story, 12, "Urgent", THEIRS)
    takes_a(story, 11)
    assert_caught(story, "nobody_jumped", "recipe/11", "recipe/12")


def test_nobody_jumped__an_entry_of_their_own__counts_beside_that_of_the_group() -> None:
    story = lab()
    story.commit(pool_policy("big", user("eve", "High"), group(THEIRS, "Normal"), everybody("Low")))
    waits(story, 11, "High", THEIRS)
    waits(story, 12, "High", THEIRS, owner="eve")
    takes_a(story, 11)
    assert_caught(story, "nobody_jumped", "recipe/11", "recipe/12")


def test_nobody_jumped__owner_without_an_entry__is_not_capped() -> None:
    story = lab()
    story.commit(pool_policy("big", group(THEIRS, "Medium")))
    waits(story, 11, "High", THEIRS)
    waits(story, 12, "Normal", None, owner="ada")
    takes_a(story, 11)
    assert_caught(story, "nobody_jumped", "recipe/11", "recipe/12")


BOUND_TAKES_B = [*grant(22, "b"), *start(21, "d"), *start(22, "b")]
URGENT_TAKES_B = place(23, "b")


def bound_low_and_urgent(*orders: str) -> Story:
    """Return a story: 22 of a Low set that holds d, and Urgent 23 wait for b, which is pending now.

    The partition was configured to these orders, one after the other.
    """
    story = opening()
    story.commit(cancelled(2))
    story.idle("d")
    story.job(20, {20: only("b")})
    story.decide(place(20, "b"))
    story.job(21, {21: only("d"), 22: only("b")}, "Low")
    story.decide([*grant(21, "d"), assigned(22)])
    story.queue(23, {23: only("b")}, "Urgent")
    for assigned_first in orders:
        story.commit(configured(order={"assigned_first": assigned_first}))
    story.complete(20, "b")
    return story


def next_batch(story: Story, decision: list[Pair], policy: int = 6, basis: int | None = None) -> None:
    end = story.end if basis is None else basis
    story.decide(decision, policy=policy, basis=end, batch=Batch(end, end, None))


WITHIN_PRIORITY: list[tuple[str, ...]] = [(), ("within_priority",), ("always", "within_priority")]
ALWAYS: list[tuple[str, ...]] = [("always",), ("within_priority", "always")]


@pytest.mark.parametrize("orders", WITHIN_PRIORITY)
def test_nobody_jumped__priorities_first__bound_recipe_jumps(orders: tuple[str, ...]) -> None:
    story = bound_low_and_urgent(*orders)
    next_batch(story, BOUND_TAKES_B)
    assert_caught(story, "nobody_jumped", "recipe/22", "recipe/23", "system/b")
    story = bound_low_and_urgent(*orders)
    next_batch(story, URGENT_TAKES_B)
    assert story.violations() == []


@pytest.mark.parametrize("orders", ALWAYS)
def test_nobody_jumped__bound_recipes_always_first__urgent_one_jumps(orders: tuple[str, ...]) -> None:
    story = bound_low_and_urgent(*orders)
    next_batch(story, URGENT_TAKES_B)
    assert_caught(story, "nobody_jumped", "recipe/22", "recipe/23", "system/b")
    story = bound_low_and_urgent(*orders)
    next_batch(story, BOUND_TAKES_B)
    assert story.violations() == []


@pytest.mark.parametrize("orders", [*WITHIN_PRIORITY, *ALWAYS])
def test_nobody_jumped__policy_before_the_order_was_configurable__bound_recipe_is_first(
    orders: tuple[str, ...],
) -> None:
    story = bound_low_and_urgent(*orders)
    next_batch(story, URGENT_TAKES_B, policy=5)
    assert_caught(story, "nobody_jumped", "recipe/22", "recipe/23", "system/b")


def test_nobody_jumped__configured_after_the_basis__the_order_at_the_basis_counts() -> None:
    for decision, is_jump in ((URGENT_TAKES_B, False), (BOUND_TAKES_B, True)):
        story = bound_low_and_urgent()
        basis = story.end
        story.commit(configured(order={"assigned_first": "always"}))
        next_batch(story, decision, basis=basis)
        assert [found.invariant for found in story.violations()] == ["nobody_jumped"] * is_jump


def left(taker: int) -> Story:
    """Return a story: the owner of recipe 11 leaves `ours` after a came free; recipe 12 is High there."""
    story = lab()
    waits(story, 11, "Urgent", OURS)
    story.commit(group_made("hers", "eve"))
    story.commit(pool_policy("big", group(OURS), group("hers", "High"), everybody("Medium")))
    waits(story, 12, "High", "hers", owner="eve")
    story.complete(1, "a")
    story.commit(group_is_now(OURS))
    story.decide(place(taker, "a"))
    return story


def test_nobody_jumped__left_the_group_while_waiting__stands_where_everybody_does() -> None:
    assert _about(left(taker=12), {"recipe/11"}) == []
    assert_caught(left(taker=11), "nobody_jumped", "recipe/11", "recipe/12")


def test_nobody_jumped__policy_changed_while_waiting__new_policy_counts() -> None:
    story = lab()
    waits(story, 11, "Urgent", THEIRS)
    waits(story, 12, "Normal", OURS)
    story.complete(1, "a")
    basis = story.end
    story.commit(pool_policy("big", everybody()))
    story.decide(place(12, "a"), basis=basis)
    assert _about(story, {"recipe/11"}) == []
    story.complete(12, "a")
    waits(story, 13, "High", OURS)
    story.decide(place(13, "a"))
    assert_caught(story, "nobody_jumped", "recipe/11", "recipe/13")


def test_nobody_jumped__past_one_that_is_assigned__is_found_however_that_is_capped() -> None:
    """A recipe whose set has a system of the lab goes first, whatever its effective priority."""
    story = lab()
    story.job(11, {11: only("b"), 12: only("a")}, "Low", owner="bob", group=THEIRS)
    story.decide([*grant(11, "b"), assigned(12)])
    waits(story, 13, "Urgent", OURS)
    takes_a(story, 13)
    assert_caught(story, "nobody_jumped", "recipe/13", "recipe/12", "system/a")


def test_nobody_jumped__two_assigned__are_by_effective_priority() -> None:
    story = lab()
    story.idle("e", "f")
    story.job(11, {11: only("b"), 12: only("a")}, "Urgent", owner="bob", group=THEIRS)
    story.decide([*grant(11, "b"), assigned(12)])
    story.job(13, {13: only("e"), 14: only("a")}, "Normal", owner="bob", group=OURS)
    story.decide([*grant(13, "e"), assigned(14)])
    takes_a(story, 12)
    assert_caught(
        story,
        "nobody_jumped",
        "recipe/12",
        "recipe/14",
        "system/a",
        beside={"nobody_jumped", "starts_together"},
    )


@pytest.mark.parametrize("policy", [2, 3])
def test_nobody_jumped__by_a_policy_of_nominal_priorities__is_judged_by_them(policy: int) -> None:
    def grants(number: int) -> Story:
        story = lab()
        waits(story, 11, "Normal", OURS)
        waits(story, 12, "Urgent", THEIRS)
        story.complete(1, "a")
        story.decide(place(number, "a"), policy=policy)
        return story

    assert _about(grants(12), {"recipe/11"}) == []
    assert_caught(grants(11), "nobody_jumped", "recipe/11", "recipe/12")


def test_nobody_jumped__many_of_many_people__in_the_order_of_the_second_table() -> None:
    """Each neighbouring pair of rows (effective, nominal) in the wrong order is found."""
    nominal = ("Urgent", "High", "Normal", "Medium", "Low")
    rows = [
        (maximum, asked)
        for maximum in nominal
        for asked in nominal
        if nominal.index(asked) <= nominal.index(maximum)
    ]
    assert len(rows) == 15
    for before, behind in pairwise(rows):
        assert _between(before, behind, granted_first=True) == []
        assert _between(before, behind, granted_first=False) != []


def _between(before: tuple[str, str], behind: tuple[str, str], *, granted_first: bool) -> list[str]:
    """Submit a job for each of two groups, capped at its effective priority; the later row comes first."""
    story = opening()
    story.commit(cancelled(2))
    for number, name, row in ((11, "one", behind), (12, "two", before)):
        story.commit(group_made(name, "bob"))
        story.queue(number, {number: only("a")}, row[1], owner="bob", group=name)
    story.commit(into_pool("big", "a"))
    entries = (group("one", behind[0]), group("two", before[0]), everybody("Low"))
    story.commit(pool_policy("big", *entries))
    takes_a(story, 12 if granted_first else 11)
    return _about(story, {"recipe/11", "recipe/12"})


def test_check__much_access__goes_on_where_nothing_is_wrong() -> None:
    """Append several grants of systems that differ in their policies."""
    story = lab()
    story.commit(own_policy("b", group(THEIRS, "Low"), user("eve", "High")))
    story.commit(lent("m", "bob"))
    story.job(10, {10: only("b")}, owner="eve")
    story.decide(place(10, "b"))
    story.queue(11, {11: only("a", "b")}, "High", owner="bob", group=THEIRS)
    story.queue(12, {12: only("a", "b")}, "Normal", owner="eve")
    story.queue(13, {13: only("a", "b")}, "Medium", owner="bob", group=OURS)
    story.queue(14, {14: {"force": "m"}}, "Low", owner="eve")
    story.complete(10, "b")
    # On b recipe 12 is Normal and 11 Low; 13 may not use it.
    story.decide(place(12, "b"))
    story.complete(1, "a")
    # On a recipe 11 is Medium (nominal High), and 13 Medium (nominal Medium).
    story.decide(place(11, "a"))
    story.complete(12, "b")
    story.job(15, {15: {"force": "m"}}, owner="bob")
    story.decide(place(15, "m"))
    story.complete(11, "a")
    story.decide(place(13, "a"))
    assert story.violations() == []
