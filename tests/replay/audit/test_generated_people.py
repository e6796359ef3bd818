"""Generated histories with changing policies, groups and loans have no violations; planted faults are
found.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.access.submitting import Submitting, Who
from domain.directory.state import Directory
from domain.priority import Priority
from replay.audit import check, from_recorded
from tests.domain.scheduling.history import EVERYTHING, live
from tests.domain.scheduling.world import World
from tests.replay.audit.sound import assert_at_rest, assert_sound

BURSTS = 50


def lived(seed: int) -> World:
    return live(seed, BURSTS, limit=(1, 3, 500)[seed % 3], acts=EVERYTHING)


@pytest.mark.parametrize("seed", range(6))
def test_history__people_use_their_say__is_sound_and_nobody_waits_in_vain(seed: int) -> None:
    world = lived(seed)
    assert_sound(from_recorded(world.log))
    assert_at_rest(from_recorded(world.log))


def nobody_is_capped(self: Submitting, who: Who) -> Priority | None:
    return Priority.Urgent if maximum(self, who) else None


def everybody_may(self: Submitting, who: Who) -> Priority:
    return maximum(self, who) or Priority.Low


maximum = Submitting.maximum


@pytest.mark.parametrize(
    ("where", "name", "planted", "invariant", "first"),
    [
        (Submitting, "maximum", nobody_is_capped, "nobody_jumped", 0),
        (Submitting, "maximum", everybody_may, "allowed_grant", 0),
        (Submitting, "is_lent_away", lambda *_: False, "lent_system", 0),
        # Few histories have a former member who would otherwise rank first.
        (Directory, "counts_for_group", lambda *_: True, "nobody_jumped", 148),
    ],
)
def test_history__scheduler_leaves_out_a_rule_of_access__is_found(
    monkeypatch: pytest.MonkeyPatch,
    where: type,
    name: str,
    planted: Callable[..., object],
    invariant: str,
    first: int,
) -> None:
    monkeypatch.setattr(where, name, planted)
    histories = (check(from_recorded(lived(seed).log)) for seed in range(first, first + 30))
    found = next(filter(None, histories), [])
    assert invariant in {one.invariant for one in found}, list(map(str, found))
