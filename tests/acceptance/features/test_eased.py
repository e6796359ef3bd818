"""Changes after which a waiting recipe can be placed, at a pending system or by a wake-up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.observer import LABS
from tests.acceptance.stage import Stage


def test_priority__raised_while_waiting__gets_the_system_before_an_earlier_recipe(stage: Stage) -> None:
    stage.machine("m1")
    (busy,) = stage.submit(stage.recipe())
    stage.start_all(busy)
    stage.begin()
    (early,) = stage.submit(stage.recipe(), priority="Normal")
    stage.assert_log("""
        admin submits job/1: recipe-set/1 of recipe/1
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.queued           recipe/1        reason='no idle system is viable'
    """)
    (late,) = stage.submit(stage.recipe(), priority="Low")
    stage.assert_log("""
        admin submits job/2: Low recipe-set/2 of recipe/2
        scheduler, on recipe-set.submitted recipe-set/2:
            recipe.queued           recipe/2        reason='no idle system is viable'
    """)
    stage.write("PATCH", f"/recipe-sets/{stage.set_of(late)}", {"priority": "Urgent"})
    stage.assert_log("""
        admin:
            recipe-set.priority-changed recipe-set/2    priority=Urgent
    """)
    stage.finish(busy)
    stage.assert_log("""
        lab-ops completes recipe/3 on m1
        scheduler, on system.pending system/m1:
            recipe.scheduled        recipe/2        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=2
            recipe.waiting          recipe/2        system=m1
            system.waiting          system/m1       recipe_id=2
    """)
    stage.end_started(late)
    stage.assert_log("""
        lab-ops gives up recipe/2 on m1
        scheduler, on system.pending system/m1:
            recipe.scheduled        recipe/1        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=1
            recipe.waiting          recipe/1        system=m1
            system.waiting          system/m1       recipe_id=1
    """)
    stage.end_started(early)
    stage.assert_log("""
        lab-ops gives up recipe/1 on m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)


@pytest.fixture
def west(stage: Stage) -> Iterator[str]:
    """A lab controller that the test may disable."""
    path = f"/lab-controllers/{LABS['west']}"
    yield path
    stage.admin.patch(path, json={"enabled": True})


def test_lab__disabled_and_enabled_again__waiting_recipe_gets_its_idle_system(
    stage: Stage, west: str
) -> None:
    stage.machine("m1", lab="west")
    stage.begin()
    stage.write("PATCH", west, {"enabled": False})
    (recipe,) = stage.submit(stage.recipe())
    stage.assert_log("""
        admin:
            lab-controller.disabled lab-controller/lab.west
        admin submits job/1: recipe-set/1 of recipe/1
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.queued           recipe/1        reason='no viable system is usable now, busy ones inc…'
    """)
    stage.write("PATCH", west, {"enabled": True})
    stage.assert_log("""
        admin:
            lab-controller.enabled  lab-controller/lab.west
        scheduler, on lab-controller.enabled lab-controller/lab.west:
            recipe.scheduled        recipe/1        system=m1 lab_controller=lab.west
            system.scheduled        system/m1       recipe_id=1
            recipe.waiting          recipe/1        system=m1
            system.waiting          system/m1       recipe_id=1
    """)
    stage.end_started(recipe, by="west")
    stage.assert_log("""
        lab-ops gives up recipe/1 on m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)
