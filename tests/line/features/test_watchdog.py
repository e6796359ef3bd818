"""A recipe whose watchdog expires is given up; the metrics count it."""

from __future__ import annotations

from tests.harness.running import wait_for
from tests.line.metrics import findings
from tests.line.stage import Stage


def test_watchdog__expired__aborted_and_its_system_asked_for(stage: Stage) -> None:
    stage.machine("m1")
    (recipe,) = stage.submit(stage.recipe())
    (waits,) = stage.submit(stage.recipe())
    stage.starts(recipe)
    stage.begin()
    stage.report(recipe, {"watchdog_seconds": 0})
    stage.tells("""
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
    stage.tells("""
        lab-ops:
            recipe.aborted          recipe/2        reason='seen enough'
            system.pending          system/m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)


def test_metrics__watchdog_expired__one_more_is_counted(stage: Stage) -> None:
    wait_for(lambda: findings(stage.line), "the loop to run")
    before = findings(stage.line)
    assert before["out_of_step"] == before["idle_but_wanted"] == 0
    stage.machine("m1")
    (recipe,) = stage.submit(stage.recipe())
    stage.starts(recipe)
    stage.report(recipe, {"watchdog_seconds": 0})
    after = {**before, "watchdogs_expired": before["watchdogs_expired"] + 1}
    wait_for(lambda: findings(stage.line) == after, "the loop to have counted it")
    stage.is_idle("m1")
    stage.begin()
