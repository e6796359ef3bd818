"""A distro tree is added to a lab, or removed from the last one, while a recipe waits for it."""

from __future__ import annotations

import pytest

from tests.acceptance.features.conftest import TREE
from tests.acceptance.observer import LABS
from tests.acceptance.stage import Stage

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
