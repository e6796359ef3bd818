"""A host with guests: the guests start with it, report on their own, and end with it."""

from __future__ import annotations

from tests.acceptance.stage import Stage


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
