"""The sample jobs with several recipes, from `labledger submit` to completed: the exact log of each."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

import pytest

from replay.audit import from_json
from tests.acceptance.people import people_of
from tests.acceptance.read_models import assert_read_models_match_log
from tests.acceptance.stage import Stage
from tests.harness.pool import ServerPool
from tests.harness.running import SAMPLES, Running, running
from tests.replay.audit.sound import assert_at_rest, assert_sound

# Candidate systems of the client in order of registration. Each determines lab and system of the server: the
# west has a system of the server's preferred pool.
CLIENTS = {
    "x86-05.east": ("lab.east", "x86-01.east"),
    "x86-06.west": ("lab.west", "store-01.west"),
    "x86-07.east": ("lab.east", "x86-01.east"),
    "x86-08.west": ("lab.west", "store-01.west"),
    "old-01.east": ("lab.east", "x86-01.east"),
}


@pytest.fixture(scope="module")
def service(servers: ServerPool) -> Iterator[Running]:
    """One running service with the sample lab; every test leaves it idle."""
    with servers.databases("embedded").fresh() as database, running(database) as started:
        started.do("lab", "load", str(SAMPLES / "lab.json"))
        started.make_contact()
        yield started
        started.labledger("replay", "verify")


@pytest.fixture
def stage(service: Running) -> Iterator[Stage]:
    """The stage of a test; afterwards the whole log is audited and compared with the read models."""
    with people_of(service) as people:
        stage = Stage(service, people, ".example.com")
        stage.wait_at_rest()
        stage.begin()
        yield stage
        assert stage.unread_lines() == []
    log = list(from_json(service.events()))
    assert_sound(log)
    assert_at_rest(log)
    world = assert_read_models_match_log(service, log)
    assert not world.recipes and all(system.usage == "idle" for system in world.systems.values())


@pytest.mark.soak
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
