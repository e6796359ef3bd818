"""The roles that each method of each path requires."""

from __future__ import annotations

import re

import httpx
import pytest

from api.rest.contract.openapi import plain
from api.rest.routes import API_ROUTES
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.running import Running

XML = {"Content-Type": "application/xml"}
EAST, WEST = "lab.east.example.com", "lab.west.example.com"


@pytest.fixture(scope="module")
def tokens(service: Running) -> dict[str, str]:
    """Return a token for each role; that of the lab controller is for the lab in the east."""
    made = {"admin": service.token}
    with service.client() as admin:
        for role in ("submitter", "auditor", "metrics"):
            made[role] = admin.post("/tokens", json={"user": "alice", "role": role}).json()["token"]
        lab = {"user": "lab-ops", "role": "lab-controller", "lab_controller": EAST}
        made["lab-controller"] = admin.post("/tokens", json=lab).json()["token"]
    return made


ROLES = {"A": "admin", "S": "submitter", "L": "lab-controller", "U": "auditor", "M": "metrics"}
NOBODY_ASKS_WHO = ""

# path -> method -> who gets past the gate; L is the lab controller of the east, also the one that the
# paths name. Whose system, pool, group or job it is, is asked behind the gate.
MATRIX: dict[str, dict[str, str]] = {
    "/jobs": {"GET": "ASLU", "POST": "AS"},
    "/jobs/{job_id}": {"GET": "ASLU", "PATCH": "AS"},
    "/jobs/{job_id}/original": {"GET": "ASLU"},
    "/jobs/{job_id}/cancel": {"POST": "AS"},
    "/jobs/{job_id}/recipe-sets": {"POST": "AS"},
    "/jobs/{job_id}/close": {"POST": "AS"},
    "/jobs/{job_id}/keep": {"POST": "AS"},
    "/recipe-sets/{recipe_set_id}": {"GET": "ASLU", "PATCH": "AS"},
    "/recipe-sets/{recipe_set_id}/cancel": {"POST": "AS"},
    "/recipe-sets/{recipe_set_id}/review": {"POST": "AS"},
    "/recipe-sets/{recipe_set_id}/waiver": {"POST": "AS"},
    "/recipes/{recipe_id}/tasks/{task_id}/waiver": {"POST": "AS"},
    "/recipes/{recipe_id}": {"GET": "ASLU", "PATCH": "AS"},
    "/jobs/{job_id}/results": {"GET": "ASLU"},
    "/jobs/{job_id}/rerun": {"GET": "ASLU", "POST": "AS"},
    "/recipes/{recipe_id}/results": {"GET": "ASLU"},
    "/recipes/{recipe_id}/progress": {"POST": "AL"},
    "/recipes/{recipe_id}/extension": {"POST": "AS"},
    "/systems/{fqdn}/extension": {"POST": "AS"},
    "/systems/{fqdn}/notes": {"GET": "ASLU", "POST": "AS"},
    "/systems/{fqdn}/notes/{note_id}": {"DELETE": "AS"},
    "/power-settings": {"GET": "ASLU"},
    "/systems/{fqdn}/power": {"GET": "ASLU", "PUT": "AS", "DELETE": "AS"},
    "/lab-controllers/{name}/power-settings/{fqdn}": {"GET": "L"},
    "/maintenance-windows": {"GET": "ASLU", "POST": "AS"},
    "/maintenance-windows/{number}": {"GET": "ASLU", "PATCH": "AS"},
    "/maintenance-windows/{number}/end": {"POST": "AS"},
    "/system-changes": {"POST": "AS"},
    "/recipes/{recipe_id}/return": {"POST": "AS"},
    "/recipes/{recipe_id}/estimate": {"GET": "ASLU"},
    "/recipes/{recipe_id}/explanation": {"GET": "ASLU"},
    "/matches": {"POST": "AS"},
    "/weights": {"POST": "AS"},
    "/queue": {"GET": "ASLU"},
    "/queue/reasons": {"GET": "ASLU"},
    "/locks": {"GET": "ASLU"},
    "/claims": {"GET": "ASLU"},
    "/claims/{recipe_id}": {"GET": "ASLU"},
    "/reconciliations": {"GET": "ASLU"},
    "/reconciliations/{reconciliation_id}/resolve": {"POST": "A"},
    "/idle-pool": {"GET": "ASLU"},
    "/system-usage": {"GET": "ASLU"},
    "/usage-report": {"GET": "ASLU"},
    "/timeline": {"GET": "ASLU"},
    "/waits": {"GET": "ASLU"},
    "/retention": {"GET": "ASLU"},
    "/systems": {"GET": "ASLU", "POST": "A"},
    "/systems/{fqdn}": {"GET": "ASLU", "PATCH": "AS", "DELETE": "AS"},
    "/systems/{fqdn}/reservation": {"PUT": "AS", "DELETE": "AS"},
    "/systems/{fqdn}/loan": {"PUT": "AS", "DELETE": "AS"},
    "/systems/{fqdn}/access-policy": {"GET": "ASLU", "PUT": "AS"},
    "/systems/{fqdn}/usage": {"GET": "ASLU"},
    "/systems/{fqdn}/history": {"GET": "ASLU"},
    "/imports/beaker": {"POST": "AS"},
    "/inventory": {"GET": "ASLU", "POST": "AS"},
    "/lab-controllers": {"GET": "ASLU"},
    "/lab-controllers/{name}": {"GET": "ASLU", "PUT": "A", "PATCH": "A", "DELETE": "A"},
    "/lab-controllers/{name}/commands": {"GET": "ALU"},
    "/lab-controllers/{name}/commands/{command_id}": {"PATCH": "AL"},
    "/lab-controllers/{name}/updates": {"POST": "AL"},
    "/lab-controllers/{name}/registration": {"POST": "AL"},
    "/distro-trees": {"GET": "ASLU"},
    "/distro-trees/{name}": {"GET": "ASLU", "PUT": "A", "DELETE": "A"},
    "/pools": {"GET": "ASLU"},
    "/pools/{name}": {"GET": "ASLU", "PUT": "AS", "DELETE": "A"},
    "/pools/{name}/systems/{fqdn}": {"PUT": "AS", "DELETE": "AS"},
    "/pools/{name}/access-policy": {"GET": "ASLU", "PUT": "AS", "DELETE": "AS"},
    "/partitions": {"GET": "ASLU"},
    "/partitions/{name}": {"GET": "ASLU", "PUT": "A", "DELETE": "A"},
    "/partitions/{name}/start": {"POST": "A"},
    "/partitions/{name}/drain": {"POST": "A"},
    "/partitions/{name}/stop": {"POST": "A"},
    "/filters": {"GET": "ASLU"},
    "/filters/{name}": {"GET": "ASLU", "PUT": "A", "DELETE": "A"},
    "/partitions/{name}/configuration": {"GET": "ASLU", "PUT": "A"},
    "/partitions/{name}/operations": {"GET": "ASLU"},
    "/partitions/{name}/configurations": {"GET": "ASLU"},
    "/partitions/{name}/configurations/{version}": {"GET": "ASLU"},
    "/partitions/{name}/queues": {"GET": "ASLU"},
    "/partitions/{name}/queues/{path}": {"GET": "ASLU"},
    "/ldap-sync": {"GET": "AU", "POST": "A"},
    "/users": {"GET": "ASLU"},
    "/users/{name}": {"GET": "ASLU", "PUT": "A", "DELETE": "A"},
    "/users/{name}/password": {"PUT": "AS"},
    "/users/{name}/notifications": {"GET": "AS", "PUT": "AS"},
    "/users/{name}/notifications/messages": {"GET": "AS"},
    "/notification-messages": {"GET": "A"},
    "/groups": {"GET": "ASLU"},
    "/groups/{name}": {"GET": "ASLU", "PUT": "AS", "DELETE": "A"},
    "/tokens": {"GET": "ASLU", "POST": "AS"},
    "/tokens/{token_id}": {"GET": "ASLU", "DELETE": "AS"},
    "/login": {"POST": NOBODY_ASKS_WHO},
    "/login/device": {"POST": NOBODY_ASKS_WHO},
    "/login/device/token": {"POST": NOBODY_ASKS_WHO},
    "/whoami": {"GET": "ASLUM"},
    "/reads": {"GET": "AU"},
    "/log-usage": {"GET": "ASU"},
    "/overview": {"GET": "ASLU"},
    "/events": {"GET": "ASLU"},
    "/events/{position}": {"GET": "ASLU"},
    "/metrics": {"GET": "AUM"},
    "/openapi.json": {"GET": NOBODY_ASKS_WHO},
    "/healthz": {"GET": NOBODY_ASKS_WHO},
    "/readyz": {"GET": NOBODY_ASKS_WHO},
}
ROWS = [(method, path, allowed) for path, methods in MATRIX.items() for method, allowed in methods.items()]


