"""The cache of safe labs is invalidated when access changes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from replay.audit.record import from_recorded
from replay.audit.safety import is_safe
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from tests.domain.scheduling.policies import group, user
from tests.replay.audit.access_events import (
    given_back,
    group_is_now,
    group_made,
    group_removed,
    into_pool,
    lent,
    out_of_pool,
    own_policy,
    owned_by,
    pool_policy,
)
from tests.replay.audit.moves import LAB, Pair, assigned, grant, only
from tests.replay.audit.story import Story


@pytest.mark.parametrize(
    ("lost", "regained"),
    [
        (group_is_now("qe"), group_is_now("qe", "bob")),
        (pool_policy("big", user("eve")), pool_policy("big", user("bob"))),
        (lent("b", "eve"), given_back("b")),
        (lent("b", "eve"), lent("b", "bob")),
        (pool_policy("big"), own_policy("b", user("bob"))),
        (out_of_pool("big", "b"), into_pool("big", "b")),
        (group_removed("qe"), owned_by("b", "bob")),
    ],
    ids=str,
)
def test_is_safe__access_is_lost_and_regained__follows(lost: Pair, regained: Pair) -> None:
    """Check a set of bob for qe that holds a and wants b, which is in the pool of qe."""
    story = Story()
    story.labs(LAB)
    story.tree(1, LAB)
    story.idle("a", "b")
    for pair in _begin():
        story.commit(pair)
    story.job(1, {1: only("a"), 2: only("b")}, owner="bob", group="qe")
    story.decide([*grant(1, "a"), assigned(2)])
    view = SchedulerView()
    matcher = SystemMatcher(view)
    for pairs, safe in (([], True), ([lost], False), ([regained], True)):
        begin = len(story.log)
        for pair in pairs:
            story.commit(pair)
        for record in from_recorded(story.log[begin if pairs else 0 :]):
            view.apply(record)
        assert is_safe(view, matcher, LAB) is safe


def _begin() -> Sequence[Pair]:
    own = own_policy("b", user("eve"))
    return group_made("qe", "bob"), own, pool_policy("big", group("qe")), into_pool("big", "b")
