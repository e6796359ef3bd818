"""Lists, sums and events of a service with several partitions, and of one of them by `partition`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from domain.directory.events import LabControllerEnabled
from domain.partition_numbers import DEFAULT_NUMBER, EVERYBODY
from tests.harness.pool import ServerPool
from tests.rest.two_partitions import JOBS, OTHER, SYSTEMS, Story, two_partitions
from tests.workers.lab import put

LISTS = (
    ("/jobs", "jobs", "job_id"),
    ("/queue", "recipes", "recipe_id"),
    ("/systems", "systems", "fqdn"),
    ("/inventory", "systems", "fqdn"),
    ("/idle-pool", "systems", "fqdn"),
    ("/lab-controllers", "lab_controllers", "fqdn"),
)
# With names that `/inventory` lacks.
SHOWN = tuple(each for each in LISTS if each[0] != "/inventory")
NAMES = ("default", "other", "again", None)


@pytest.fixture(scope="module")
def story(servers: ServerPool) -> Iterator[Story]:
    with servers.databases("embedded").fresh() as database, two_partitions(database) as story:
        yield story


def test_partitions__of_a_moment__each_with_its_labs(story: Story) -> None:
    def labs(as_of: int) -> dict[str, list[str]]:
        listed = story.client.get("/partitions", params={"as_of": as_of}).json()["partitions"]
        assert {one["state"] for one in listed} == {"active"}
        return {one["name"]: one["lab_controllers"] for one in listed}

    assert labs(story.created) == {"default": ["far", "lab", "west"], "again": [], "other": []}
    assert labs(story.moved) == {"default": ["lab"], "again": [], "other": ["west"]}
    assert labs(1) == {"default": []}


@pytest.mark.parametrize(("path", "key", "name"), SHOWN)
def test_list__of_a_partition_in_pages__has_its_part_of_the_whole_list(
    story: Story, path: str, key: str, name: str
) -> None:
    for as_of in (None, story.created, story.moved):
        params = {} if as_of is None else {"as_of": as_of}
        whole = story.pages(path, key, limit=1_000, **params)
        assert whole == story.pages(path, key, limit=2, **params)
        for partition in ("default", "other", "again"):
            wanted = [row for row in whole if row["partition"] == partition]
            assert story.pages(path, key, limit=2, partition=partition, **params) == wanted, (as_of, name)


def counts(rows: list[dict[str, Any]]) -> dict[str | None, int]:
    return dict(Counter(row["partition"] for row in rows))


def test_labs_and_systems__lab_moved__are_shown_in_each_partition_as_of_then(story: Story) -> None:
    for path, key, per_lab in (("/systems", "systems", SYSTEMS), ("/lab-controllers", "lab_controllers", 1)):
        before = story.pages(path, key, as_of=story.created)
        assert counts(before) == {"default": 3 * per_lab}
        assert counts(story.pages(path, key)) == {"default": per_lab, "other": per_lab, None: per_lab}
        one = f"{path}/{before[-1]['fqdn']}"
        assert one.endswith("west")
        assert story.client.get(one).json()["partition"] == "other"
        assert story.client.get(one, params={"as_of": story.created}).json()["partition"] == "default"


def test_idle_pool__lab_in_no_partition__has_none_of_its_systems(story: Story) -> None:
    assert counts(story.pages("/idle-pool", "systems", as_of=story.created)) == {"default": 3 * SYSTEMS}
    assert counts(story.pages("/idle-pool", "systems")) == {"default": SYSTEMS, "other": SYSTEMS}


def test_jobs__of_two_partitions__each_with_its_sets_and_recipes_shows_its_own(story: Story) -> None:
    jobs = story.pages("/jobs", "jobs")
    assert counts(jobs) == {"default": 2 * JOBS, "other": 2 * JOBS}
    assert counts(story.pages("/queue", "recipes")) == counts(jobs)
    (recipe_set_id,) = jobs[0]["recipe_set_ids"]
    recipe_set = story.client.get(f"/recipe-sets/{recipe_set_id}").json()
    recipe_id = recipe_set["recipes"][0]["recipe_id"]
    paths = f"/jobs/{jobs[0]['job_id']}", f"/recipe-sets/{recipe_set_id}", f"/recipes/{recipe_id}"
    assert {story.client.get(path).json()["partition"] for path in paths} == {"other"}


@pytest.mark.parametrize(
    "filters", [{"state": "new"}, {"owner": "admin"}, {"state": "completed"}, {"group": "g"}], ids=str
)
def test_jobs__of_a_partition_and_more__are_those_of_both(story: Story, filters: dict[str, str]) -> None:
    whole = story.pages("/jobs", "jobs", limit=3, **filters)
    for partition in ("default", "other"):
        found = story.pages("/jobs", "jobs", limit=3, partition=partition, **filters)
        assert found == [job for job in whole if job["partition"] == partition]
    assert bool(whole) == (filters in ({"state": "new"}, {"owner": "admin"}))


def test_partition__removed_and_created_again__is_the_one_of_then(story: Story) -> None:
    """`again` had another number before; neither of both had jobs or labs."""
    for as_of in (story.created, story.end):
        assert story.pages("/jobs", "jobs", partition="again", as_of=as_of) == []
    first = story.client.get("/events", params={"limit": 3}).json()["events"][-1]["position"]
    answer = story.client.get("/jobs", params={"partition": "again", "as_of": first})
    assert (answer.status_code, answer.json()["title"]) == (404, "Partition again not found")


PATHS = (*(path for path, _, _ in LISTS), "/system-usage", "/timeline", "/events")


@pytest.mark.parametrize("path", PATHS)
def test_partition__of_an_unknown_name__is_not_found(story: Story, path: str) -> None:
    answer = story.client.get(path, params={"partition": "nowhere"})
    assert (answer.status_code, answer.json()["title"]) == (404, "Partition nowhere not found")


def test_queue__of_a_system_and_a_partition__is_refused(story: Story) -> None:
    answer = story.client.get("/queue", params={"partition": "other", "system": "host-00.west"})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["message"] == "cannot be given with a system, which has one itself"


@pytest.mark.parametrize("group_by", ["system", "lab_controller"])
def test_sums__of_a_partition__are_those_of_its_labs_as_of_then(story: Story, group_by: str) -> None:
    def keys(**params: Any) -> set[str]:
        groups = story.pages("/system-usage", "groups", group_by=group_by, limit=2, **params)
        return {group["key"].rpartition(".")[2] for group in groups}

    assert keys() == {"lab", "west", "far"}
    assert keys(partition="default") == {"lab"}
    assert keys(partition="other") == {"west"}
    assert keys(partition="again") == set()
    assert keys(partition="default", as_of=story.created) == {"lab", "west", "far"}
    assert keys(partition="other", as_of=story.created) == set()


def events(story: Story, **params: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = story.client.get("/events", params={"after": after, **params}).json()
        found += page["events"]
        after = page["next"]
    return found


@pytest.mark.parametrize(
    "selected",
    [{}, {"subject": "recipe/*"}, {"types": "job.submitted"}, {"subject": "system/*,job/1"}],
    ids=str,
)
@pytest.mark.parametrize("when", ["now", "then"])
def test_events__of_a_partition_in_pages__are_only_its_own(
    story: Story, selected: dict[str, str], when: str
) -> None:
    params: dict[str, Any] = selected if when == "now" else {**selected, "as_of": story.created}
    whole = events(story, limit=1_000, **params)
    for name in ("default", "other", "again"):
        found = events(story, limit=7, partition=name, **params)
        assert found == [event for event in whole if event["partition"] == name]
    by_partition = counts(whole)
    assert by_partition["default"] > 0
    assert ("other" in by_partition) == (when == "now" and "system/*,job/1" not in selected.values())


def test_stream__of_a_partition__missed_events_and_then_new_ones_of_it_alone(story: Story) -> None:
    own = [event["position"] for event in events(story, partition="other", limit=1_000)]
    headers = {"Accept": "text/event-stream"}
    params = {"partition": "other", "after": own[2]}
    with story.client.stream("GET", "/events", params=params, headers=headers) as response:
        stream = _streamed(response)
        missed = [next(stream) for _ in own[3:]]
        assert [event["position"] for event in missed] == own[3:]
        # Nothing that a list shows.
        for lab, number, version in (("lab", DEFAULT_NUMBER, 1), ("far", EVERYBODY, 2), ("west", OTHER, 2)):
            put(story.log, [(f"lab-controller/{lab}", LabControllerEnabled())], version, number)
        live = next(stream)
    assert {event["partition"] for event in (*missed, live)} == {"other"}
    assert live["subject"] == "lab-controller/west"


def _streamed(response: httpx.Response) -> Iterator[dict[str, Any]]:
    for line in response.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))
