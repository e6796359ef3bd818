"""/openapi.json: valid, complete, and correct for random requests."""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from api.rest.routes import API_ROUTES
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.pool import ServerPool
from tests.harness.running import SAMPLES, Running, running
from tests.rest.conftest import NUMBERS
from tests.rest.schemathesis_hooks import READABLE_AFTER_DELETE

TOP = Path(__file__).parents[2]
HOOKS = "tests.rest.schemathesis_hooks"
# The printed command reproduces a failure.
SEED = "LABLEDGER_SOAK_SEED"
CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
# Requests have random values of `min_position` and `wait_seconds`, so waits are short here.
REMOVABLE = [path for path, route in API_ROUTES.items() if {"GET", "DELETE"} <= set(route.roles)]
IMPATIENT = {"LABLEDGER_POSITION_WAIT_SECONDS": "0.02", "LABLEDGER_LONG_POLL_SECONDS": "0.02"}


@pytest.fixture(scope="module")
def fuzzed(servers: ServerPool) -> Iterator[Running]:
    """Run a separate service, because the requests leave objects behind."""
    with servers.databases("embedded").fresh() as database, running(database, **IMPATIENT) as started:
        started.do("lab", "load", str(SAMPLES / "lab.json"))
        started.make_contact()
        started.do("submit", str(SAMPLES / "nfs-multihost.xml"))
        yield started


