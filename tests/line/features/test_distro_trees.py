"""A distro tree comes to a lab, or leaves the last one, while a recipe waits for it."""

from __future__ import annotations

import pytest

from tests.line.features.conftest import TREE
from tests.line.stage import DISTRO, Stage
from tests.line.watcher import LABS

LATER = {"and": [{"element": "name", "value": "Later"}, {"element": "arch", "value": "x86_64"}]}


@pytest.fixture
def later(stage: Stage) -> str:
    """A distro tree that only the west has yet."""
    path = "/distro-trees/2"
    stage.write("PUT", path, {**TREE, "name": "Later", "urls": {LABS["west"]: ["http://west/"]}})
    return path


def test_distro_tree__comes_to_a_lab__who_waits_has_its_idle_system(stage: Stage, later: str) -> None:
    stage.machine("m1", lab="east")
    stage.machine("m2", lab="west", condition="Broken")
    stage.begin()
    (recipe,) = stage.submit(stage.recipe(distro_requires=LATER))
    stage.tells("""
        admin:
            job.submitted           job/1           owner=admin
            recipe-set.submitted    recipe-set/1    job_id=1 priority=Normal recipe_ids=1
            recipe.new              recipe/1        recipe_set_id=1 distro_tree_id=2
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.queued           recipe/1        reason='every viable system is broken'
    """)
    urls = {fqdn: ["http://mirror/"] for fqdn in LABS.values()}
    stage.write("PUT", later, {**TREE, "name": "Later", "urls": urls})
    stage.tells("""
        admin:
            distro-tree.changed     distro-tree/2   name=Later urls=lab.east,lab.west
        scheduler, on distro-tree.changed distro-tree/2:
            recipe.scheduled        recipe/1        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=1
            recipe.waiting          recipe/1        system=m1
            system.waiting          system/m1       recipe_id=1
    """)
    stage.end_started(recipe)
    stage.tells("""
        lab-ops gives up recipe/1 on m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)


def test_distro_tree__leaves_every_lab__who_waits_for_it_is_given_up(stage: Stage, later: str) -> None:
    stage.machine("m1", lab="west", condition="Broken")
    stage.machine("m2", lab="west", condition="Broken")
    stage.begin()
    stage.submit(
        stage.recipe("m1", distro_requires=LATER),
        stage.recipe("m2", distro_requires=DISTRO),
    )
    stage.tells("""
        admin:
            job.submitted           job/1           owner=admin
            recipe-set.submitted    recipe-set/1    job_id=1 priority=Normal recipe_ids=1,2
            recipe.new              recipe/1        recipe_set_id=1 distro_tree_id=2
            recipe.new              recipe/2        recipe_set_id=1 distro_tree_id=1
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.queued           recipe/1        reason='every viable system is broken'
            recipe.queued           recipe/2        reason='every viable system is broken'
    """)
    stage.write("DELETE", later)
    stage.tells("""
        admin:
            distro-tree.removed     distro-tree/2
        scheduler, on timer/distro-tree/2:
            recipe.aborted          recipe/1        reason='its distro tree has left every lab: 2'
            recipe.aborted          recipe/2        reason='another recipe of its set could never run'
    """)