def test_matrix__compared_with_the_routes__names_every_method_of_every_path() -> None:
    routed = {plain(path): set(route.roles) for path, route in API_ROUTES.items()}
    assert routed == {path: set(methods) for path, methods in MATRIX.items()}


def asked(path: str, lab: str = EAST) -> str:
    """Return a path of this shape where nothing exists, except for the lab controllers."""
    filled = path.replace("/lab-controllers/{name}", f"/lab-controllers/{lab}")
    named = re.sub(r"\{(name|fqdn|path)\}", "none", filled)
    return re.sub(r"\{(\w+_id|version|position|number)\}", "999999", named)


def attempt(service: Running, token: str, method: str, path: str) -> httpx.Response:
    """Send a request that changes nothing, because no operation accepts its body."""
    with service.client(token) as client:
        return client.request(method, path, content=b"not even JSON", headers={"Content-Type": "text/none"})


@pytest.mark.parametrize("letter", ROLES)
@pytest.mark.parametrize(("method", "path", "allowed"), ROWS)
def test_role__method_and_path__allowed_or_403(
    service: Running, tokens: dict[str, str], letter: str, method: str, path: str, allowed: str
) -> None:
    if (method, path) == ("DELETE", "/lab-controllers/{name}") and letter == "A":
        path = path.format(name="none.example.com")
    answer = attempt(service, tokens[ROLES[letter]], method, asked(path))
    if letter in allowed or allowed == NOBODY_ASKS_WHO:
        assert answer.status_code not in (401, 403)
    else:
        assert answer.status_code == 403
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(("method", "path", "allowed"), [row for row in ROWS if row[1].startswith("/lab-")])
def test_lab_controller__another_lab__403(
    service: Running, tokens: dict[str, str], method: str, path: str, allowed: str
) -> None:
    is_open_to_all = allowed == "ASLU"
    answer = attempt(service, tokens["lab-controller"], method, asked(path, WEST))
    assert (answer.status_code == 403) is not is_open_to_all


