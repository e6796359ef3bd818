"""The ends of recipes (cancelled, aborted, expired, kept) with their guests, and of reservations."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.acceptance.metrics import findings, impossible_findings
from tests.acceptance.stage import Stage
from tests.harness.waiting import wait_until

pytestmark = pytest.mark.soak


def test_cancelled__before_the_start__the_whole_set_ends_and_frees_its_systems(stage: Stage) -> None:
    stage.machine("m1")
    stage.machine("m2")
    (busy,) = stage.submit(stage.recipe("m2"))
    stage.start_all(busy)
    stage.begin()
    one, _ = stage.submit(stage.recipe("m1"), stage.recipe("m2"))
    stage.assert_log("""
        admin submits job/1: recipe-set/1 of recipe/1, recipe/2
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.scheduled        recipe/1        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=1
            recipe.assigned         recipe/2        lab_controller=lab.east
    """)
    stage.cancel(one)
    stage.assert_log("""
        admin:
            recipe.cancelled        recipe/1        reason='not needed'
            recipe.cancelled        recipe/2        reason='not needed'
            system.pending          system/m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)
    assert stage.commands() == []
    stage.finish(busy)
    stage.assert_log("""
        lab-ops completes recipe/3 on m2
        scheduler, on system.pending system/m2:
            system.idle             system/m2
    """)


def test_cancelled__after_the_start__unfinished_recipes_end_and_no_other_set(stage: Stage) -> None:
    for name in ("m1", "m2", "m3"):
        stage.machine(name)
    stage.begin()
    first = [stage.recipe("m1", guests=[stage.guest("one")]), stage.recipe("m2")]
    host, guest, sibling, other = stage.submit_sets(first, [stage.recipe("m3")])
    stage.assert_log("""
        admin:
            job.submitted           job/1           owner=admin
            recipe-set.submitted    recipe-set/1    job_id=1 priority=Normal recipe_ids=1,2,3
            recipe.new              recipe/1        recipe_set_id=1 distro_tree_id=1
            recipe.new              recipe/2        recipe_set_id=1 host_recipe_id=1 distro_tree_id=1
            recipe.new              recipe/3        recipe_set_id=1 distro_tree_id=1
            recipe-set.submitted    recipe-set/2    job_id=1 priority=Normal recipe_ids=4
            recipe.new              recipe/4        recipe_set_id=2 distro_tree_id=1
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.scheduled        recipe/1        system=m1 lab_controller=lab.east
            recipe.scheduled        recipe/2        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=1
            recipe.assigned         recipe/3        lab_controller=lab.east
            recipe.scheduled        recipe/3        system=m2 lab_controller=lab.east
            system.scheduled        system/m2       recipe_id=3
            recipe.waiting          recipe/1        system=m1
            recipe.waiting          recipe/2        system=m1
            system.waiting          system/m1       recipe_id=1
            recipe.waiting          recipe/3        system=m2
            system.waiting          system/m2       recipe_id=3
        and on recipe-set.submitted recipe-set/2:
            recipe.scheduled        recipe/4        system=m3 lab_controller=lab.east
            system.scheduled        system/m3       recipe_id=4
            recipe.waiting          recipe/4        system=m3
            system.waiting          system/m3       recipe_id=4
    """)
    for recipe in (host, guest, sibling, other):
        stage.start(recipe)
    stage.assert_log("""
        lab-ops starts recipe/1 on m1
        lab-ops:
            recipe.installing       recipe/2        system=m1
        lab-ops:
            recipe.running          recipe/2        system=m1
            recipe.task-started     recipe/2        task_id=2
        lab-ops starts recipe/3 on m2
        lab-ops starts recipe/4 on m3
    """)
    stage.finish(sibling)
    stage.assert_log("""
        lab-ops completes recipe/3 on m2
        scheduler, on system.pending system/m2:
            system.idle             system/m2
    """)
    stage.cancel(host)
    stage.assert_log("""
        admin:
            recipe.cancelled        recipe/1        reason='not needed'
            recipe.cancelled        recipe/2        reason='not needed'
            system.pending          system/m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)
    stage.finish(other)
    stage.assert_log("""
        lab-ops completes recipe/4 on m3
        scheduler, on system.pending system/m3:
            system.idle             system/m3
    """)


def test_aborted__after_the_start__its_guests_end_and_siblings_continue(stage: Stage) -> None:
    for name in ("m1", "m2"):
        stage.machine(name)
    guests = [stage.guest("one"), stage.guest("two")]
    host, one, _, sibling = stage.submit(stage.recipe("m1", guests=guests), stage.recipe("m2"))
    stage.start_all(host, one, sibling)
    stage.begin()
    stage.report(host, {"state": "aborted", "reason": "no answer from the console"})
    stage.assert_log("""
        lab-ops:
            recipe.aborted          recipe/1        reason='no answer from the console'
            recipe.aborted          recipe/2        reason='its host recipe ended'
            recipe.aborted          recipe/3        reason='its host recipe ended'
            system.pending          system/m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)
    stage.finish(sibling)
    stage.assert_log("""
        lab-ops completes recipe/4 on m2, task 1
        scheduler, on system.pending system/m2:
            system.idle             system/m2
    """)
    assert stage.commands() == ["release m1 recipe/1", "release m2 recipe/4"]


