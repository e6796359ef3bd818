"""Queues in a running service: the queue of a job, usage as of any moment, and what bad input gets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.rest.actions import recipe_for

PATH = "/partitions/default/queues"
OWN = 'xmlns:l="urn:labledger:job"'
QUEUES = {
    "queues": [
        {"name": "kernel", "max": 2, "guaranteed": 2, "queues": [{"name": "net", "max_jobs": 1}]},
        {"name": "people", "template": {"max": 3}, "queues": []},
    ]
}
CREATE = {"rule": "provided", "create": True}


@pytest.fixture(autouse=True)
def _restored(client: httpx.Client) -> Iterator[None]:
    yield
    configured(client, {}).raise_for_status()


def configured(client: httpx.Client, queues: Any, *rules: Any) -> httpx.Response:
    document = {"queues": queues, "placement": list(rules)}
    return client.put("/partitions/default/configuration", json=document)


def document(fqdn: str, **more: Any) -> dict[str, Any]:
    return {"recipe_sets": [{"recipes": [recipe_for(fqdn)]}], **more}


def submitted(client: httpx.Client, fqdn: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/jobs", json=document(fqdn, **more))
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def state_of(client: httpx.Client, job: dict[str, Any]) -> str:
    at = {"min_position": job["position"]}
    recipe: dict[str, Any] = client.get(f"/recipes/{job['recipe_ids'][0]}", params=at).json()
    return str(recipe["state"])


def idle_systems(client: httpx.Client, count: int) -> list[str]:
    def found() -> list[str] | None:
        names = [row["fqdn"] for row in client.get("/idle-pool").json()["systems"]]
        fitting = [name for name in names if name.startswith("x86")]
        return fitting[:count] if len(fitting) >= count else None

    return wait_until(found, f"{count} idle systems")


def cancel(client: httpx.Client, *jobs: dict[str, Any]) -> None:
    for job in jobs:
        client.post(f"/jobs/{job['job_id']}/cancel", json={"reason": "seen"}).raise_for_status()


def counts(row: dict[str, Any]) -> tuple[int, int, int]:
    return row["used"], row["jobs"], row["waiting"]


def test_queues__with_jobs__show_usage_on_every_level_as_of_any_moment(
    client: httpx.Client, service: Running
) -> None:
    configured(client, QUEUES, CREATE).raise_for_status()
    one, two, three = idle_systems(client, 3)
    # Recipes of other tests may still run.
    (before,) = (row for row in client.get(PATH).json()["queues"] if row["path"] == "root")
    jobs = [submitted(client, fqdn, queue="root.kernel.net") for fqdn in (one, two)]
    own = submitted(client, three, queue="root.people.admin")
    wait_until(lambda: state_of(client, jobs[0]) == "waiting", "the first job")
    wait_until(lambda: state_of(client, jobs[1]) == "queued", "the second job")
    wait_until(lambda: state_of(client, own) == "waiting", "the dynamic queue's job")
    then = service.end()
    shown = client.get(PATH, params={"min_position": then}).json()["queues"]
    by_path = {row["path"]: row for row in shown}
    assert list(by_path) == [
        *("root", "root.kernel", "root.kernel.net", "root.people", "root.people.admin", "root.default")
    ]
    assert counts(by_path["root.kernel.net"]) == counts(by_path["root.kernel"]) == (1, 1, 1)
    assert counts(by_path["root.people"]) == counts(by_path["root.people.admin"]) == (1, 1, 0)
    systems = len(client.get("/systems", params={"limit": 1000}).json()["systems"])
    assert (by_path["root"]["max"], by_path["root"]["used"]) == (systems, before["used"] + 2)
    assert by_path["root.people.admin"]["is_dynamic"] and by_path["root.people.admin"]["max"] == 3
    assert by_path["root.kernel"]["share"] == 0.5
    # A dynamic queue exists while a job is in it.
    again = submitted(client, three, queue="people.admin")
    cancel(client, *jobs, own, again)
    end = service.end()
    gone = client.get(f"{PATH}/root.people.admin", params={"min_position": end})
    assert gone.status_code == 404 and gone.json()["title"] == "Queue root.people.admin not found"
    past = client.get(f"{PATH}/root.kernel", params={"as_of": then}).json()
    assert counts(past) == (1, 1, 1)
    service.do("doctor")


def test_queue__with_properties__shows_them_and_a_vanished_one_stands_below_its_parent(
    client: httpx.Client,
) -> None:
    of_kernel = {
        "limits": [{"group": "kernel-qe", "max_jobs": 3}, {"user": "*", "max": 2}],
        "admin": {"users": ["bob"], "groups": ["kernel-qe"]},
        "priority_offset": 2,
        "fence": True,
    }
    below = [{"name": "net"}, {"name": "storage"}]
    kernel = {"name": "kernel", **of_kernel, "queues": below}
    people = {"name": "people", "template": {"max": 3}, "queues": []}
    configured(client, {"order": "priority", "queues": [kernel, people]}).raise_for_status()
    (fqdn,) = idle_systems(client, 1)
    job = submitted(client, fqdn, queue="kernel.net")
    kernel["queues"] = below[1:]
    done = configured(client, {"order": "priority", "queues": [kernel, people]})
    rows = client.get(PATH, params={"min_position": done.json()["position"]}).json()["queues"]
    assert [(row["path"], row["state"]) for row in rows] == [
        ("root", "active"),
        ("root.kernel", "active"),
        ("root.kernel.storage", "active"),
        ("root.kernel.net", "draining"),
        ("root.people", "active"),
        ("root.default", "active"),
    ]
    root, shown = rows[0], client.get(f"{PATH}/root.kernel").json()
    assert {name: shown[name] for name in of_kernel} == of_kernel
    assert (root["submit"], shown["submit"], shown["template"]) == ({"users": ["*"]}, {}, None)
    assert rows[4]["template"] == {"max": 3}
    cancel(client, job)


def test_queue__of_a_job_in_json_and_xml__is_shown(client: httpx.Client) -> None:
    configured(client, QUEUES).raise_for_status()
    (fqdn,) = idle_systems(client, 1)
    job = submitted(client, fqdn, queue="kernel.net")
    assert (job["queue"], job["partition"]) == ("root.kernel.net", "default")
    shown = client.get(f"/jobs/{job['job_id']}", params={"min_position": job["position"]}).json()
    assert (shown["queue"], shown["document"]["queue"]) == ("root.kernel.net", "kernel.net")
    parts = (f"/recipe-sets/{job['recipe_set_ids'][0]}", f"/recipes/{job['recipe_ids'][0]}")
    assert [client.get(part).json()["queue"] for part in parts] == ["root.kernel.net"] * 2
    xml = f"""<job {OWN}><l:queue>root.kernel.net</l:queue><recipeSet><recipe>
      <distroRequires><distro_name op="=" value="none"/></distroRequires>
      <hostRequires force="{fqdn}"/><task name="/t"/></recipe></recipeSet></job>"""
    answer = client.post("/jobs", content=xml, headers={"Content-Type": "application/xml"})
    assert answer.status_code == 201, answer.text
    read = client.get(f"/jobs/{answer.json()['job_id']}", params={"min_position": answer.json()["position"]})
    assert read.json()["queue"] == "root.kernel.net"
    cancel(client, job, answer.json())


def test_bad_input__of_queues__is_refused_with_all_faults(client: httpx.Client, service: Running) -> None:
    before = service.end()
    faulty = {"max": 3, "queues": [{"name": "a.b"}, {"name": "c", "submit": {"users": ["nosuch"]}}]}
    answer = configured(client, faulty, {"rule": "newest"})
    assert answer.status_code == 422
    assert {error["where"] for error in answer.json()["errors"]} == {
        *("queues.max", "queues.queues[0].name", "queues.queues[1].submit", "placement[0].rule")
    }
    unknown = configured(client, {"queues": [{"name": "c", "submit": {"users": ["nosuch"]}}]})
    assert (unknown.status_code, unknown.json()["errors"]) == (
        422,
        [{"where": "queues.queues[0].submit", "message": 'there is no user "nosuch"'}],
    )
    answer = client.post("/jobs", json=document("x", queue="root.kernl"))
    assert answer.status_code == 422
    # The scheduler may still decide about the systems of an earlier test.
    stored = client.get("/events", params={"after": before}).json()["events"]
    assert not [event for event in stored if event["actor"] != "scheduler"]


def test_job__of_a_user_who_may_not_submit__is_403(client: httpx.Client, service: Running) -> None:
    configured(client, {"submit": {}, "queues": [{"name": "kernel"}]}).raise_for_status()
    (fqdn,) = idle_systems(client, 1)
    answer = client.post("/jobs", json=document(fqdn, queue="kernel"))
    assert answer.status_code == 403
    assert "may not submit to root.kernel" in answer.json()["detail"]


@pytest.mark.parametrize("who", ["bob", "alice"])
def test_admin_of_a_queue__jobs_of_others_below_it__are_cancelled_and_hurried(
    client: httpx.Client, people: dict[str, httpx.Client], service: Running, who: str
) -> None:
    """Bob is named, and alice is in the group."""
    admin = {"users": ["bob"], "groups": ["kernel-qe"]}
    queues = {"queues": [{"name": "kernel", "admin": admin, "queues": [{"name": "net"}]}, {"name": "other"}]}
    configured(client, queues).raise_for_status()
    (fqdn,) = idle_systems(client, 1)
    # The first one keeps the system busy, so that the second one has not started.
    jobs = [submitted(people["carol"], fqdn, queue="root.kernel.net") for _ in range(2)]
    other = submitted(people["carol"], fqdn, queue="root.other")
    path = f"/recipe-sets/{jobs[1]['recipe_set_ids'][0]}"
    wait_until(lambda: state_of(client, jobs[1]) == "queued", "the second job")
    answer = people[who].patch(path, json={"priority": "High"})
    assert (answer.status_code, answer.json()["changed"]) == (200, True)
    answer = people[who].post(f"{path}/cancel", json={"reason": "enough"})
    assert (answer.status_code, answer.json()["cancelled"]) == (200, True)
    answer = people[who].post(f"/jobs/{jobs[0]['job_id']}/cancel", json={"reason": "enough"})
    assert (answer.status_code, answer.json()["cancelled"]) == (200, True)
    event = service.events(after=answer.json()["position"] - 2)[0]
    assert (event["topic"], event["actor"]) == ("recipe.cancelled", who)
    for change in (
        people[who].post(f"/jobs/{other['job_id']}/cancel", json={"reason": "enough"}),
        people[who].patch(f"/recipe-sets/{other['recipe_set_ids'][0]}", json={"priority": "High"}),
    ):
        assert change.status_code == 403
        assert change.json()["detail"] == (
            f"job {other['job_id']} belongs to carol; only its owner, submitter and group, and the admins of"
            " queue root.other or of a queue above, may cancel, close or review it, or change its priority"
        )
    cancel(client, other)


def test_user_and_group__removed_while_configurations_name_them__the_answer_names_the_partitions(
    client: httpx.Client,
) -> None:
    client.put("/users/quinn", json={}).raise_for_status()
    client.put("/groups/quilters", json={"members": [], "owners": []}).raise_for_status()
    right = {"users": ["*", "quinn"], "groups": ["quilters"]}
    configured(client, {"submit": right}).raise_for_status()
    for path in ("/users/quinn", "/groups/quilters"):
        assert client.delete(path).json()["named_in"] == ["default"]
    configured(client, {}).raise_for_status()
    # It was removed before, and nothing names it now.
    assert client.delete("/users/quinn").json()["named_in"] == []
