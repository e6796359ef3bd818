"""Hooks of the fuzzing: which requests it sends, and which failures are expected."""

from __future__ import annotations

import os
from functools import cache
from typing import Any
from urllib.parse import urlencode

import httpx
import hypothesis
import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import EnsureResourceAvailability, UseAfterFree

from api.headers import LENIENT, PREFERENCE_APPLIED
from api.rest.routes import API_ROUTES
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.waiting import wait_until
from tests.rest.schemathesis_links import add_links

JOB = {
    **dict.fromkeys(("user", "group", "product", "distro", "reservesys", "locks", "depends_on", "reasons")),
    **{name: [] for name in ("foreign", "guests", "pools")},
    "retention_tag": "scratch",
    "kernel_options": "",
    "kernel_options_post": "",
    "ks_meta": "",
    "host_requires": {},
    "distro_requires": {"element": "name", "op": "=", "value": "RHEL-9.6"},
    "tasks": [{"name": "/distribution/check-install"}],
}
SYSTEM = {"lab_controller": "lab.east.example.com", "owner": "admin", "pools": []}
TOKEN = {"user": "admin", "role": "auditor", "lab_controller": None, "expires_at": None}


def not_observed(observation: float, *, label: str = "") -> float:
    """Replace `hypothesis.target`, so that the optimiser has nothing to do.

    That of hypothesis 6.170 may fail with an IndexError (`Optimiser.hill_climb`).
    """
    return float(observation)


hypothesis.target = not_observed


# Path -> existing for these fields, at any depth of a body.
EXISTING: dict[str, dict[str, Any]] = {"/jobs": JOB, "/systems": SYSTEM, "/tokens": TOKEN}


def with_existing_names(path: str, body: Any) -> Any:
    return _replaced(body, EXISTING.get(path, {}))


def _replaced(part: Any, existing: dict[str, Any]) -> Any:
    if isinstance(part, list):
        return [_replaced(one, existing) for one in part]
    if not isinstance(part, dict):
        return part
    if "host_requires" in part:
        part = {"distro_requires": None, **part}
    return {
        name: existing[name] if name in existing else _replaced(value, existing)
        for name, value in part.items()
    }


# The server itself refuses a longer line, before the application.
MAX_QUERY_LENGTH = 4_000
# Paths that answer 200 after DELETE. A removed system is Removed and a revoked token revoked: both keep their
# history. A pool whose access policy is removed shows a policy without entries.
READABLE_AFTER_DELETE = {
    "DELETE /systems/{fqdn}": tuple(
        path
        for path, route in API_ROUTES.items()
        if path.startswith("/systems/{fqdn}") and "GET" in route.roles
    ),
    "DELETE /tokens/{token_id}": ("/tokens/{token_id}",),
    "DELETE /pools/{name}/access-policy": ("/pools/{name}/access-policy",),
}

# What a new system does not have yet.
ABSENT_AT_FIRST = ("GET /systems/{fqdn}/power", "GET /lab-controllers/{name}/power-settings/{fqdn}")

# The last written position, the last one that reads reflect, and the position of each removal.
positions = {"written": 0, "read": 0}
removed: dict[str, int] = {}


@schemathesis.hook
def before_load_schema(context: Any, raw_schema: Any) -> None:
    add_links(raw_schema)


@schemathesis.hook
def filter_query(context: Any, query: Any) -> bool:
    return query is None or len(urlencode(dict(query), doseq=True)) < MAX_QUERY_LENGTH


@schemathesis.hook
def filter_case(context: Any, case: Any) -> bool:
    """Skip requests that remove the credentials of the fuzzing: all later requests would get 401."""
    return not (case.method != "GET" and "admin" in (case.path_parameters or {}).values())


@schemathesis.hook
def map_case(context: Any, case: Any) -> Any:
    if case.meta is not None and case.meta.phase.name == "stateful":
        case.body = with_existing_names(case.operation.path, case.body)
    return case


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Wait until reads reflect the last write. A client would use `min_position`, which is random here."""
    if case.method == "GET" and positions["written"] > positions["read"]:
        wait_until(lambda: _reflects(positions["written"]), f"reads to reflect {positions['written']}")
        positions["read"] = positions["written"]


def _reflects(position: int) -> bool:
    return _client().get("/idle-pool", params={"limit": 1, "min_position": position}).status_code == 200


@cache
def _client() -> httpx.Client:
    return httpx.Client(
        base_url=os.environ["LABLEDGER_URL"],
        headers={"Authorization": f"Bearer {os.environ['LABLEDGER_TOKEN']}"},
        **LOCAL_HTTP,
    )


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    header = response.headers.get("labledger-position")
    if case.method == "GET" or header is None:
        return
    position = int(header[0])
    positions["written"] = max(positions["written"], position)
    if case.method == "DELETE":
        removed[case.id] = position


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Return whether a failure is real.

    A removed object can still be read as of before its removal. If a client wants an answer for each item,
    the answer is 200 also if some are faulty.
    """
    if isinstance(failure, AcceptedNegativeData) and response.headers.get(PREFERENCE_APPLIED.lower()) == [
        LENIENT
    ]:
        return all(job["status"] < 400 for job in response.json().get("jobs", []))
    if isinstance(failure, EnsureResourceAvailability):
        return failure.not_available_with not in ABSENT_AT_FIRST
    if not isinstance(failure, UseAfterFree):
        return True
    as_of = str((case.query or {}).get("as_of", ""))
    if as_of and not (as_of.isdigit() and int(as_of) >= removed[str(failure.deleted_case_id)]):
        return False
    return case.operation.path not in READABLE_AFTER_DELETE.get(failure.operation, ())
