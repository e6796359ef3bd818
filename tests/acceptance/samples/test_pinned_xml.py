"""`pinned.xml`: a Broken system by force, and an urgent pair elsewhere."""

from __future__ import annotations

from tests.acceptance.stage import Stage


def test_pinned_xml__run_to_the_end__log_is_exactly_this(stage: Stage) -> None:
    forces, one, two = stage.submit_sample("pinned.xml")
    stage.assert_log("""
        admin:
            job.submitted           job/1           owner=admin
            recipe-set.submitted    recipe-set/1    job_id=1 priority=Low recipe_ids=1
            recipe.new              recipe/1        recipe_set_id=1 distro_tree_id=4
            recipe-set.submitted    recipe-set/2    job_id=1 priority=Urgent recipe_ids=2,3
            recipe.new              recipe/2        recipe_set_id=2 distro_tree_id=3
            recipe.new              recipe/3        recipe_set_id=2 distro_tree_id=3
        scheduler, on recipe-set.submitted recipe-set/2:
            recipe.scheduled        recipe/3        system=store-01.west lab_controller=lab.west
            system.scheduled        system/store-01.west recipe_id=3
            recipe.assigned         recipe/2        lab_controller=lab.west
            recipe.scheduled        recipe/2        system=x86-02.west lab_controller=lab.west
            system.scheduled        system/x86-02.west recipe_id=2
            recipe.waiting          recipe/2        system=x86-02.west
            system.waiting          system/x86-02.west recipe_id=2
            recipe.waiting          recipe/3        system=store-01.west
            system.waiting          system/store-01.west recipe_id=3
        and on recipe-set.submitted recipe-set/1:
            recipe.scheduled        recipe/1        system=arm-04.east lab_controller=lab.east
            system.scheduled        system/arm-04.east recipe_id=1
            recipe.waiting          recipe/1        system=arm-04.east
            system.waiting          system/arm-04.east recipe_id=1
    """)
    stage.obey("east")
    stage.obey("west")
    stage.assert_log("""
        lab-ops obeys recipe.waiting recipe/1
        lab-ops obeys recipe.waiting recipe/2
        lab-ops obeys recipe.waiting recipe/3
    """)
    for recipe, by in ((forces, "east"), (one, "west"), (two, "west")):
        (task,) = stage.tasks(recipe)
        stage.install(recipe, task, by=by)
        stage.run(recipe, task, by=by)
    stage.assert_log("""
        lab-ops starts recipe/1 on arm-04.east
        lab-ops:
            recipe.task-result      recipe/1        task_id=1 result=Pass
        lab-ops:
            recipe.task-completed   recipe/1        task_id=1
        lab-ops starts recipe/2 on x86-02.west
        lab-ops:
            recipe.task-result      recipe/2        task_id=2 result=Pass
        lab-ops:
            recipe.task-completed   recipe/2        task_id=2
        lab-ops starts recipe/3 on store-01.west
        lab-ops:
            recipe.task-result      recipe/3        task_id=3 result=Pass
        lab-ops:
            recipe.task-completed   recipe/3        task_id=3
    """)
    stage.report(forces, {"state": "completed"}, by="east")
    stage.assert_log("""
        lab-ops:
            recipe.completed        recipe/1
            system.idle             system/arm-04.east
    """)
    stage.report(two, {"state": "completed"}, by="west")
    stage.assert_log("""
        lab-ops:
            recipe.completed        recipe/3
            system.pending          system/store-01.west
        scheduler, on system.pending system/store-01.west:
            system.idle             system/store-01.west
    """)
    stage.report(one, {"state": "completed"}, by="west")
    stage.assert_log("""
        lab-ops:
            recipe.completed        recipe/2
            system.pending          system/x86-02.west
        scheduler, on system.pending system/x86-02.west:
            system.idle             system/x86-02.west
    """)
    stage.obey("east")
    stage.obey("west")
    stage.assert_log("""
        lab-ops obeys recipe.completed recipe/1
        lab-ops obeys recipe.completed recipe/3
        lab-ops obeys recipe.completed recipe/2
    """)
    assert stage.job_of(forces)["state"] == "completed"
