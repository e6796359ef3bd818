"""`nfs-multihost.xml`: two recipes in one lab; one recipe keeps its system because a task failed."""

from __future__ import annotations

from hashlib import sha256

from tests.acceptance.stage import Stage

# Candidate systems of the client in order of registration. Each determines lab and system of the server: the
# west has a system of the server's preferred pool.
CLIENTS = {
    "x86-05.east": ("lab.east", "x86-01.east"),
    "x86-06.west": ("lab.west", "store-01.west"),
    "x86-07.east": ("lab.east", "x86-01.east"),
    "x86-08.west": ("lab.west", "store-01.west"),
    "old-01.east": ("lab.east", "x86-01.east"),
}


def test_nfs_multihost_xml__run_to_the_end__log_is_exactly_this(stage: Stage) -> None:
    server, client = stage.submit_sample("nfs-multihost.xml")
    system, (lab, other) = _drawn(stage, client)
    by = lab.removeprefix("lab.")
    stage.assert_log(f"""
        admin:
            job.submitted           job/1           owner=admin
            recipe-set.submitted    recipe-set/1    job_id=1 priority=High recipe_ids=1,2
            recipe.new              recipe/1        recipe_set_id=1 distro_tree_id=1
            recipe.new              recipe/2        recipe_set_id=1 distro_tree_id=1
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.scheduled        recipe/2        system={system} lab_controller={lab}
            system.scheduled        system/{system} recipe_id=2
            recipe.assigned         recipe/1        lab_controller={lab}
            recipe.scheduled        recipe/1        system={other} lab_controller={lab}
            system.scheduled        system/{other} recipe_id=1
            recipe.waiting          recipe/1        system={other}
            system.waiting          system/{other} recipe_id=1
            recipe.waiting          recipe/2        system={system}
            system.waiting          system/{system} recipe_id=2
    """)
    stage.obey(by)
    stage.assert_log("""
        lab-ops obeys recipe.waiting recipe/1
        lab-ops obeys recipe.waiting recipe/2
    """)
    for recipe in (server, client):
        stage.install(recipe, stage.tasks(recipe)[0], by=by)
    stage.assert_log(f"""
        lab-ops starts recipe/1 on {other}
        lab-ops starts recipe/2 on {system}, task 3
    """)
    for task in stage.tasks(server):
        stage.run(server, task, by=by)
    stage.report(server, {"state": "completed"}, by=by)
    stage.assert_log(f"""
        lab-ops:
            recipe.task-result      recipe/1        task_id=1 result=Pass
        lab-ops:
            recipe.task-completed   recipe/1        task_id=1
        lab-ops:
            recipe.task-started     recipe/1        task_id=2
        lab-ops:
            recipe.task-result      recipe/1        task_id=2 result=Pass
        lab-ops:
            recipe.task-completed   recipe/1        task_id=2
        lab-ops:
            recipe.completed        recipe/1
            system.pending          system/{other}
        scheduler, on system.pending system/{other}:
            system.idle             system/{other}
    """)
    first, second = stage.tasks(client)
    stage.run(client, first, by=by)
    stage.run(client, second, "Fail", by=by)
    stage.report(client, {"state": "completed"}, by=by)
    stage.assert_log(f"""
        lab-ops:
            recipe.task-result      recipe/2        task_id=3 result=Pass
        lab-ops:
            recipe.task-completed   recipe/2        task_id=3
        lab-ops:
            recipe.task-started     recipe/2        task_id=4
        lab-ops:
            recipe.task-result      recipe/2        task_id=4 result=Fail
        lab-ops:
            recipe.task-completed   recipe/2        task_id=4
        lab-ops:
            recipe.reserved         recipe/2        system={system} seconds=3600
    """)
    stage.write("POST", f"/recipes/{client}/return")
    stage.assert_log(f"""
        admin:
            recipe.completed        recipe/2
            system.pending          system/{system}
        scheduler, on system.pending system/{system}:
            system.idle             system/{system}
    """)
    stage.obey(by)
    stage.assert_log("""
        lab-ops obeys recipe.completed recipe/1
        lab-ops obeys recipe.completed recipe/2
    """)
    job = stage.job_of(client)
    assert (job["state"], job["result"]) == ("completed", "Fail")


def _drawn(stage: Stage, client: int) -> tuple[str, tuple[str, str]]:
    """Return the choice of `<autopick random="true"/>`: SHA-256 of cause and recipe id (design 5.5)."""
    submitted = stage.first("recipe-set.submitted")["position"]
    digest = int.from_bytes(sha256(f"event/{submitted}/{client}".encode()).digest())
    return list(CLIENTS.items())[digest % len(CLIENTS)]