@pytest.mark.parametrize(("method", "path", "allowed"), ROWS)
def test_request__without_a_token__401_unless_it_is_open(
    service: Running, method: str, path: str, allowed: str
) -> None:
    answer = httpx.request(method, service.url + asked(path), **LOCAL_HTTP)
    assert (answer.status_code == 401) is (allowed != NOBODY_ASKS_WHO)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer ll_wrong"},
        {"Authorization": "Basic YWRtaW46YWRtaW4="},
        {"Authorization": "Bearer"},
    ],
)
def test_request__without_a_valid_token__401(service: Running, headers: dict[str, str]) -> None:
    answer = httpx.get(f"{service.url}/jobs", headers=headers, **LOCAL_HTTP)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health__without_a_token__answered(service: Running, path: str) -> None:
    assert httpx.get(service.url + path, **LOCAL_HTTP).status_code == 200


def test_token__created__is_nowhere_in_the_log(service: Running, tokens: dict[str, str]) -> None:
    text = str(service.events())
    assert "token.created" in text
    assert not any(token in text for token in tokens.values())


def test_group__submitter_is_no_member__job_is_refused(
    service: Running, tokens: dict[str, str], smoke: bytes
) -> None:
    with service.client() as admin:
        carol = admin.post("/tokens", json={"user": "carol", "role": "submitter"}).json()["token"]
    with service.client(carol) as client:
        answer = client.post("/jobs", content=smoke, headers=XML)
        assert answer.status_code == 422
        assert "kernel-qe" in answer.json()["errors"][0]["message"]
    with service.client(tokens["submitter"]) as client:
        assert client.post("/jobs", content=smoke, headers=XML).status_code == 201


def test_tokens__of_a_removed_user__are_not_shown_to_a_new_user_of_the_name(service: Running) -> None:
    def made(admin: httpx.Client) -> dict[str, str]:
        assert admin.put("/users/hal", json={}).status_code == 200
        answer: dict[str, str] = admin.post("/tokens", json={"user": "hal", "role": "submitter"}).json()
        return answer

    with service.client() as admin:
        before = made(admin)["token_id"]
        assert admin.delete("/users/hal").json()["removed"] is True
        now = made(admin)
        with service.client(now["token"]) as hal:
            shown = hal.get("/tokens", params={"min_position": now["position"]}).json()["tokens"]
            assert [token["token_id"] for token in shown] == [now["token_id"]]
            assert hal.get(f"/tokens/{before}").status_code == 404
        assert admin.get(f"/tokens/{before}").json()["revoked"] is True
        admin.delete("/users/hal")
