"""Preemption in a running service: what the victim, the taking set and the lab controller see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import httpx
import pytest

from domain.scheduling.supply.reasons import PREEMPTED
from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.rest.actions import (
    EAST,
    People,
    cancel_set,
    commands,
    finish,
    in_state,
    recipe_for,
    report,
    start,
    submit,
)

PATH = "/partitions/default/configuration"
QUEUES = {"queues": [{"name": "spare"}, {"name": "urgent", "guaranteed": 1}]}
ENABLED = {"enabled": True, "after_seconds": 0, "again_after_seconds": 0}


class PreemptedMachine(NamedTuple):
    """A system, the submitted job that lost it after its start, its tasks, and the job that took it."""

    fqdn: str
    victim: dict[str, Any]
    tasks: list[int]
    taking: dict[str, Any]

    @property
    def victim_id(self) -> int:
        return int(self.victim["recipe_ids"][0])

    @property
    def taking_id(self) -> int:
        return int(self.taking["recipe_ids"][0])

    @property
    def reason(self) -> str:
        return f"{PREEMPTED} {self.taking['recipe_set_id']}"


@pytest.fixture
def enabled(client: httpx.Client) -> Iterator[None]:
    """Switch preemption on in the partition, and give it two queues."""
    client.put(PATH, json={"queues": QUEUES, "preemption": ENABLED}).raise_for_status()
    yield
    client.put(PATH, json={}).raise_for_status()


def submit_preemptible(client: httpx.Client, fqdn: str) -> dict[str, Any]:
    document = {"recipe_sets": [{"recipes": [recipe_for(fqdn)], "preemptible": True}], "queue": "spare"}
    answer = client.post("/jobs", json=document)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return {**found, "recipe_set_id": found["recipe_set_ids"][0]}


@pytest.fixture
def preempted(people: People, machine: str, enabled: None) -> Iterator[PreemptedMachine]:
    """Run a preemptible set of alice, and let a set of bob preempt it."""
    victim = submit_preemptible(people["alice"], machine)
    tasks = start(people["east"], victim["recipe_ids"][0])
    taking = submit(people["bob"], recipe_for(machine), queue="urgent")
    in_state(people["bob"], taking["recipe_ids"][0], "waiting")
    yield PreemptedMachine(machine, victim, tasks, taking)
    for who, submitted in (("alice", victim), ("bob", taking)):
        cancel_set(people[who], submitted)


def test_preempted__started_set__waits_for_its_next_attempt_with_the_reason(
    client: httpx.Client, preempted: PreemptedMachine
) -> None:
    shown = in_state(client, preempted.victim_id, "queued")
    assert (shown["attempt"], shown["reason"], shown["system"]) == (2, preempted.reason, None)
    assert {task["state"] for task in shown["tasks"]} == {"new"}
    job = client.get(f"/jobs/{preempted.victim['job_id']}").json()
    assert (job["state"], job["stage"]) == ("queued", "resuming")
    taking = client.get(f"/recipes/{preempted.taking_id}").json()
    assert (taking["attempt"], taking["system"]) == (1, preempted.fqdn)


def test_preempted__in_the_log__victim_and_grant_are_in_one_commit_of_the_timer(
    client: httpx.Client, preempted: PreemptedMachine, service: Running
) -> None:
    history = client.get("/events", params={"subject": f"recipe/{preempted.victim_id}"}).json()["events"]
    assert [each["topic"] for each in history][-2:] == ["recipe.task-started", "recipe.queued"]
    cause = f"timer/preemption/{preempted.taking['recipe_set_id']}"
    assert (history[-1]["cause"], history[-1]["data"]["reason"]) == (cause, preempted.reason)
    assert history[-1]["data"]["preempted_by"] == preempted.taking["recipe_set_id"]
    grant = client.get("/events", params={"subject": f"recipe/{preempted.taking_id}"}).json()["events"]
    (scheduled,) = (each for each in grant if each["topic"] == "recipe.scheduled")
    assert (scheduled["cause"], scheduled["commit_end"]) == (cause, history[-1]["commit_end"])
    service.do("doctor")
    service.do("replay", "verify")


def test_preempted__lab_controller__releases_with_the_reason_before_it_provisions_for_the_taking_set(
    client: httpx.Client, preempted: PreemptedMachine
) -> None:
    found = commands(client, EAST, preempted.fqdn)
    assert [(each["kind"], each["recipe_id"], each["attempt"]) for each in found] == [
        ("provision", preempted.victim_id, 1),
        ("release", preempted.victim_id, 1),
        ("provision", preempted.taking_id, 1),
    ]
    assert found[1]["reason"] == preempted.reason


def test_preempted__report_of_the_old_attempt__is_409_and_the_next_attempt_runs_to_its_end(
    people: People, preempted: PreemptedMachine
) -> None:
    east, victim_id = people["east"], preempted.victim_id
    old = {"state": "running", "task_id": preempted.tasks[1]}
    for message in ({**old, "attempt": 1}, old, {"state": "completed", "attempt": 1}):
        answer = report(east, victim_id, message)
        assert answer.status_code == 409, answer.text
    finish(east, preempted.taking_id, start(east, preempted.taking_id))
    assert in_state(east, victim_id, "waiting")["attempt"] == 2
    late = report(east, victim_id, {"state": "installing", "attempt": 1})
    assert late.status_code == 409, late.text
    assert report(east, victim_id, {"state": "installing", "attempt": 2}).is_success
    assert in_state(east, victim_id, "installing")["system"] == preempted.fqdn


def test_preempted__victim_and_taking_set__are_explained(
    client: httpx.Client, preempted: PreemptedMachine
) -> None:
    taking = client.get(f"/recipes/{preempted.taking_id}/explanation").json()
    assert taking["summary"].endswith(f"preempted others: recipe set {preempted.victim['recipe_set_id']}")
    victim = client.get(f"/recipes/{preempted.victim_id}/explanation").json()
    assert victim["summary"].startswith(f"{preempted.reason}; ")
    (on_system,) = (each for each in victim["waiting"]["systems"] if each["fqdn"] == preempted.fqdn)
    assert on_system["reasons"] == [f"waiting with recipe {preempted.taking_id}"]


def test_recipe__preempted__the_command_line_shows_attempt_and_reason(
    preempted: PreemptedMachine, service: Running
) -> None:
    said = service.labledger("recipe", str(preempted.victim_id), "--wide")
    assert "  attempt: 2\n" in said
    assert preempted.reason in said
    first = service.labledger("recipe", str(preempted.taking_id), "--wide")
    assert "attempt" not in first
    assert "preempted others" in service.labledger("explain", str(preempted.taking_id))


def test_started_set__not_preemptible__keeps_its_system(
    client: httpx.Client, people: People, machines: Callable[..., str], enabled: None
) -> None:
    one, other = machines(), machines()
    runs, victim = (
        submit(people["alice"], recipe_for(one), queue="spare"),
        submit_preemptible(people["alice"], other),
    )
    for each in (runs, victim):
        start(people["east"], each["recipe_ids"][0])
    in_vain = submit(people["bob"], recipe_for(one), queue="urgent")
    in_state(client, in_vain["recipe_ids"][0], "queued")
    explanation = f"/recipes/{in_vain['recipe_ids'][0]}/explanation"
    why = wait_until(lambda: client.get(explanation).json()["waiting"]["preemption"], "the explanation")
    assert why.endswith(" guaranteed systems; no set can give way: 1 started and not preemptible")
    taking = submit(people["bob"], recipe_for(other), queue="urgent")
    # The scheduler looks at the earlier set first.
    in_state(client, taking["recipe_ids"][0], "waiting")
    assert client.get(f"/recipes/{in_vain['recipe_ids'][0]}").json()["state"] == "queued"
    assert client.get(f"/recipes/{runs['recipe_ids'][0]}").json()["attempt"] == 1
    for who, submitted in (("alice", runs), ("alice", victim), ("bob", in_vain), ("bob", taking)):
        cancel_set(people[who], submitted)


XML = """<job xmlns:l="urn:labledger:job"><recipeSet>{mark}<recipe><distroRequires>
  <distro_name op="=" value="RHEL-9.6"/></distroRequires><hostRequires><hostname op="=" value="{fqdn}"/>
  </hostRequires><task name="/t"/></recipe></recipeSet></job>"""


@pytest.mark.parametrize("preemptible", [True, False])
def test_preemptible__of_a_set_in_json_and_xml__is_shown_by_set_and_job_and_reads_back(
    client: httpx.Client, machine: str, service: Running, preemptible: bool
) -> None:
    mark = "<l:preemptible/>" if preemptible else ""
    content, kind = XML.format(mark=mark, fqdn=machine), {"Content-Type": "application/xml"}
    in_json = {"recipe_sets": [{"recipes": [recipe_for(machine)], "preemptible": preemptible}]}
    jobs = [client.post("/jobs", content=content, headers=kind), client.post("/jobs", json=in_json)]
    for answer in jobs:
        assert answer.status_code == 201, answer.text
        job, at = answer.json(), {"min_position": answer.json()["position"]}
        (set_id,), path = job["recipe_set_ids"], f"/jobs/{job['job_id']}"
        assert client.get(f"/recipe-sets/{set_id}", params=at).json()["preemptible"] is preemptible
        (stored,) = client.get(path).json()["document"]["recipe_sets"]
        assert stored.get("preemptible", False) is preemptible
        as_xml = client.get(path, headers={"Accept": "application/xml"})
        assert ("preemptible" in as_xml.text) is preemptible
        again = client.post("/jobs", content=as_xml.content, headers=kind).json()
        read_back = client.get(f"/jobs/{again['job_id']}", params={"min_position": again["position"]}).json()
        assert read_back["document"]["recipe_sets"] == [stored]
        said = service.labledger("recipe-set", str(set_id))
        assert ("  preemptible: yes\n" in said) is preemptible
        for number in (job["job_id"], again["job_id"]):
            client.post(f"/jobs/{number}/cancel", json={"reason": "seen"}).raise_for_status()
