"""Maintenance windows drain their systems in time, and undrain them by themselves."""

from __future__ import annotations

from datetime import timedelta

import pytest

from domain.scheduling.decisions import maintenance
from domain.scheduling.decisions.maintenance import begin_and_end_windows
from domain.system.events import SystemDrained, SystemMaintenanceEnded, SystemPending, SystemUndrained
from replay.audit import check, from_recorded
from tests.domain.scheduling.consistency_loop import nothing_expires, tick
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.two_partitions import OTHER, TwoPartitions
from tests.domain.scheduling.world import World

HOUR = 3_600


def draining(world: World) -> list[str]:
    return sorted(fqdn for fqdn, system in world.systems.items() if system.draining)


def sound(world: World) -> bool:
    return list(check(from_recorded(world.log))) == []


def test_window__with_a_lead__drains_before_its_start_until_its_end(world: World) -> None:
    world.add_idle("a", "b")
    running = world.submit(named("a"))
    world.settle()
    world.add_window(2 * HOUR, for_seconds=HOUR, lead_seconds=HOUR, systems=["a", "b"])
    nothing_expires(world, HOUR)
    found = tick(world, 1)
    assert (found.causes, found.findings.maintenance_changes) == (["timer/maintenance/1"], 1)
    reason = "maintenance window 1: new disks"
    assert found.decisions[0].events == (
        ("system/a", SystemDrained(reason, 1)),
        ("system/b", SystemDrained(reason, 1)),
    )
    assert ("maintenance-window/1", 1) in found.decisions[0].expected
    waiting = world.submit(named("b"))
    world.complete(running)
    nothing_expires(world, 2 * HOUR)
    assert world.states(running, waiting) == ["completed", "queued"]
    found = tick(world, 1)
    assert found.decisions[0].events[3:] == (
        ("system/b", SystemMaintenanceEnded(1)),
        ("system/b", SystemUndrained(reason="maintenance window 1 is over")),
        ("system/b", SystemPending()),
    )
    assert (draining(world), world.system_of(waiting)) == ([], "b")
    assert tick(world, 10**6).causes == ["timer/watchdog/2"]
    assert sound(world)


@pytest.mark.parametrize(
    ("covered", "systems"),
    [
        ({"systems": ["a", "gone"]}, ["a"]),
        ({"pool": "net"}, ["b", "c"]),
        ({"lab_controller": "lab-1", "location": "rack 1"}, ["a", "c"]),
        ({"pool": "net", "location": "rack 1"}, ["c"]),
    ],
)
def test_window__with_properties__covers_the_systems_that_have_them_meanwhile(
    world: World, covered: dict[str, object], systems: list[str]
) -> None:
    world.add_lab("lab-2")
    world.add_system("a", location="rack 1")
    world.add_system("b", lab="lab-2", location="rack 1")
    world.add_window(HOUR, **covered)
    world.set_pool("net", "b", member=True)
    if "location" in covered and "pool" in covered:
        world.describe("b", location="rack 2")
    tick(world, HOUR)
    # This one has the properties only while the window is open.
    world.add_system("c", pools=["net"], location="rack 1")
    world.set_pool("net", "c", member=True)
    tick(world)
    assert draining(world) == systems
    world.set_pool("net", "b", member=False)
    tick(world)
    assert draining(world) == systems
    tick(world, HOUR)
    assert draining(world) == []


def test_person__drains_or_undrains_meanwhile__is_not_overridden(world: World) -> None:
    world.add_idle("before", "during", "undrained", "both")
    world.drain("before")
    number = world.add_window(lab_controller="lab-1")
    tick(world)
    world.drain("during")
    world.undrain("undrained")
    world.undrain("both")
    world.drain("both")
    # Neither drained again by the window nor, after a restart, by a later run.
    assert tick(world).decisions == []
    world.restart()
    assert tick(world).decisions == []
    assert draining(world) == ["before", "both", "during"]
    world.end_window(number)
    tick(world)
    assert draining(world) == ["before", "both", "during"]
    world.undrain("before")
    assert (draining(world), tick(world, 10**6).decisions) == (["both", "during"], [])
    assert sound(world)


def test_windows__that_overlap_or_adjoin__drain_until_the_last_ends(world: World) -> None:
    world.add_idle("a")
    world.add_window(0, for_seconds=2 * HOUR, systems=["a"])
    world.add_window(HOUR, for_seconds=HOUR, pool=None, location=None, lab_controller="lab-1")
    world.add_window(2 * HOUR, for_seconds=HOUR, systems=["a"])
    tick(world)
    tick(world, HOUR)
    assert world.systems["a"].windows == (1, 2)
    tick(world, HOUR)
    assert (world.systems["a"].windows, world.systems["a"].draining) == ((3,), True)
    tick(world, HOUR)
    assert (world.systems["a"].windows, world.systems["a"].draining) == ((), False)
    undrained = [recorded for recorded in world.log if isinstance(recorded.event, SystemUndrained)]
    assert len(undrained) == 1
    assert sound(world)


def test_window__ended_early_or_before_its_start__drains_no_longer(world: World) -> None:
    world.add_idle("a", "b")
    world.end_window(world.add_window(HOUR, systems=["a"]))
    running = world.add_window(systems=["b"])
    tick(world)
    assert draining(world) == ["b"]
    world.end_window(running)
    tick(world)
    assert draining(world) == []
    assert tick(world, 2 * HOUR).decisions == []


def test_window__of_a_person__covers_only_what_the_person_may_edit(world: World) -> None:
    world.add_idle("a", "b")
    world.register_user("eve")
    world.own("b", "eve")
    world.add_window(has_all_rights=False, added_by="eve", lab_controller="lab-1")
    world.add_window(has_all_rights=False, added_by="nobody", systems=["a"])
    # A user who was an admin then, and one who was removed.
    world.add_window(added_by="eve", systems=["a"])
    world.add_window(added_by="nobody", systems=["a"])
    tick(world)
    assert draining(world) == ["b"]


def test_many_systems__of_one_window__are_drained_in_batches(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "MAX_CHANGED", 2)
    world.add_idle("a", "b", "c")
    world.add_window(lab_controller="lab-1")
    tick(world)
    assert draining(world) == ["a", "b"]
    # Nothing ends while a beginning is unfinished.
    tick(world, 0)
    assert draining(world) == ["a", "b", "c"]
    tick(world, HOUR)
    assert draining(world) == ["c"]


def test_window__moved_meanwhile__is_a_conflict(world: World) -> None:
    world.add_idle("a")
    world.add_window(systems=["a"])
    world.partition.begin_tentative(world.now)
    decisions = list(begin_and_end_windows(world.partition, world.now))
    world.partition.rollback()
    world.end_window(1)
    assert world.in_conflict(decisions)


def test_window__over_two_partitions__is_drained_by_each_in_its_own_commit() -> None:
    world = TwoPartitions()
    for lab in ("here", "there"):
        world.add_lab(lab)
        world.add_system(f"of-{lab}", lab=lab)
    world.move_lab("there", OTHER.number)
    world.settle_both()
    world.add_window(systems=["of-here", "of-there"])
    for number, fqdn in ((1, "of-here"), (OTHER.number, "of-there")):
        world.turn_to(number)
        begun = tick(world)
        assert [subject for one in begun.decisions for subject, _ in one.events if "of-" in subject] == [
            f"system/{fqdn}"
        ]
    world.now += timedelta(hours=1)
    for number in (1, OTHER.number):
        world.turn_to(number)
        tick(world)
    assert draining(world) == []
