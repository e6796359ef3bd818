"""A recipe whose watchdog expires is aborted, and counted by the metrics."""

from __future__ import annotations

from tests.acceptance.metrics import findings
from tests.acceptance.stage import Stage
from tests.harness.waiting import wait_until


def test_watchdog__expired__aborted_and_its_system_granted(stage: Stage) -> None:
    stage.machine("m1")
    (recipe,) = stage.submit(stage.recipe())
    (waits,) = stage.submit(stage.recipe())
    stage.start_all(recipe)
    stage.begin()
    stage.report(recipe, {"watchdog_seconds": 0})
    stage.assert_log("""
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
    stage.assert_log("""
        lab-ops gives up recipe/2 on m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)


def test_metrics__watchdog_expired__as_many_are_counted_as_the_log_has(stage: Stage) -> None:
    stage.machine("m1")
    (recipe,) = stage.submit(stage.recipe())
    stage.start_all(recipe)
    stage.report(recipe, {"watchdog_seconds": 0})
    stage.wait_idle("m1")
    causes = {event["cause"] for event in stage.service.events()}
    expired = sum(cause.startswith("timer/watchdog/") for cause in causes)
    wait_until(lambda: findings(stage.service)["watchdogs_expired"] == expired, "the loop to have counted it")
    found = findings(stage.service)
    assert found["out_of_step"] == found["idle_but_wanted"] == 0
    stage.begin()
