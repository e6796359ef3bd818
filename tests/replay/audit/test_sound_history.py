"""The audit finds nothing in correct histories, written by hand and generated; some faults are planted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.access.submit_rights import SubmitRights, Submitter
from domain.directory.events import LabControllerDisabled, LabControllerEnabled, PoolSystemAdded
from domain.directory.state import Directory
from domain.priority import Priority
from domain.recipe import events as recipe_events
from domain.scheduling.admitting.rooms import Rooms
from domain.scheduling.decisions import kept_room, pending_system
from domain.system import events as system_events
from replay.audit import check, from_json, from_recorded
from tests.domain.scheduling.history import ADMITTED, CONFIGURED, CONTENDED, EVERYTHING, QUEUED, Acts, live
from tests.domain.scheduling.world import World
from tests.replay.audit.moves import (
    aborted,
    assigned,
    cancelled,
    condition,
    grant,
    idle,
    only,
    pending,
    place,
    queued,
    scheduled,
    start,
    waiting,
)
from tests.replay.audit.sound import assert_at_rest, assert_found, assert_sound
from tests.replay.audit.story import Story


def _beginning() -> Story:
    story = Story()
    story.labs("lab-1", "lab-2")
    story.tree(1, "lab-1", "lab-2")
    story.idle("a", "b")
    story.idle("c", "d", lab="lab-2")
    story.system("m", condition="Manual")
    return story


def _a_set_with_a_guest_runs(story: Story) -> None:
    story.job(1, {1: only("a"), 2: only("b")}, guests={3: 2})
    granted = [*grant(1, "a"), *grant(2, "b"), scheduled(3, "b")]
    story.decide([*granted, *start(1, "a"), *start(2, "b"), waiting(3, "b")])
    story.queue(2, {4: only("a")})
    story.queue(3, {5: only("a"), 6: only("b")}, "High")
    story.complete(1, "a")
    # Set 3 is more urgent than set 2, and b comes free.
    story.decide([*grant(5, "a"), assigned(6)])
    story.progress(2, "b", "installing", "running")
    story.commit(("recipe/3", recipe_events.RecipeInstalling(system="b")))
    story.commit(("recipe/2", recipe_events.RecipeReserved(system="b", seconds=60)))
    story.commit(("recipe/2", recipe_events.RecipeCompleted()), aborted(3, "its host ended"), pending("b"))
    story.decide([*grant(6, "b"), *start(5, "a"), *start(6, "b")])
    story.complete(5, "a")
    story.decide(place(4, "a"))
    story.commit(cancelled(4), pending("a"))
    story.complete(6, "b")
    story.decide([idle("a")], [idle("b")])


def _people_have_systems(story: Story) -> None:
    begun = system_events.SystemReservationBegun(user="ada", until=None, distro_tree_id=1)
    story.commit(("system/m", begun), ("system/m", system_events.SystemWaiting(recipe_id=None)))
    story.commit(("system/m", system_events.SystemInstalling(recipe_id=None)))
    story.commit(("system/m", system_events.SystemRunning(recipe_id=None)))
    story.commit(("system/m", system_events.SystemReservationEnded(reason="returned")), idle("m"))
    story.commit(("system/c", system_events.SystemDrained(reason="fan")))
    story.queue(10, {10: only("c")}, "Low")
    story.commit(("system/c", system_events.SystemOccupied("recipe 9 runs there", 9, 1)))
    story.commit(("system/c", system_events.SystemUndrained()))
    story.commit(("system/c", system_events.SystemVacated("gone")), pending("c"))
    story.decide(place(10, "c", "lab-2"))
    story.commit(aborted(10), pending("c"))
    story.decide([idle("c")])


def _a_system_breaks(story: Story) -> None:
    """Break a system: a set does not start without it; it is withdrawn from a holder, which keeps its
    place.
    """
    story.commit(condition("d", "Broken"))
    story.queue(20, {20: only("c"), 21: only("d")})
    story.commit(condition("d", "Automated"), pending("d"))
    got_c = [pending("c"), *grant(20, "c", "lab-2"), *start(20, "c"), *start(21, "d")]
    story.decide([*grant(21, "d", "lab-2"), assigned(20, "lab-2")], got_c)
    story.commit(aborted(20), pending("c"))
    story.complete(21, "d")
    story.decide([idle("c")], [idle("d")])
    story.job(23, {23: only("d")})
    story.decide(place(23, "d", "lab-2"))
    story.job(24, {24: only("c"), 25: only("d")})
    story.decide([*grant(24, "c", "lab-2"), assigned(25, "lab-2")])
    why = "c is Broken: fan"
    story.commit(condition("c", "Broken"), queued(24, why), queued(25, why), idle("c"))
    story.commit(condition("c", "Automated"), pending("c"))
    story.decide([*grant(24, "c", "lab-2"), assigned(25, "lab-2")])
    # It never gets d: its lab is disabled, and it lets go.
    story.commit(("lab-controller/lab-2", LabControllerDisabled()))
    story.decide([queued(24, "lab-2 is disabled"), queued(25, "lab-2 is disabled"), pending("c")])
    story.decide([idle("c")])
    story.commit(("lab-controller/lab-2", LabControllerEnabled()))
    story.decide([pending("c"), *grant(24, "c", "lab-2"), assigned(25, "lab-2")])
    story.complete(23, "d")
    story.decide([*grant(25, "d", "lab-2"), *start(24, "c"), *start(25, "d")])
    story.complete(24, "c")
    story.complete(25, "d")
    story.decide([idle("c")], [idle("d")])


def _a_forced_recipe(story: Story) -> None:
    story.job(30, {30: {"force": "m"}})
    story.decide(place(30, "m"))
    story.commit(condition("m", "Broken"), aborted(30, "m is Broken: fan"), idle("m"))
    story.job(31, {31: {"force": "m"}})
    story.decide(place(31, "m"))
    story.progress(31, "m", "installing", "running")
    story.commit(("recipe/31", recipe_events.RecipeCompleted()), idle("m"))


def _the_scheduler_is_behind(story: Story) -> None:
    """Append decisions that are right on their basis, though not on the events that follow it."""
    story.job(40, {40: only("a")}, "Low")
    story.decide(place(40, "a"))
    story.queue(41, {41: only("a")}, "Low")
    story.queue(42, {42: only("a")}, "Low")
    story.complete(40, "a")
    basis = story.end
    story.priority(42, "Urgent")
    story.job(43, {43: only("a")}, "Urgent")
    story.decide(place(41, "a"), [queued(43)], basis=basis)
    story.commit(("pool/big", PoolSystemAdded(system="b")))
    story.complete(41, "a")
    # Set 42 was submitted before set 43.
    story.decide(place(42, "a"))


def without_empty_cpu() -> Story:
    story = _beginning()
    _a_set_with_a_guest_runs(story)
    _people_have_systems(story)
    _a_system_breaks(story)
    _a_forced_recipe(story)
    _the_scheduler_is_behind(story)
    return story


def test_check__sound_history__has_nothing_to_say() -> None:
    assert_sound(from_recorded(without_empty_cpu().log))


def test_at_rest__sound_history__has_nothing_to_say() -> None:
    assert_at_rest(from_recorded(without_empty_cpu().log))


def test_check__history_from_events_of_the_api__has_nothing_to_say() -> None:
    recorded = from_recorded(without_empty_cpu().log)
    records = [record._replace(basis_partition=None) for record in recorded]
    shown = [
        {
            **{name: value for name, value in record._asdict().items() if name not in ("kind", "name")},
            "subject": record.subject,
            "partition": {0: None, 1: "default"}[int(record.partition)],
        }
        for record in records
    ]
    assert list(from_json(shown)) == records
    # Only decisions have these fields.
    decided = ("basis", "number", "epoch")
    bare = [
        {name: value for name, value in event.items() if name not in decided or value is not None}
        for event in shown
    ]
    assert_sound(from_json(bare))


def test_check__history_that_ends_anywhere_between_commits__has_nothing_to_say() -> None:
    log = list(from_recorded(without_empty_cpu().log))
    for end in {record.commit_end for record in log}:
        assert_sound(record for record in log if record.position <= end)


BURSTS = 50


def lived(seed: int, acts: Acts = EVERYTHING) -> World:
    return live(seed, BURSTS, limit=(1, 3, 500)[seed % 3], acts=acts)


@pytest.mark.parametrize(
    "acts",
    [EVERYTHING, CONFIGURED, CONTENDED, ADMITTED, QUEUED],
    ids=["people", "configuration-too", "locks-too", "admission-too", "limits"],
)
@pytest.mark.parametrize("seed", range(6))
def test_history__people_use_their_say__is_sound_and_nobody_waits_in_vain(seed: int, acts: Acts) -> None:
    world = lived(seed, acts)
    assert_sound(from_recorded(world.log))
    assert_at_rest(from_recorded(world.log))


def nobody_is_capped(self: SubmitRights, who: Submitter) -> Priority | None:
    return Priority.Urgent if maximum(self, who) else None


def everybody_may(self: SubmitRights, who: Submitter) -> Priority:
    return maximum(self, who) or Priority.Low


maximum = SubmitRights.maximum


@pytest.mark.parametrize(
    ("where", "name", "planted", "invariant", "first"),
    [
        (SubmitRights, "maximum", nobody_is_capped, "nobody_jumped", 0),
        (SubmitRights, "maximum", everybody_may, "allowed_grant", 0),
        (SubmitRights, "is_lent_away", lambda *_: False, "lent_system", 0),
        # Few histories have a former member who would otherwise rank first.
        (Directory, "counts_for_group", lambda *_: True, "nobody_jumped", 306),
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
    assert_found((check(from_recorded(lived(seed).log)) for seed in range(first, first + 30)), invariant)


def no_rival(*_: object) -> None:
    return None


@pytest.mark.parametrize(
    ("where", "name", "planted", "invariant"),
    [
        (pending_system, "first_rival", no_rival, "no_room_jumped"),
        (kept_room, "_kept_under", lambda *_: None, "admitted"),
        (Rooms, "has_room", lambda *_: True, "admitted"),
    ],
)
def test_history__scheduler_leaves_out_a_rule_of_room__is_found(
    monkeypatch: pytest.MonkeyPatch,
    where: object,
    name: str,
    planted: Callable[..., object],
    invariant: str,
) -> None:
    monkeypatch.setattr(where, name, planted)
    assert_found((check(from_recorded(lived(seed, QUEUED).log)) for seed in range(30)), invariant)