def test_guests__host_ends_first__unfinished_guest_is_aborted(stage: Stage) -> None:
    stage.machine("m1")
    stage.begin()
    host, one, two = stage.submit(stage.recipe(guests=[stage.guest("one"), stage.guest("two")]))
    stage.assert_log("""
        admin:
            job.submitted           job/1           owner=admin
            recipe-set.submitted    recipe-set/1    job_id=1 priority=Normal recipe_ids=1,2,3
            recipe.new              recipe/1        recipe_set_id=1 distro_tree_id=1
            recipe.new              recipe/2        recipe_set_id=1 host_recipe_id=1 distro_tree_id=1
            recipe.new              recipe/3        recipe_set_id=1 host_recipe_id=1 distro_tree_id=1
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.scheduled        recipe/1        system=m1 lab_controller=lab.east
            recipe.scheduled        recipe/2        system=m1 lab_controller=lab.east
            recipe.scheduled        recipe/3        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=1
            recipe.waiting          recipe/1        system=m1
            recipe.waiting          recipe/2        system=m1
            recipe.waiting          recipe/3        system=m1
            system.waiting          system/m1       recipe_id=1
    """)
    stage.start(host)
    stage.assert_log("""
        lab-ops starts recipe/1 on m1
    """)
    stage.start(one)
    stage.finish(one)
    stage.start(two)
    stage.assert_log("""
        lab-ops:
            recipe.installing       recipe/2        system=m1
        lab-ops:
            recipe.running          recipe/2        system=m1
            recipe.task-started     recipe/2        task_id=2
        lab-ops:
            recipe.task-completed   recipe/2        task_id=2
        lab-ops:
            recipe.completed        recipe/2
        lab-ops:
            recipe.installing       recipe/3        system=m1
        lab-ops:
            recipe.running          recipe/3        system=m1
            recipe.task-started     recipe/3        task_id=3
    """)
    stage.finish(host)
    stage.assert_log("""
        lab-ops:
            recipe.task-completed   recipe/1        task_id=1
        lab-ops:
            recipe.completed        recipe/1
            recipe.aborted          recipe/3        reason='its host recipe ended'
            system.pending          system/m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)
    # The release of the host's system ends the guest too: no command stops it.
    assert stage.commands() == ["provision m1 recipe/1", "release m1 recipe/1"]


def test_guest__watchdog_expired__is_stopped_and_its_host_goes_on(stage: Stage) -> None:
    stage.machine("m1")
    host, guest = stage.submit(stage.recipe(guests=[stage.guest("one")]))
    stage.start_all(host, guest)
    stage.begin()
    stage.report(guest, {"watchdog_seconds": 0})
    stage.assert_log("""
        lab-ops:
            recipe.watchdog-set     recipe/1        seconds=0
        scheduler, on timer/watchdog/1:
            recipe.aborted          recipe/1        reason='its watchdog expired'
    """)
    assert stage.commands() == ["stop m1 recipe/1"]
    stage.finish(host)
    stage.assert_log("""
        lab-ops completes recipe/2 on m1, task 1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)


def test_kept__returned_by_a_person__completed_and_asked_for_in_one_commit(stage: Stage) -> None:
    stage.machine("m1")
    stage.begin()
    kept = {"duration_seconds": 3600, "when": "always"}
    (recipe,) = stage.submit(stage.recipe(reservesys=kept))
    stage.assert_log("""
        admin submits job/1: recipe-set/1 of recipe/1
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.scheduled        recipe/1        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=1
            recipe.waiting          recipe/1        system=m1
            system.waiting          system/m1       recipe_id=1
    """)
    stage.start(recipe)
    stage.finish(recipe)
    # The system stays in use without events.
    stage.assert_log("""
        lab-ops starts recipe/1 on m1
        lab-ops:
            recipe.task-completed   recipe/1        task_id=1
        lab-ops:
            recipe.reserved         recipe/1        system=m1 seconds=3600
    """)
    (other,) = stage.submit(stage.recipe())
    stage.assert_log("""
        admin submits job/2: recipe-set/2 of recipe/2
        scheduler, on recipe-set.submitted recipe-set/2:
            recipe.queued           recipe/2        reason='no idle system is viable'
    """)
    stage.write("POST", f"/recipes/{recipe}/return")
    stage.assert_log("""
        admin:
            recipe.completed        recipe/1
            system.pending          system/m1
        scheduler, on system.pending system/m1:
            recipe.scheduled        recipe/2        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=2
            recipe.waiting          recipe/2        system=m1
            system.waiting          system/m1       recipe_id=2
    """)
    stage.end_started(other)
    stage.assert_log("""
        lab-ops gives up recipe/2 on m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)


def test_kept__time_is_over__completed_by_its_watchdog(stage: Stage) -> None:
    stage.machine("m1")
    kept = {"duration_seconds": 1, "when": "onwarn"}
    (recipe,) = stage.submit(stage.recipe(reservesys=kept))
    task = stage.start_all(recipe)
    stage.begin()
    stage.report(recipe, {"task_id": task, "result": "Warn", "message": "odd", "score": 1})
    stage.finish(recipe)
    stage.assert_log("""
        lab-ops:
            recipe.task-result      recipe/1        task_id=1 result=Warn message=odd score=1.0
        lab-ops:
            recipe.task-completed   recipe/1        task_id=1
        lab-ops:
            recipe.reserved         recipe/1        system=m1 seconds=1
        scheduler, on timer/watchdog/1:
            recipe.completed        recipe/1
            system.pending          system/m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)
    assert stage.commands() == ["release m1 recipe/1"]


