"""A recipe that ends before the start ends with its whole set; after the start, with its guests alone."""

from __future__ import annotations

from tests.acceptance.stage import Stage


def test_cancelled__before_the_start__the_whole_set_ends_and_frees_its_systems(stage: Stage) -> None:
    stage.machine("m1")
    stage.machine("m2")
    (busy,) = stage.submit(stage.recipe("m2"))
    stage.start_all(busy)
    stage.begin()
    one, _ = stage.submit(stage.recipe("m1"), stage.recipe("m2"))
    stage.assert_log("""
        admin submits job/1: recipe-set/1 of recipe/1, recipe/2
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.scheduled        recipe/1        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=1
            recipe.assigned         recipe/2        lab_controller=lab.east
    """)
    stage.cancel(one)
    stage.assert_log("""
        admin:
            recipe.cancelled        recipe/1        reason='not needed'
            recipe.cancelled        recipe/2        reason='not needed'
            system.pending          system/m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)
    assert stage.commands() == []
    stage.finish(busy)
    stage.assert_log("""
        lab-ops completes recipe/3 on m2
        scheduler, on system.pending system/m2:
            system.idle             system/m2
    """)


def test_cancelled__after_the_start__unfinished_recipes_end_and_no_other_set(stage: Stage) -> None:
    for name in ("m1", "m2", "m3"):
        stage.machine(name)
    stage.begin()
    first = [stage.recipe("m1", guests=[stage.guest("one")]), stage.recipe("m2")]
    host, guest, sibling, other = stage.submit_sets(first, [stage.recipe("m3")])
    stage.assert_log("""
        admin:
            job.submitted           job/1           owner=admin
            recipe-set.submitted    recipe-set/1    job_id=1 priority=Normal recipe_ids=1,2,3
            recipe.new              recipe/1        recipe_set_id=1 distro_tree_id=1
            recipe.new              recipe/2        recipe_set_id=1 host_recipe_id=1 distro_tree_id=1
            recipe.new              recipe/3        recipe_set_id=1 distro_tree_id=1
            recipe-set.submitted    recipe-set/2    job_id=1 priority=Normal recipe_ids=4
            recipe.new              recipe/4        recipe_set_id=2 distro_tree_id=1
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.scheduled        recipe/1        system=m1 lab_controller=lab.east
            recipe.scheduled        recipe/2        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=1
            recipe.assigned         recipe/3        lab_controller=lab.east
            recipe.scheduled        recipe/3        system=m2 lab_controller=lab.east
            system.scheduled        system/m2       recipe_id=3
            recipe.waiting          recipe/1        system=m1
            recipe.waiting          recipe/2        system=m1
            system.waiting          system/m1       recipe_id=1
            recipe.waiting          recipe/3        system=m2
            system.waiting          system/m2       recipe_id=3
        and on recipe-set.submitted recipe-set/2:
            recipe.scheduled        recipe/4        system=m3 lab_controller=lab.east
            system.scheduled        system/m3       recipe_id=4
            recipe.waiting          recipe/4        system=m3
            system.waiting          system/m3       recipe_id=4
    """)
    for recipe in (host, guest, sibling, other):
        stage.start(recipe)
    stage.assert_log("""
        lab-ops starts recipe/1 on m1
        lab-ops:
            recipe.installing       recipe/2        system=m1
        lab-ops:
            recipe.running          recipe/2        system=m1
            recipe.task-started     recipe/2        task_id=2
        lab-ops starts recipe/3 on m2
        lab-ops starts recipe/4 on m3
    """)
    stage.finish(sibling)
    stage.assert_log("""
        lab-ops completes recipe/3 on m2
        scheduler, on system.pending system/m2:
            system.idle             system/m2
    """)
    stage.cancel(host)
    stage.assert_log("""
        admin:
            recipe.cancelled        recipe/1        reason='not needed'
            recipe.cancelled        recipe/2        reason='not needed'
            system.pending          system/m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)
    stage.finish(other)
    stage.assert_log("""
        lab-ops completes recipe/4 on m3
        scheduler, on system.pending system/m3:
            system.idle             system/m3
    """)


def test_aborted__after_the_start__its_guests_end_and_siblings_continue(stage: Stage) -> None:
    for name in ("m1", "m2"):
        stage.machine(name)
    guests = [stage.guest("one"), stage.guest("two")]
    host, one, _, sibling = stage.submit(stage.recipe("m1", guests=guests), stage.recipe("m2"))
    stage.start_all(host, one, sibling)
    stage.begin()
    stage.report(host, {"state": "aborted", "reason": "no answer from the console"})
    stage.assert_log("""
        lab-ops:
            recipe.aborted          recipe/1        reason='no answer from the console'
            recipe.aborted          recipe/2        reason='its host recipe ended'
            recipe.aborted          recipe/3        reason='its host recipe ended'
            system.pending          system/m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)
    stage.finish(sibling)
    stage.assert_log("""
        lab-ops completes recipe/4 on m2, task 1
        scheduler, on system.pending system/m2:
            system.idle             system/m2
    """)
    assert stage.commands() == ["release m1 recipe/1", "release m2 recipe/4"]
