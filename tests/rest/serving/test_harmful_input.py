"""Harmful input: text that tables cannot store, and names that readers cannot parse."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import by_people

XML = {"Content-Type": "application/xml"}
SYSTEM = {"fqdn": "nul.example.com", "lab_controller": "lab.east.example.com", "owner": "alice"}
JOB = {
    "whiteboard": "",
    "recipe_sets": [
        {
            "recipes": [
                {
                    "distro_requires": {"element": "name", "value": "RHEL-9.6"},
                    "host_requires": {},
                    "tasks": [{"name": "/x"}],
                }
            ]
        }
    ],
}

NUL: list[tuple[str, str, Any]] = [
    ("POST", "/jobs", {**JOB, "whiteboard": "\0"}),
    ("POST", "/jobs", {**JOB, "notify": ["a\0@b"]}),
    ("POST", "/jobs/1/cancel", {"reason": "\0"}),
    ("POST", "/recipes/1/progress", {"state": "aborted", "reason": "\0"}),
    ("POST", "/recipes/1/progress", {"task_id": 1, "result": "Pass", "message": "\0"}),
    ("POST", "/recipes/1/progress", {"task_id": 1, "result": "Pass", "log_urls": ["\0"]}),
    ("PATCH", "/lab-controllers/lab.east.example.com/commands/1", {"state": "failed", "reason": "\0"}),
    ("POST", "/recipe-sets/1/cancel", {"reason": "\0"}),
    ("PATCH", "/systems/x86-01.east.example.com", {"condition": "Manual", "reason": "\0"}),
    ("PATCH", "/systems/x86-01.east.example.com", {"vendor": "\0"}),
    ("PUT", "/systems/arm-03.east.example.com/reservation", {"user": "\0"}),
    ("POST", "/systems", {**SYSTEM, "vendor": "\0"}),
    ("POST", "/systems", {**SYSTEM, "key_values": {"KEY": ["\0"]}}),
    ("PUT", "/distro-trees/9", {"name": "x", "family": "x", "arch": "x86_64", "variant": "\0"}),
]


@pytest.mark.parametrize(("method", "path", "body"), NUL)
def test_text__with_a_nul__422_and_nothing_stored(
    client: httpx.Client, service: Running, method: str, path: str, body: Any
) -> None:
    before = service.end()
    answer = client.request(method, path, json=body)
    assert answer.status_code in (400, 422), answer.text
    assert by_people(service, before) == []


def test_text__with_the_escape_of_a_nul__is_stored_as_it_is(client: httpx.Client) -> None:
    text = r"\u0000 \\u0000"
    submitted = client.post("/jobs", json={**JOB, "whiteboard": text}).raise_for_status().json()
    shown = client.get(f"/jobs/{submitted['job_id']}", params={"min_position": submitted["position"]})
    assert shown.json()["whiteboard"] == text


@pytest.mark.parametrize("tree", ["5.0", "1_0", "001", "²", "0", "-1", "2147483648", "1e3", "abc"])
def test_distro_tree__id_is_no_plain_number__422(client: httpx.Client, tree: str) -> None:
    answer = client.put(f"/distro-trees/{tree}", json={"name": "x", "family": "x", "arch": "x86_64"})
    assert answer.status_code == 422


@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-01-01T00:00:00", 0, "soon"]
)
def test_moment__out_of_range_or_without_zone__422(client: httpx.Client, moment: Any) -> None:
    answer = client.post("/systems", json={**SYSTEM, "last_inventoried_at": moment})
    assert [fault["where"] for fault in answer.json()["errors"]] == ["last_inventoried_at"]


HOSTILE_PATHS = [
    "/systems/%00",
    "/systems/%00/usage",
    "/users/%00",
    "/distro-trees/abc%00",
    "/events?subject=%00",
    "/events?types=%00",
    "/queue?cursor=WzEsMiwzLCJ4Il0=",  # numbers instead of booleans, and a text instead of numbers
    "/queue?cursor=W3t9LFtdLG51bGwsIngiXQ==",
    "/idle-pool?cursor=IlwwIg==",
    "/queue?as_of=0001-01-01T00:00:00%2B14:00",
    "/system-usage?since=9999-12-31T23:59:59-14:00",
    "/timeline?until=0001-01-01T00:00:00Z",
    "/timeline?fqdn=%00",
]


@pytest.mark.parametrize("path", HOSTILE_PATHS)
def test_read__hostile_parameter__refused_and_no_fault_of_ours(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert 400 <= answer.status_code < 500, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def test_job__thousands_of_attributes__refused(client: httpx.Client) -> None:
    body = b"<job " + b" ".join(b'a%d="1"' % number for number in range(50_000)) + b"/>"
    assert client.post("/jobs", content=body, headers=XML).status_code == 400


def test_faults__thousands__as_many_as_a_person_reads(client: httpx.Client) -> None:
    body = {f"field{number}": 1 for number in range(20_000)}
    answer = client.post("/jobs/1/cancel", json=body)
    assert answer.status_code == 422
    faults = answer.json()["errors"]
    assert len(faults) <= 101 and "more" in faults[-1]["message"]


def test_system__sixty_into_one_pool_at_once__all_are_registered(
    client: httpx.Client, service: Running
) -> None:
    assert client.put("/pools/full", json={}).status_code == 200

    def register(number: int) -> int:
        system = {**SYSTEM, "fqdn": f"m{number}.example.com", "condition": "Manual", "pools": ["full"]}
        with service.client() as own:
            return own.post("/systems", json=system).status_code

    with ThreadPoolExecutor(30) as pool:
        assert set(pool.map(register, range(60))) == {201}
