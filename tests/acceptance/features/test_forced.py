"""A recipe with `force` gets the named system whatever its condition; several get it one after the other."""

from __future__ import annotations

from typing import Any

from tests.acceptance.stage import Stage


def forced(stage: Stage, name: str) -> dict[str, Any]:
    return stage.recipe(host_requires={"force": stage.fqdn(name)})


def test_forced__broken_system_comes_free__idle_and_the_next_one_has_it(stage: Stage) -> None:
    stage.machine("m1", condition="Broken")
    stage.begin()
    (first,) = stage.submit(forced(stage, "m1"))
    stage.assert_log("""
        admin submits job/1: recipe-set/1 of recipe/1
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.scheduled        recipe/1        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=1
            recipe.waiting          recipe/1        system=m1
            system.waiting          system/m1       recipe_id=1
    """)
    (second,) = stage.submit(forced(stage, "m1"))
    stage.assert_log("""
        admin submits job/2: recipe-set/2 of recipe/2
        scheduler, on recipe-set.submitted recipe-set/2:
            recipe.queued           recipe/2        reason='no idle system is viable'
    """)
    stage.start(first)
    stage.finish(first)
    stage.assert_log("""
        lab-ops starts recipe/1 on m1
        lab-ops:
            recipe.task-completed   recipe/1        task_id=1
        lab-ops:
            recipe.completed        recipe/1
            system.idle             system/m1
        scheduler, on system.idle system/m1:
            recipe.scheduled        recipe/2        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=2
            recipe.waiting          recipe/2        system=m1
            system.waiting          system/m1       recipe_id=2
    """)
    stage.end_started(second)
    stage.assert_log("""
        lab-ops:
            recipe.aborted          recipe/2        reason='seen enough'
            system.idle             system/m1
    """)
    assert stage.commands() == [
        "provision m1 recipe/1",
        "release m1 recipe/1",
        "provision m1 recipe/2",
        "release m1 recipe/2",
    ]


def test_forced__manual_system__not_granted_to_other_recipes(stage: Stage) -> None:
    stage.machine("m1", condition="Manual")
    stage.begin()
    (ordinary,) = stage.submit(stage.recipe(), priority="Urgent")
    stage.assert_log("""
        admin submits job/1: Urgent recipe-set/1 of recipe/1
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.queued           recipe/1        reason='no viable system is usable now, busy ones inc…'
    """)
    (forces,) = stage.submit(forced(stage, "m1"), priority="Low")
    stage.assert_log("""
        admin submits job/2: Low recipe-set/2 of recipe/2
        scheduler, on recipe-set.submitted recipe-set/2:
            recipe.scheduled        recipe/2        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=2
            recipe.waiting          recipe/2        system=m1
            system.waiting          system/m1       recipe_id=2
    """)
    stage.end_started(forces)
    stage.assert_log("""
        lab-ops:
            recipe.aborted          recipe/2        reason='seen enough'
            system.idle             system/m1
    """)
    stage.cancel(ordinary)
    stage.assert_log("""
        admin:
            recipe.cancelled        recipe/1        reason='not needed'
    """)


def test_forced__system_breaks_before_the_start__keeps_it(stage: Stage) -> None:
    stage.machine("m1")
    stage.machine("m2")
    (busy,) = stage.submit(stage.recipe("m2"))
    stage.start_all(busy)
    stage.begin()
    one, _ = stage.submit(forced(stage, "m1"), stage.recipe("m2"))
    stage.assert_log("""
        admin submits job/1: recipe-set/1 of recipe/1, recipe/2
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.scheduled        recipe/1        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=1
            recipe.assigned         recipe/2        lab_controller=lab.east
    """)
    stage.change("m1", condition="Broken", reason="fan")
    stage.assert_log("""
        admin:
            system.condition-changed system/m1       condition=Broken reason=fan
    """)
    stage.finish(busy)
    stage.assert_log("""
        lab-ops completes recipe/3 on m2
        scheduler, on system.pending system/m2:
            recipe.scheduled        recipe/2        system=m2 lab_controller=lab.east
            system.scheduled        system/m2       recipe_id=2
            recipe.waiting          recipe/1        system=m1
            system.waiting          system/m1       recipe_id=1
            recipe.waiting          recipe/2        system=m2
            system.waiting          system/m2       recipe_id=2
    """)
    stage.cancel(one)
    stage.assert_log("""
        admin:
            recipe.cancelled        recipe/1        reason='not needed'
            recipe.cancelled        recipe/2        reason='not needed'
            system.idle             system/m1
            system.pending          system/m2
        scheduler, on system.pending system/m2:
            system.idle             system/m2
    """)