def test_document__by_its_standard__is_sound(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []


def test_document__every_route__is_described(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    described = sorted((path.count("/"), method) for path, methods in paths.items() for method in methods)
    routed = sorted(
        (path.count("/"), method.lower()) for path, route in API_ROUTES.items() for method in route.roles
    )
    assert described == routed
    ids = [operation["operationId"] for methods in paths.values() for operation in methods.values()]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("path", "name", "body"),
    [
        ("/lab-controllers/{name}", "lab_controller", {}),
        ("/lab-controllers/{name}", "lab-controller", {}),
        ("/distro-trees/{name}", "RHEL", {"name": "RHEL-0", "family": "RHEL", "arch": "x86_64"}),
        ("/distro-trees/{name}", "0", {"name": "RHEL-0", "family": "RHEL", "arch": "x86_64"}),
        ("/distro-trees/{name}", "907", {"name": "RHEL-0", "family": "RHEL", "arch": "x86_64"}),
        ("/pools/{name}", "-pool", {}),
        ("/pools/{name}", "p" * 255, {}),
        ("/pools/{name}", "p" * 256, {}),
    ],
)
def test_name_in_a_path__as_it_is_described__is_taken(
    client: httpx.Client, path: str, name: str, body: dict[str, str]
) -> None:
    (described,) = [
        parameter["schema"]
        for parameter in client.get("/openapi.json").json()["paths"][path]["put"]["parameters"]
        if parameter["in"] == "path"
    ]
    value = int(name) if described["type"] == "integer" and name.isdigit() else name
    sound = jsonschema.Draft202012Validator(described).is_valid(value)
    address = path.format(name=name)
    assert client.put(address, json=body).status_code == (200 if sound else 422)
    client.delete(address)


def test_removed__shown_afterwards__is_what_the_fuzzing_expects(
    client: httpx.Client, machines: Callable[..., str]
) -> None:
    """READABLE_AFTER_DELETE names all paths that are readable after a DELETE; other paths answer 404."""
    number = next(NUMBERS)
    name = f"removed-{number}"
    values = {"name": name, "fqdn": machines(), "path": "root", "version": 1}
    tree = {"name": "RHEL-0", "family": "RHEL", "arch": "x86_64"}
    bodies = {
        "/distro-trees/{name}": tree,
        "/pools/{name}/access-policy": {"entries": []},
        "/filters/{name}": {"action": "CONTINUE"},
        "/systems/{fqdn}/power": {"type": "ilo", "address": "a"},
    }

    def address(path: str) -> str:
        # The name of a distro tree is a number.
        path = path.replace(":int(min=1)", "")
        return path.format_map({**values, "name": 900_000 + number} if "distro" in path else values)

    for path in ("/users/{name}", "/tokens", *REMOVABLE):
        if path == "/tokens":
            values["token_id"] = client.post(path, json={"user": name, "role": "auditor"}).json()["token_id"]
        elif "PUT" in API_ROUTES[path].roles:
            put = client.put(address(path), json=bodies.get(path, {}))
            assert put.status_code == 200, (path, put.text)
    # An active partition cannot be removed.
    client.post(f"/partitions/{name}/drain").raise_for_status()
    for path in reversed(REMOVABLE):
        gone = client.delete(address(path))
        assert gone.status_code == 200, (path, gone.text)
        position = gone.headers["labledger-position"]
        shown = {
            below
            for below, route in API_ROUTES.items()
            if below.startswith(path) and "admin" in route.roles.get("GET", ()) and "command_id" not in below
            if client.get(address(below), params={"min_position": position}).status_code != 404
        }
        assert shown == set(READABLE_AFTER_DELETE.get(f"DELETE {path}", ())), path
        if path == "/systems/{fqdn}/power":
            # A removed system keeps its power settings.
            client.put(address(path), json=bodies[path]).raise_for_status()


def test_text_with_a_nul__in_any_parameter__is_not_described(client: httpx.Client) -> None:
    """The gate refuses every request with a NUL."""
    paths = client.get("/openapi.json").json()["paths"]
    parameters = [
        (path, parameter["name"], text)
        for path, methods in paths.items()
        for method in methods.values()
        for parameter in method.get("parameters", [])
        if parameter["in"] != "header"
        for text in texts_of(parameter["schema"])
    ]
    assert len(parameters) > 100
    nul = [
        (path, name)
        for path, name, text in parameters
        # A format such as a date-time has no NUL, which this validator does not check.
        if "format" not in text and jsonschema.Draft202012Validator(text).is_valid("pool/a\0b")
    ]
    assert nul == []


def texts_of(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for part in (schema, schema.get("items", {}), *schema.get("anyOf", ())):
        if part.get("type") == "string":
            yield part


@pytest.mark.parametrize(("path", "query"), [("/events", {"subject": "pool/{}"}), ("/locks", {"name": "{}"})])
def test_query__with_a_nul__is_refused(client: httpx.Client, path: str, query: dict[str, str]) -> None:
    for text, status in (("a b", 200), ("a\0b", 400)):
        params = {name: value.format(text) for name, value in query.items()}
        assert client.get(path, params=params).status_code == status


def test_document__without_a_token__is_open(service: Running) -> None:
    assert httpx.get(f"{service.url}/openapi.json", **LOCAL_HTTP).status_code == 200


@pytest.mark.soak
def test_service__asked_at_every_bound__keeps_its_promises(fuzzed: Running) -> None:
    fuzz(fuzzed, "--phases", "examples,coverage")


@pytest.mark.soak
@pytest.mark.parametrize(
    "phase",
    [
        # Independent requests, most of them invalid.
        "fuzzing",
        # Sequences of requests: a written object is shown, a removed one is gone.
        "stateful",
    ],
)
def test_service__asked_for_a_minute__keeps_its_promises(fuzzed: Running, phase: str) -> None:
    fuzz(fuzzed, "--phases", phase, "--max-examples", "40", "--max-time", "70")


def fuzz(service: Running, *arguments: str) -> None:
    """Send random requests to every operation. A failure prints the command that reproduces it."""
    seed = int(os.environ.get(SEED, secrets.randbelow(2**32)))
    print(f"{SEED}={seed}")
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIGURATION), "run"),
        *(f"{service.url}/openapi.json", "--header", f"Authorization: Bearer {service.token}"),
        *("--checks", "all", "--suppress-health-check", "all", "--warnings", "off", "--no-color"),
        *("--seed", str(seed), "--generation-database", "none"),
        *arguments,
    ]
    # In another folder, so that its files stay out of the checkout.
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**service.environment, "SCHEMATHESIS_HOOKS": HOOKS, "PYTHONPATH": str(TOP)},
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-12_000:] + done.stderr[-2_000:]
    asked = re.search(r"(\d+) generated", done.stdout)
    assert asked is not None and int(asked.group(1)) > len(API_ROUTES), done.stdout
    service.wait_ready()
