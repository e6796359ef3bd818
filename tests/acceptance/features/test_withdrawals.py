"""Systems that break before the start: recipes lose them, holders release systems and get them again."""

from __future__ import annotations

import pytest

from tests.acceptance.stage import Stage

pytestmark = pytest.mark.soak


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


def test_withdrawn__set_holds_another__assigned_and_behind_a_more_urgent_recipe(stage: Stage) -> None:
    for name in ("a1", "a2", "b1", "c1"):
        stage.machine(name)
    (on_a2,) = stage.submit(stage.recipe("a2"))
    (on_c1,) = stage.submit(stage.recipe("c1"))
    stage.start_all(on_a2, on_c1)
    stage.begin()
    one, *_ = stage.submit(stage.recipe("a%"), stage.recipe("b%"), stage.recipe("c%"))
    stage.assert_log("""
        admin submits job/1: recipe-set/1 of recipe/1, recipe/2, recipe/3
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.scheduled        recipe/2        system=b1 lab_controller=lab.east
            system.scheduled        system/b1       recipe_id=2
            recipe.assigned         recipe/1        lab_controller=lab.east
            recipe.assigned         recipe/3        lab_controller=lab.east
            recipe.scheduled        recipe/1        system=a1 lab_controller=lab.east
            system.scheduled        system/a1       recipe_id=1
    """)
    (urgent,) = stage.submit(stage.recipe("a%"), priority="Urgent")
    stage.assert_log("""
        admin submits job/2: Urgent recipe-set/2 of recipe/4
        scheduler, on recipe-set.submitted recipe-set/2:
            recipe.queued           recipe/4        reason='no idle system is viable'
    """)
    stage.change("a1", condition="Broken", reason="fan")
    stage.assert_log("""
        admin:
            system.condition-changed system/a1       condition=Broken reason=fan
            recipe.assigned         recipe/1        lab_controller=lab.east reason='a1 is Broken: fan'
            system.idle             system/a1
    """)
    stage.finish(on_a2)
    stage.assert_log("""
        lab-ops completes recipe/5 on a2
        scheduler, on system.pending system/a2:
            recipe.scheduled        recipe/4        system=a2 lab_controller=lab.east
            system.scheduled        system/a2       recipe_id=4
            recipe.waiting          recipe/4        system=a2
            system.waiting          system/a2       recipe_id=4
    """)
    stage.end_started(urgent)
    stage.assert_log("""
        lab-ops gives up recipe/4 on a2
        scheduler, on system.pending system/a2:
            recipe.scheduled        recipe/1        system=a2 lab_controller=lab.east
            system.scheduled        system/a2       recipe_id=1
    """)
    stage.cancel(one)
    stage.assert_log("""
        admin:
            recipe.cancelled        recipe/1        reason='not needed'
            recipe.cancelled        recipe/2        reason='not needed'
            recipe.cancelled        recipe/3        reason='not needed'
            system.pending          system/a2
            system.pending          system/b1
        scheduler, on system.pending system/a2:
            system.idle             system/a2
        and on system.pending system/b1:
            system.idle             system/b1
    """)
    stage.end_started(on_c1)
    stage.assert_log("""
        lab-ops gives up recipe/6 on c1
        scheduler, on system.pending system/c1:
            system.idle             system/c1
    """)


def test_withdrawn__set_cannot_be_completed__lets_go_and_has_it_again_when_repaired(stage: Stage) -> None:
    for name in ("a1", "b1", "c1"):
        stage.machine(name)
    (busy,) = stage.submit(stage.recipe("c1"))
    stage.start_all(busy)
    stage.begin()
    one, *_ = stage.submit(stage.recipe("a%"), stage.recipe("b%"), stage.recipe("c%"))
    stage.assert_log("""
        admin submits job/1: recipe-set/1 of recipe/1, recipe/2, recipe/3
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.scheduled        recipe/1        system=a1 lab_controller=lab.east
            system.scheduled        system/a1       recipe_id=1
            recipe.assigned         recipe/2        lab_controller=lab.east
            recipe.assigned         recipe/3        lab_controller=lab.east
            recipe.scheduled        recipe/2        system=b1 lab_controller=lab.east
            system.scheduled        system/b1       recipe_id=2
    """)
    stage.change("a1", condition="Broken", reason="fan")
    stage.assert_log("""
        admin:
            system.condition-changed system/a1       condition=Broken reason=fan
            recipe.assigned         recipe/1        lab_controller=lab.east reason='a1 is Broken: fan'
            system.idle             system/a1
        scheduler, on system.condition-changed system/a1:
            recipe.queued           recipe/1        reason='its set let go: it could not be completed, or…'
            recipe.queued           recipe/2        reason='its set let go: it could not be completed, or…'
            recipe.queued           recipe/3        reason='its set let go: it could not be completed, or…'
            system.pending          system/b1
        scheduler, on system.pending system/b1:
            system.idle             system/b1
    """)
    stage.change("a1", condition="Automated", reason="new fan")
    stage.assert_log("""
        admin:
            system.condition-changed system/a1       condition=Automated reason='new fan'
            system.pending          system/a1
        scheduler, on system.pending system/a1:
            recipe.scheduled        recipe/1        system=a1 lab_controller=lab.east
            system.scheduled        system/a1       recipe_id=1
            recipe.assigned         recipe/2        lab_controller=lab.east
            recipe.assigned         recipe/3        lab_controller=lab.east
        and on system.condition-changed system/a1:
            recipe.scheduled        recipe/2        system=b1 lab_controller=lab.east
            system.scheduled        system/b1       recipe_id=2
    """)
    stage.cancel(one)
    stage.assert_log("""
        admin:
            recipe.cancelled        recipe/1        reason='not needed'
            recipe.cancelled        recipe/2        reason='not needed'
            recipe.cancelled        recipe/3        reason='not needed'
            system.pending          system/a1
            system.pending          system/b1
        scheduler, on system.pending system/a1:
            system.idle             system/a1
        and on system.pending system/b1:
            system.idle             system/b1
    """)
    stage.end_started(busy)
    stage.assert_log("""
        lab-ops gives up recipe/4 on c1
        scheduler, on system.pending system/c1:
            system.idle             system/c1
    """)
