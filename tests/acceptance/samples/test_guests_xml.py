"""`guests.xml`: a host with two guests, from `labledger submit` to completed."""

from __future__ import annotations

from tests.acceptance.stage import Stage


def test_guests_xml__run_to_the_end__log_is_exactly_this(stage: Stage) -> None:
    host, one, two = stage.submit_sample("guests.xml")
    stage.assert_log("""
        admin:
            job.submitted           job/1           owner=admin
            recipe-set.submitted    recipe-set/1    job_id=1 priority=Normal recipe_ids=1,2,3
            recipe.new              recipe/1        recipe_set_id=1 distro_tree_id=1
            recipe.new              recipe/2        recipe_set_id=1 host_recipe_id=1 distro_tree_id=3
            recipe.new              recipe/3        recipe_set_id=1 host_recipe_id=1 distro_tree_id=1
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.scheduled        recipe/1        system=store-01.west lab_controller=lab.west
            recipe.scheduled        recipe/2        system=store-01.west lab_controller=lab.west
            recipe.scheduled        recipe/3        system=store-01.west lab_controller=lab.west
            system.scheduled        system/store-01.west recipe_id=1
            recipe.waiting          recipe/1        system=store-01.west
            recipe.waiting          recipe/2        system=store-01.west
            recipe.waiting          recipe/3        system=store-01.west
            system.waiting          system/store-01.west recipe_id=1
    """)
    stage.obey("west")
    stage.assert_log("""
        lab-ops obeys recipe.waiting recipe/1
    """)
    first, second = stage.tasks(host)
    stage.install(host, first, by="west")
    stage.run(host, first, by="west")
    stage.assert_log("""
        lab-ops starts recipe/1 on store-01.west
        lab-ops:
            recipe.task-result      recipe/1        task_id=1 result=Pass
        lab-ops:
            recipe.task-completed   recipe/1        task_id=1
    """)
    # The host's second task installs its guests, and waits for them.
    stage.report(host, {"state": "running", "task_id": second}, by="west")
    for guest in (one, two):
        (task,) = stage.tasks(guest)
        stage.install(guest, task, by="west")
        stage.run(guest, task, by="west")
        stage.report(guest, {"state": "completed"}, by="west")
    stage.assert_log("""
        lab-ops:
            recipe.task-started     recipe/1        task_id=2
        lab-ops:
            recipe.installing       recipe/2        system=store-01.west
        lab-ops:
            recipe.running          recipe/2        system=store-01.west
            recipe.task-started     recipe/2        task_id=3
        lab-ops:
            recipe.task-result      recipe/2        task_id=3 result=Pass
        lab-ops:
            recipe.task-completed   recipe/2        task_id=3
        lab-ops:
            recipe.completed        recipe/2
        lab-ops:
            recipe.installing       recipe/3        system=store-01.west
        lab-ops:
            recipe.running          recipe/3        system=store-01.west
            recipe.task-started     recipe/3        task_id=4
        lab-ops:
            recipe.task-result      recipe/3        task_id=4 result=Pass
        lab-ops:
            recipe.task-completed   recipe/3        task_id=4
        lab-ops:
            recipe.completed        recipe/3
    """)
    stage.run(host, second, by="west")
    stage.report(host, {"state": "completed"}, by="west")
    stage.assert_log("""
        lab-ops:
            recipe.task-result      recipe/1        task_id=2 result=Pass
        lab-ops:
            recipe.task-completed   recipe/1        task_id=2
        lab-ops:
            recipe.completed        recipe/1
            system.pending          system/store-01.west
        scheduler, on system.pending system/store-01.west:
            system.idle             system/store-01.west
    """)
    stage.obey("west")
    stage.assert_log("""
        lab-ops obeys recipe.completed recipe/1
    """)
    job = stage.job_of(host)
    assert (job["state"], job["result"]) == ("completed", "Pass")
