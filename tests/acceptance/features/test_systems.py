"""Systems that break, drain, are forced or get a distro tree."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.features.conftest import TREE
from tests.acceptance.observer import LABS
from tests.acceptance.stage import Stage

pytestmark = pytest.mark.soak


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
        scheduler, on recipe.queued recipe/2:
            recipe.claimed          recipe/2        system=m1 forced=True
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
            recipe.claim-ended      recipe/2        system=m1 reason=served
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


LATER = {"and": [{"element": "name", "value": "Later"}, {"element": "arch", "value": "x86_64"}]}


@pytest.fixture
def later(stage: Stage) -> str:
    """A distro tree that only the west has at first."""
    path = "/distro-trees/2"
    stage.write("PUT", path, {**TREE, "name": "Later", "urls": {LABS["west"]: ["http://west/"]}})
    return path


def test_distro_tree__added_to_a_lab__waiting_recipe_gets_its_idle_system(stage: Stage, later: str) -> None:
    stage.machine("m1", lab="east")
    stage.machine("m2", lab="west", condition="Broken")
    stage.begin()
    (recipe,) = stage.submit(stage.recipe(distro_requires=LATER))
    stage.assert_log("""
        admin:
            job.submitted           job/1           owner=admin
            recipe-set.submitted    recipe-set/1    job_id=1 priority=Normal recipe_ids=1
            recipe.new              recipe/1        recipe_set_id=1 distro_tree_id=2
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.queued           recipe/1        reason='every viable system is broken'
    """)
    urls = {fqdn: ["http://mirror/"] for fqdn in LABS.values()}
    stage.write("PUT", later, {**TREE, "name": "Later", "urls": urls})
    stage.assert_log("""
        admin:
            distro-tree.changed     distro-tree/2   name=Later urls=lab.east,lab.west
        scheduler, on distro-tree.changed distro-tree/2:
            recipe.scheduled        recipe/1        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=1
            recipe.waiting          recipe/1        system=m1
            system.waiting          system/m1       recipe_id=1
    """)
    stage.end_started(recipe)
    stage.assert_log("""
        lab-ops gives up recipe/1 on m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)


def test_distro_tree__removed_from_every_lab_and_restored__recipe_waits_for_it(
    stage: Stage, later: str
) -> None:
    stage.machine("m1", lab="west", condition="Broken")
    stage.begin()
    (away,) = stage.submit(stage.recipe(distro_requires=LATER))
    stage.assert_log("""
        admin:
            job.submitted           job/1           owner=admin
            recipe-set.submitted    recipe-set/1    job_id=1 priority=Normal recipe_ids=1
            recipe.new              recipe/1        recipe_set_id=1 distro_tree_id=2
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.queued           recipe/1        reason='every viable system is broken'
    """)
    stage.write("DELETE", later)
    stage.assert_log("""
        admin:
            distro-tree.removed     distro-tree/2
    """)
    # The set would be aborted after ten minutes: tests/domain/scheduling/test_trees_gone.py.
    stage.change("m1", condition="Automated", reason="repaired")
    stage.assert_log("""
        admin:
            system.condition-changed system/m1      condition=Automated reason=repaired
            system.pending          system/m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)
    assert stage.shown(away)["state"] == "queued"
    urls = {LABS["west"]: ["http://west/"]}
    stage.write("PUT", later, {**TREE, "name": "Later", "urls": urls})
    stage.assert_log("""
        admin:
            distro-tree.registered  distro-tree/2   name=Later urls=lab.west
        scheduler, on distro-tree.registered distro-tree/2:
            recipe.scheduled        recipe/1        system=m1 lab_controller=lab.west
            system.scheduled        system/m1       recipe_id=1
            recipe.waiting          recipe/1        system=m1
            system.waiting          system/m1       recipe_id=1
    """)
    stage.end_started(away, by="west")
    stage.assert_log("""
        lab-ops gives up recipe/1 on m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)
