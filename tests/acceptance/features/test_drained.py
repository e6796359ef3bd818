"""A drained system finishes its recipe and accepts no other until it is undrained."""

from __future__ import annotations

from tests.acceptance.stage import Stage


def test_drained__its_recipe_ends__idle_and_granted_again_only_when_undrained(stage: Stage) -> None:
    stage.machine("m1")
    (runs,) = stage.submit(stage.recipe())
    stage.start_all(runs)
    stage.begin()
    (waits,) = stage.submit(stage.recipe())
    stage.assert_log("""
        admin submits job/1: recipe-set/1 of recipe/1
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.queued           recipe/1        reason='no idle system is viable'
    """)
    stage.change("m1", draining=True, reason="new disks")
    stage.assert_log("""
        admin:
            system.drained          system/m1       reason='new disks'
    """)
    stage.finish(runs)
    stage.assert_log("""
        lab-ops:
            recipe.task-completed   recipe/2        task_id=2
        lab-ops:
            recipe.completed        recipe/2
            system.idle             system/m1
    """)
    stage.change("m1", draining=False)
    stage.assert_log("""
        admin:
            system.undrained        system/m1
            system.pending          system/m1
        scheduler, on system.pending system/m1:
            recipe.scheduled        recipe/1        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=1
            recipe.waiting          recipe/1        system=m1
            system.waiting          system/m1       recipe_id=1
    """)
    stage.end_started(waits)
    stage.assert_log("""
        lab-ops gives up recipe/1 on m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)
