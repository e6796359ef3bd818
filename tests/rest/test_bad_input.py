"""Faulty input: all faults are reported at once with their places, and nothing is stored."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import by_people

XML = {"Content-Type": "application/xml"}
JSON = {"Content-Type": "application/json"}

FIVE_FAULTS = b"""<job group="nobody-knows-this-group">
  <whiteboard>five faults</whiteboard>
  <recipeSet priority="Extreme">
    <recipe>
      <distroRequires><distro_name op="=" value="RHEL-9.6"/></distroRequires>
      <hostRequires>
        <memory op="&gt;=" value="lots"/>
        <pool op="=" value="no-such-pool"/>
        <colour op="=" value="red"/>
      </hostRequires>
      <task name="/distribution/check-install"/>
    </recipe>
  </recipeSet>
</job>
"""

FIVE_LINES = ["line 1", "line 3", "line 7", "line 8", "line 9"]

ENTITY = (
    b'<!DOCTYPE job [<!ENTITY who SYSTEM "file:///etc/passwd">]><job><whiteboard>&who;</whiteboard></job>'
)
BOMB = (
    b"<!DOCTYPE job ["
    + b"".join(b'<!ENTITY a%d "%s">' % (n, (b"&a%d;" % (n - 1)) * 10 if n else b"ha") for n in range(10))
    + b"]><job><whiteboard>&a9;</whiteboard></job>"
)
DEEP = b"<job>" + b"<and>" * 50_000 + b"</and>" * 50_000 + b"</job>"

REFUSED: list[tuple[str, bytes, dict[str, str], int]] = [
    ("an empty body", b"", XML, 400),
    ("XML that ends too soon", b"<job><whiteboard>", XML, 400),
    ("bytes that are no text", b"\xff\xfe\x00\x01", XML, 400),
    ("an external entity", ENTITY, XML, 400),
    ("a bomb of entities", BOMB, XML, 400),
    ("depth", DEEP, XML, 400),
    ("another root", b"<recipe/>", XML, 422),
    ("JSON that ends too soon", b'{"whiteboard": ', JSON, 400),
    ("JSON of another shape", b"[1, 2]", JSON, 422),
    ("JSON with equal keys", b'{"whiteboard": "a", "whiteboard": "b"}', JSON, 422),
    ("JSON nested without end", b"[" * 100_000, JSON, 400),
    ("another media type", b"whiteboard: x", {"Content-Type": "text/yaml"}, 415),
    ("no media type", b"<job/>", {"Content-Type": ""}, 415),
]


@pytest.mark.parametrize(
    ("path", "parameter"),
    [
        ("/jobs", "limit"),
        ("/queue", "as_of"),
        ("/users", "cursor"),
        ("/events", "subject"),
        ("/system-usage", "group_by"),
        ("/timeline", "resolution_seconds"),
        ("/systems/x86-01.east.example.com/usage", "since"),
        ("/lab-controllers/lab.east.example.com/commands", "wait_seconds"),
    ],
)
def test_list__unknown_parameter__is_named(client: httpx.Client, path: str, parameter: str) -> None:
    answer = client.get(path, params={"colour": "red"})
    assert answer.status_code == 422
    (fault,) = answer.json()["errors"]
    assert fault["where"] == "colour" and parameter in fault["message"]


def test_events__invalid_types__are_named(client: httpx.Client) -> None:
    answer = client.get("/events", params={"types": "recipe.queued,recipe.qeued"})
    assert answer.status_code == 422
    assert [fault["message"] for fault in answer.json()["errors"]] == [
        "'recipe.qeued' is not a topic; did you mean recipe.queued?"
    ]


def test_submission__five_planted_faults__exactly_five_with_lines(
    client: httpx.Client, service: Running
) -> None:
    before = service.end()
    answer = client.post("/jobs", content=FIVE_FAULTS, headers=XML, params={"strict": "true"})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    faults = answer.json()["errors"]
    assert [fault["where"].split(",")[0] for fault in faults] == FIVE_LINES
    assert all(fault["message"] for fault in faults)
    assert by_people(service, before) == []


def test_submission__five_faults_in_json__exactly_five_with_lines(
    client: httpx.Client, service: Running
) -> None:
    before = service.end()
    body = b"""{
      "group": "nobody-knows-this-group",
      "recipe_sets": [{
        "priority": "Extreme",
        "recipes": [{
          "distro_requires": {"element": "name", "value": "RHEL-9.6"},
          "host_requires": {"and": [
            {"element": "memory", "op": ">=", "value": "lots"},
            {"element": "pool", "op": "==", "value": "no-such-pool"},
            {"element": "colour", "value": "red"}
          ]},
          "tasks": [{"name": "/distribution/check-install"}]
        }]
      }]
    }"""
    answer = client.post("/jobs", content=body, headers=JSON, params={"strict": "true"})
    assert answer.status_code == 422
    lines = [fault["where"].split(",")[0] for fault in answer.json()["errors"]]
    assert sorted(lines) == sorted(["line 2", "line 4", "line 8", "line 9", "line 10"])
    assert by_people(service, before) == []


@pytest.mark.parametrize(("what", "body", "headers", "status"), REFUSED, ids=[row[0] for row in REFUSED])
def test_submission__unreadable_or_hostile__refused_and_nothing_stored(
    client: httpx.Client, service: Running, what: str, body: bytes, headers: dict[str, str], status: int
) -> None:
    before = service.end()
    answer = client.post("/jobs", content=body, headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert "passwd" not in answer.text and "Traceback" not in answer.text
    assert by_people(service, before) == []


def test_submission__fifty_megabytes__refused_before_they_are_read(
    client: httpx.Client, service: Running
) -> None:
    before = service.end()

    def chunks() -> Any:
        for _ in range(800):
            yield b"x" * 65_536

    for body in (b"x" * (50 << 20), chunks()):
        try:
            status = client.post("/jobs", content=body, headers=XML).status_code
        except httpx.TransportError:
            continue  # refused before the rest of the body could be sent
        assert status == 413
    assert client.get("/healthz").status_code == 200
    assert by_people(service, before) == []


def test_other_documents__wrong__every_fault_named(client: httpx.Client, service: Running) -> None:
    before = service.end()
    system = {"fqdn": "bad name", "owner": "nobody", "memory_mb": -1, "condition": "Shiny", "colour": "red"}
    answer = client.post("/systems", json=system)
    assert answer.status_code == 422
    places = [fault["where"] for fault in answer.json()["errors"]]
    assert sorted(places) == ["colour", "condition", "fqdn", "lab_controller", "memory_mb"]

    unknown = {"fqdn": "new.example.com", "lab_controller": "no.example.com", "owner": "x", "pools": ["y"]}
    places = [fault["where"] for fault in client.post("/systems", json=unknown).json()["errors"]]
    assert sorted(places) == ["lab_controller", "owner", "pools[0]"]

    group = {"owners": ["alice", "who"], "members": ["whom"]}
    places = [fault["where"] for fault in client.put("/groups/new", json=group).json()["errors"]]
    assert places == ["owners[1]", "members[0]"]
    assert client.put("/users/bad name", json={}).status_code == 422
    assert client.put("/distro-trees/abc", json={}).status_code == 422
    assert by_people(service, before) == []


QUERIES = [
    ("/queue?limit=0", "limit"),
    ("/queue?limit=many", "limit"),
    ("/queue?cursor=nonsense", "cursor"),
    ("/queue?cursor=e30=", "cursor"),  # an object
    ("/idle-pool?cursor=WzFd", "cursor"),  # a list of one number, where a name belongs
    ("/locks?level=Node", "level"),
    ("/locks?state=owed", "state"),
    ("/locks?name=", "name"),
    ("/locks?cursor=WzFd", "cursor"),  # a list of one number
    ("/queue?as_of=yesterday", "as_of"),
    ("/queue?as_of=2026-01-01T00:00:00", "as_of"),  # no zone
    ("/queue?min_position=-1", "min_position"),
    ("/system-usage?group_by=colour", "group_by"),
    ("/system-usage?since=then", "since"),
    ("/system-usage?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", "until"),
    ("/timeline?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", "until"),
    ("/timeline?since=2026-01-01T00:00:00Z&until=2026-01-01T00:00:00Z", "since"),
    ("/timeline?since=2999-01-01T00:00:00Z", "since"),
    ("/timeline?resolution_seconds=86", "resolution_seconds"),  # a thousandth of a day is 86.4 s
    ("/timeline?resolution_seconds=-1", "resolution_seconds"),
    ("/timeline?fqdn=a,b_c", "fqdn"),
    ("/timeline?condition=Fine", "condition"),
    ("/timeline?cursor=WzFd", "cursor"),
    ("/events?after=x", "after"),
]


@pytest.mark.parametrize(("path", "where"), QUERIES)
def test_read__wrong_parameter__names_it(client: httpx.Client, path: str, where: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 422
    assert [fault["where"] for fault in answer.json()["errors"]] == [where]


NOT_THERE = [
    ("GET", "/nothing", 404),
    ("GET", "/jobs/999999", 404),
    ("GET", "/jobs/99999999999", 404),
    ("GET", "/recipes/999999", 404),
    ("GET", "/systems/none.example.com", 404),
    ("GET", "/systems/none.example.com/usage", 404),
    ("GET", "/users/none", 404),
    ("GET", "/lab-controllers/none.example.com/commands", 404),
    ("PUT", "/pools/none/systems/none.example.com", 404),
    ("DELETE", "/jobs", 405),
    ("PATCH", "/queue", 405),
]


@pytest.mark.parametrize(("method", "path", "status"), NOT_THERE)
def test_request__unknown_path_or_method__problem_says_so(
    client: httpx.Client, method: str, path: str, status: int
) -> None:
    answer = client.request(method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json()["status"] == status and answer.json()["detail"]


@pytest.mark.parametrize("email", ["nobody", "a b@example.com", "mute@example.com\0", "\x1bmute@example.com"])
def test_email__invalid__is_refused(client: httpx.Client, email: str) -> None:
    """The log could store a NUL, the tables of the read models could not."""
    answer = client.put("/users/mute", json={"email": email})
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"where": "email", "message": "must be an email address"}]
    assert client.get("/users/mute").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "body", "where"),
    [
        ("PUT", "/users/crowned", {"roles": ["submitter", "king"]}, "roles[1]"),
        ("POST", "/tokens", {"user": "admin", "role": "king"}, "role"),
        ("POST", "/login", {"user": "admin", "password": "whatever it is", "role": "king"}, "role"),
    ],
)
def test_role__unknown__is_refused_in_the_same_words_everywhere(
    client: httpx.Client, method: str, path: str, body: dict[str, object], where: str
) -> None:
    answer = client.request(method, path, json=body)
    assert answer.status_code == 422
    words = 'there is no role "king"; the roles are admin, submitter, lab-controller, auditor, metrics'
    assert answer.json()["errors"] == [{"where": where, "message": words}]


@pytest.mark.parametrize("path", ["/groups/equal-keys", "/pools/equal-keys", "/users/equal-keys"])
def test_equal_keys__of_a_document__are_422_and_nothing_is_stored(
    client: httpx.Client, service: Running, path: str
) -> None:
    before = service.end()
    answer = client.put(path, content=b'{"owner": "a",\n"owner": "b"}', headers=JSON)
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"where": "line 2", "message": '"owner" occurs twice in one object'}]
    assert by_people(service, before) == []


def test_text__that_steers_a_terminal__is_422(client: httpx.Client) -> None:
    answer = client.put("/pools/steering", json={"owning_group": "a\u202eb"})
    assert answer.status_code == 422
