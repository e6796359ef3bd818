"""A system breaks under a recipe that has started: it is aborted, and the next one waits for the repair."""

from __future__ import annotations

from tests.acceptance.observer import LABS
from tests.acceptance.stage import Stage


def test_broken__after_the_start__aborted_with_the_reason_and_repaired_for_the_next(stage: Stage) -> None:
    stage.machine("m1")
    host, guest = stage.submit(stage.recipe(guests=[stage.guest("one")]))
    stage.start_all(host, guest)
    stage.begin()
    (waits,) = stage.submit(stage.recipe())
    stage.assert_log("""
        admin submits job/1: recipe-set/1 of recipe/1
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.queued           recipe/1        reason='no idle system is viable'
    """)
    updates = f"/lab-controllers/{LABS['east']}/updates"
    system = {"fqdn": stage.fqdn("m1"), "condition": "Broken", "reason": "no power"}
    stage.write("POST", updates, {"items": [{"system": system}]}, by="east")
    stage.assert_log("""
        lab-ops:
            system.condition-changed system/m1       condition=Broken reason='no power'
            recipe.aborted          recipe/2        reason='m1 is Broken: no power'
            recipe.aborted          recipe/3        reason='its host recipe ended'
            system.idle             system/m1
    """)
    assert stage.commands() == ["release m1 recipe/2"]
    mended = {"fqdn": stage.fqdn("m1"), "condition": "Automated", "reason": "new fuse"}
    stage.write("POST", updates, {"items": [{"system": mended}]}, by="east")
    stage.assert_log("""
        lab-ops:
            system.condition-changed system/m1       condition=Automated reason='new fuse'
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
