"""A person reserves a Manual system, has it provisioned, and returns it or lets the time run out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.acceptance.stage import Stage


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
