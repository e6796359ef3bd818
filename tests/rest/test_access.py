"""Who may do what: tokens and roles."""

from __future__ import annotations

import httpx
import pytest

from tests.harness.running import Running

XML = {"Content-Type": "application/xml"}
EAST, WEST = "lab.east.example.com", "lab.west.example.com"


@pytest.fixture(scope="module")
def tokens(line: Running) -> dict[str, str]:
    """A token for each role; the lab controller's is for the east."""
    made = {"admin": line.token}
    with line.client() as admin:
        for role in ("submitter", "auditor", "metrics"):
            made[role] = admin.post("/tokens", json={"user": "alice", "role": role}).json()["token"]
        lab = {"user": "lab-ops", "role": "lab-controller", "lab_controller": EAST}
        made["lab-controller"] = admin.post("/tokens", json=lab).json()["token"]
    return made


# method, path, body, the roles that get past the gate
MATRIX: list[tuple[str, str, set[str]]] = [
    ("GET", "/jobs", {"admin", "submitter", "auditor", "lab-controller"}),
    ("POST", "/jobs", {"admin", "submitter"}),
    ("GET", "/queue", {"admin", "submitter", "auditor", "lab-controller"}),
    ("GET", "/systems", {"admin", "submitter", "auditor", "lab-controller"}),
    ("POST", "/systems", {"admin"}),
    ("PATCH", "/systems/none", {"admin", "submitter"}),
    ("DELETE", "/systems/none", {"admin", "submitter"}),
    ("PUT", "/systems/none/reservation", {"admin", "submitter"}),
    ("DELETE", "/systems/none/reservation", {"admin", "submitter"}),
    ("GET", "/recipe-sets/999999", {"admin", "submitter", "auditor", "lab-controller"}),
    ("PATCH", "/recipe-sets/999999", {"admin", "submitter"}),
    ("POST", "/recipe-sets/999999/cancel", {"admin", "submitter"}),
    ("POST", "/recipes/999999/return", {"admin", "submitter"}),
    ("PUT", "/users/alice", {"admin"}),
    ("PUT", "/groups/kernel-qe", {"admin"}),
    ("PUT", "/pools/big", {"admin"}),
    ("PUT", f"/lab-controllers/{EAST}", {"admin"}),
    ("PATCH", f"/lab-controllers/{EAST}", {"admin"}),
    ("PUT", "/distro-trees/1", {"admin"}),
    ("DELETE", "/distro-trees/none", {"admin"}),
    ("PUT", "/pools/none/systems/none", {"admin"}),
    ("POST", "/tokens", {"admin"}),
    ("GET", "/events", {"admin", "submitter", "auditor", "lab-controller"}),
    ("GET", f"/lab-controllers/{EAST}/commands", {"admin", "lab-controller"}),
    ("GET", f"/lab-controllers/{WEST}/commands", {"admin"}),
    ("POST", f"/lab-controllers/{EAST}/updates", {"admin", "lab-controller"}),
    ("POST", f"/lab-controllers/{WEST}/updates", {"admin"}),
    ("PATCH", f"/lab-controllers/{WEST}/commands/1", {"admin"}),
    ("POST", "/recipes/1/progress", {"admin", "lab-controller"}),
    ("GET", "/metrics", {"admin", "auditor", "metrics"}),
]


@pytest.mark.parametrize("role", ["admin", "submitter", "auditor", "metrics", "lab-controller"])
@pytest.mark.parametrize(("method", "path", "allowed"), MATRIX)
def test_role__method_and_path__allowed_or_403(
    line: Running, tokens: dict[str, str], role: str, method: str, path: str, allowed: set[str]
) -> None:
    with line.client(tokens[role]) as client:
        answer = client.request(method, path, content=b"not even JSON", headers={"Content-Type": "text/none"})
    if role in allowed:
        assert answer.status_code not in (401, 403)
    else:
        assert answer.status_code == 403
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer ll_wrong"},
        {"Authorization": "Basic YWRtaW46YWRtaW4="},
        {"Authorization": "Bearer"},
    ],
)
def test_request__without_a_known_token__401(line: Running, headers: dict[str, str]) -> None:
    answer = httpx.get(f"{line.url}/jobs", headers=headers, trust_env=False)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health__without_a_token__answered(line: Running, path: str) -> None:
    assert httpx.get(line.url + path, trust_env=False).status_code == 200


def test_token__created__is_nowhere_in_the_log(line: Running, tokens: dict[str, str]) -> None:
    text = str(line.events())
    assert "token.created" in text
    assert not any(token in text for token in tokens.values())


def test_group__submitter_is_no_member__job_is_refused(
    line: Running, tokens: dict[str, str], smoke: bytes
) -> None:
    with line.client() as admin:
        carol = admin.post("/tokens", json={"user": "carol", "role": "submitter"}).json()["token"]
    with line.client(carol) as client:
        answer = client.post("/jobs", content=smoke, headers=XML)
        assert answer.status_code == 422
        assert "kernel-qe" in answer.json()["errors"][0]["message"]
    with line.client(tokens["submitter"]) as client:
        assert client.post("/jobs", content=smoke, headers=XML).status_code == 201