def test_watchdog__expired__aborted_and_its_system_granted(stage: Stage) -> None:
    stage.machine("m1")
    (recipe,) = stage.submit(stage.recipe())
    (waits,) = stage.submit(stage.recipe())
    stage.start_all(recipe)
    stage.begin()
    stage.report(recipe, {"watchdog_seconds": 0})
    stage.assert_log("""
        lab-ops:
            recipe.watchdog-set     recipe/1        seconds=0
        scheduler, on timer/watchdog/1:
            recipe.aborted          recipe/1        reason='its watchdog expired'
            system.pending          system/m1
        scheduler, on system.pending system/m1:
            recipe.scheduled        recipe/2        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=2
            recipe.waiting          recipe/2        system=m1
            system.waiting          system/m1       recipe_id=2
    """)
    assert stage.commands() == ["release m1 recipe/1", "provision m1 recipe/2"]
    stage.end_started(waits)
    stage.assert_log("""
        lab-ops gives up recipe/2 on m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)


def test_metrics__watchdog_expired__as_many_are_counted_as_the_log_has(stage: Stage) -> None:
    stage.machine("m1")
    (recipe,) = stage.submit(stage.recipe())
    stage.start_all(recipe)
    stage.report(recipe, {"watchdog_seconds": 0})
    stage.wait_idle("m1")
    causes = {event["cause"] for event in stage.service.events()}
    expired = sum(cause.startswith("timer/watchdog/") for cause in causes)
    wait_until(lambda: findings(stage.service)["watchdogs_expired"] == expired, "the loop to have counted it")
    assert impossible_findings(stage.service) == []
    stage.begin()


def test_reservation__provisioned_and_returned__system_moves_with_its_commands(stage: Stage) -> None:
    stage.machine("m1", condition="Manual")
    stage.begin()
    path = f"/systems/{stage.fqdn('m1')}/reservation"
    stage.write("PUT", path, {"distro_tree": 1}, by="alice")
    stage.assert_log("""
        alice:
            system.reservation-begun system/m1       user=alice distro_tree_id=1
            system.waiting          system/m1
    """)
    stage.obey("east")
    stage.assert_log("""
        lab-ops:
            command.running         of system.waiting system/m1
            system.installing       system/m1
        lab-ops:
            command.completed       of system.waiting system/m1
            system.running          system/m1
    """)
    stage.write("DELETE", path, by="alice")
    stage.assert_log("""
        alice:
            system.reservation-ended system/m1       reason='returned by alice'
            system.idle             system/m1
    """)
    assert stage.commands() == ["provision m1", "release m1"]


def test_reservation__time_is_over__ended_and_a_forcing_recipe_gets_the_system(stage: Stage) -> None:
    stage.machine("m1", condition="Manual")
    stage.begin()
    until = datetime.now(UTC) + timedelta(seconds=2)
    reservation = {"until": until.isoformat(), "user": "alice"}
    stage.write("PUT", f"/systems/{stage.fqdn('m1')}/reservation", reservation)
    stage.assert_log("""
        admin:
            system.reservation-begun system/m1       user=alice
            system.running          system/m1
    """)
    (forces,) = stage.submit(stage.recipe(host_requires={"force": stage.fqdn("m1")}))
    stage.assert_log("""
        admin submits job/1: recipe-set/1 of recipe/1
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.queued           recipe/1        reason='no viable system is usable now, busy ones inc…'
    """)
    # The timer acts alone.
    stage.assert_log("""
        scheduler, on timer/reservation/m1:
            system.reservation-ended system/m1       reason='its time is over'
            system.idle             system/m1
        scheduler, on system.reservation-ended system/m1:
            recipe.scheduled        recipe/1        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=1
            recipe.waiting          recipe/1        system=m1
            system.waiting          system/m1       recipe_id=1
    """)
    stage.cancel(forces)
    stage.assert_log("""
        admin:
            recipe.cancelled        recipe/1        reason='not needed'
            system.idle             system/m1
    """)
