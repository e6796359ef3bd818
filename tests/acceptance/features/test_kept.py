"""A recipe that keeps its system (`reservesys`) until it is returned or its time is over."""

from __future__ import annotations

from tests.acceptance.stage import Stage


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
