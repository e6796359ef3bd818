"""A system breaks before the start: its recipe loses it and keeps its place."""

from __future__ import annotations

from tests.acceptance.stage import Stage


def test_withdrawn__set_holds_no_other__keeps_its_place_and_is_placed_elsewhere(stage: Stage) -> None:
    for name in ("a1", "a2", "b1"):
        stage.machine(name)
    (on_a2,) = stage.submit(stage.recipe("a2"))
    (on_b1,) = stage.submit(stage.recipe("b1"))
    stage.start_all(on_a2, on_b1)
    stage.begin()
    first, second = stage.submit(stage.recipe("a%"), stage.recipe("b%"))
    stage.assert_log("""
        admin submits job/1: recipe-set/1 of recipe/1, recipe/2
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.scheduled        recipe/1        system=a1 lab_controller=lab.east
            system.scheduled        system/a1       recipe_id=1
            recipe.assigned         recipe/2        lab_controller=lab.east
    """)
    (later,) = stage.submit(stage.recipe("a%"))
    stage.assert_log("""
        admin submits job/2: recipe-set/2 of recipe/3
        scheduler, on recipe-set.submitted recipe-set/2:
            recipe.queued           recipe/3        reason='no idle system is viable'
    """)
    stage.change("a1", condition="Broken", reason="fan")
    stage.assert_log("""
        admin:
            system.condition-changed system/a1       condition=Broken reason=fan
            recipe.queued           recipe/1        reason='a1 is Broken: fan'
            recipe.queued           recipe/2        reason='a1 is Broken: fan'
            system.idle             system/a1
    """)
    stage.finish(on_a2)
    stage.assert_log("""
        lab-ops completes recipe/4 on a2
        scheduler, on system.pending system/a2:
            recipe.scheduled        recipe/1        system=a2 lab_controller=lab.east
            system.scheduled        system/a2       recipe_id=1
            recipe.assigned         recipe/2        lab_controller=lab.east
    """)
    stage.finish(on_b1)
    # The set starts, all of it in one commit.
    stage.assert_log("""
        lab-ops completes recipe/5 on b1
        scheduler, on system.pending system/b1:
            recipe.scheduled        recipe/2        system=b1 lab_controller=lab.east
            system.scheduled        system/b1       recipe_id=2
            recipe.waiting          recipe/1        system=a2
            system.waiting          system/a2       recipe_id=1
            recipe.waiting          recipe/2        system=b1
            system.waiting          system/b1       recipe_id=2
    """)
    stage.start_all(first, second)
    stage.assert_log("""
        lab-ops starts recipe/1 on a2
        lab-ops starts recipe/2 on b1
    """)
    stage.finish(second)
    stage.assert_log("""
        lab-ops completes recipe/2 on b1
        scheduler, on system.pending system/b1:
            system.idle             system/b1
    """)
    stage.finish(first)
    stage.assert_log("""
        lab-ops completes recipe/1 on a2
        scheduler, on system.pending system/a2:
            recipe.scheduled        recipe/3        system=a2 lab_controller=lab.east
            system.scheduled        system/a2       recipe_id=3
            recipe.waiting          recipe/3        system=a2
            system.waiting          system/a2       recipe_id=3
    """)
    stage.end_started(later)
    stage.assert_log("""
        lab-ops gives up recipe/3 on a2
        scheduler, on system.pending system/a2:
            system.idle             system/a2
    """)
