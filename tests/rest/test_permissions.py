"""The permissions on systems: every operation, for every holder of a permission, and each role."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import httpx
import pytest

from api.rest.permissions import OPERATIONS
from tests.harness.running import Running

Clients = dict[str, httpx.Client]

# One user for each permission, granted by name or by a group; the owner, the borrower, a user without any
# permission, and the other roles.
BY_NAME = ("view", "edit_policy", "edit_system", "loan_any")
BY_GROUP = ("loan_self", "control_system", "reserve")
HOLDERS = (*BY_NAME, *BY_GROUP)
BESIDE = ("owner", "borrower", "stranger")
MATRIX = "matrix.east.example.com"
SEEN_BY_ALL_BUT = {"stranger", "other-lab"}


class Act(NamedTuple):
    """An operation on a system, and the users who may do it. Others get 403, or 404 for a hidden system."""

    method: str
    path: str
    body: Callable[[str], dict[str, Any]] | None
    done_by: set[str]
    prepared: str = ""
    # Permitted users who get 409 in the present state.
    conflicts: frozenset[str] = frozenset()
    # The status for users to whom the system is hidden.
    unseen: int = 404


OWNERS = {"owner", "admin"}
READERS = {*HOLDERS, *OWNERS, "borrower", "auditor", "lab"}
NOTHING: Callable[[str], dict[str, Any]] = lambda _: {}  # noqa: E731
LOAN, OWN_LOAN, RESERVED, NOTE, POWER = "loan", "own loan", "reserved", "note", "power"
UNTIL = "2099-01-01T00:00:00Z"
LATER = "2099-01-02T00:00:00Z"

ACTS: dict[str, Act] = {
    "view": Act("GET", "/systems/{fqdn}", None, READERS),
    "view usage": Act("GET", "/systems/{fqdn}/usage", None, READERS),
    "view history": Act("GET", "/systems/{fqdn}/history", None, READERS),
    "view policy": Act("GET", "/systems/{fqdn}/access-policy", None, READERS),
    "describe": Act("PATCH", "/systems/{fqdn}", lambda _: {"memory_mb": 7}, {"edit_system", *OWNERS}),
    "drain": Act("PATCH", "/systems/{fqdn}", lambda _: {"draining": False}, {"edit_system", *OWNERS}),
    "break": Act("PATCH", "/systems/{fqdn}", lambda _: {"condition": "Manual"}, {"edit_system", *OWNERS}),
    "drain many": Act(
        "POST",
        "/system-changes",
        lambda _: {"systems": [MATRIX], "draining": False},
        {"edit_system", *OWNERS},
        unseen=422,
    ),
    "add a note": Act("POST", "/systems/{fqdn}/notes", lambda _: {"text": "x"}, {"edit_system", *OWNERS}),
    "view notes": Act("GET", "/systems/{fqdn}/notes", None, READERS),
    "remove a note": Act(
        *("DELETE", "/systems/{fqdn}/notes/{note_id}", None, {"edit_system", *OWNERS}),
        prepared=NOTE,
    ),
    "set power": Act(
        *("PUT", "/systems/{fqdn}/power", lambda _: {"type": "ilo", "address": "a"}),
        {"edit_system", "control_system", *OWNERS},
    ),
    "view power": Act("GET", "/systems/{fqdn}/power", None, READERS, prepared=POWER),
    "remove power": Act("DELETE", "/systems/{fqdn}/power", None, {"edit_system", "control_system", *OWNERS}),
    "plan maintenance": Act(
        "POST",
        "/maintenance-windows",
        lambda _: {
            "reason": "disks",
            "starts_at": UNTIL,
            "ends_at": LATER,
            "lead_seconds": 0,
            "systems": [MATRIX],
        },
        {"edit_system", *OWNERS},
        unseen=422,
    ),
    "remove": Act("DELETE", "/systems/{fqdn}", None, {"edit_system", *OWNERS}),
    "give away": Act("PATCH", "/systems/{fqdn}", lambda _: {"owner": "owner"}, OWNERS),
    "change policy": Act(
        "PUT", "/systems/{fqdn}/access-policy", lambda _: policy(), {"edit_policy", *OWNERS}
    ),
    "put into a pool of theirs": Act(
        "PUT", "/pools/everybodys/systems/{fqdn}", NOTHING, {"edit_policy", *OWNERS}
    ),
    "put into a pool of others": Act("PUT", "/pools/others/systems/{fqdn}", NOTHING, {"admin"}),
    "take out of a pool of others": Act(
        "DELETE", "/pools/others/systems/{fqdn}", None, {"edit_policy", *OWNERS}
    ),
    "lend to oneself": Act("PUT", "/systems/{fqdn}/loan", NOTHING, {"loan_self", "loan_any", *OWNERS}),
    "lend to others": Act("PUT", "/systems/{fqdn}/loan", lambda _: {"user": "view"}, {"loan_any", *OWNERS}),
    "end a loan": Act("DELETE", "/systems/{fqdn}/loan", None, {"loan_any", "borrower", *OWNERS}, LOAN),
    "reserve": Act("PUT", "/systems/{fqdn}/reservation", NOTHING, {"reserve", "owner"}),
    # Other users with the permission get 409.
    "reserve on loan": Act(
        "PUT",
        "/systems/{fqdn}/reservation",
        NOTHING,
        {"borrower"},
        LOAN,
        conflicts=frozenset({"reserve", "owner"}),
    ),
    # Only admins may do this, and the other user needs the permission.
    "reserve for others": Act(
        "PUT", "/systems/{fqdn}/reservation", lambda _: {"user": "reserve"}, {"admin", "reserve"}, unseen=403
    ),
    "extend a reservation": Act(
        *("POST", "/systems/{fqdn}/extension", lambda _: {"seconds": 60}),
        *({"control_system", "reserve", *OWNERS}, RESERVED),
    ),
    "extend a loan": Act(
        "POST", "/systems/{fqdn}/extension", lambda _: {"seconds": 60}, {"loan_any", *OWNERS}, LOAN
    ),
    "extend a loan to oneself": Act(
        *("POST", "/systems/{fqdn}/extension", lambda _: {"seconds": 60}),
        *({"loan_self", "loan_any", *OWNERS}, OWN_LOAN),
    ),
    "return": Act(
        "DELETE", "/systems/{fqdn}/reservation", None, {"control_system", "reserve", *OWNERS}, RESERVED
    ),
}
# Who has reserved a system may do this without a permission.
OF_WHO_RESERVED = (("DELETE", "/systems/{fqdn}/reservation"), ("POST", "/systems/{fqdn}/extension"))
# Roles that may only read.
READ_ONLY = {"auditor", "lab", "other-lab"}
PEOPLE = (*HOLDERS, *BESIDE, "admin", "auditor", "lab", "other-lab")


def policy() -> dict[str, Any]:
    """Return a policy with one holder for each permission; groups are named after their permission."""
    named = [{"permission": name, "user": name} for name in BY_NAME]
    grouped = [{"permission": name, "group": f"of-{name}"} for name in BY_GROUP]
    return {"entries": [*named, *grouped]}


@pytest.fixture(scope="module")
def clients(service: Running) -> Iterator[Clients]:
    with ExitStack() as stack:
        admin = stack.enter_context(service.client())
        users = (*HOLDERS, *BESIDE)
        for name in (*users, "auditor"):
            admin.put(f"/users/{name}", json={}).raise_for_status()
        for name in BY_GROUP:
            admin.put(f"/groups/of-{name}", json={"members": [name]}).raise_for_status()
        admin.put("/groups/all", json={"members": users}).raise_for_status()
        admin.put("/pools/everybodys", json={"owner_group": "all"}).raise_for_status()
        admin.put("/pools/others", json={}).raise_for_status()
        asked = {name: {"user": name, "role": "submitter"} for name in users}
        asked["auditor"] = {"user": "auditor", "role": "auditor"}
        for name, lab in (("lab", "lab.east.example.com"), ("other-lab", "lab.west.example.com")):
            asked[name] = {"user": "lab-ops", "role": "lab-controller", "lab_controller": lab}
        tokens = {name: admin.post("/tokens", json=body).json()["token"] for name, body in asked.items()}
        yield {
            "admin": admin,
            **{name: stack.enter_context(service.client(token)) for name, token in tokens.items()},
        }


@pytest.fixture(scope="module")
def restricted(clients: Clients) -> Iterator[str]:
    """Yield a Manual system in pool `others`."""
    fqdn, admin = MATRIX, clients["admin"]
    system = {"fqdn": fqdn, "lab_controller": "lab.east.example.com", "owner": "owner", "condition": "Manual"}
    admin.post("/systems", json={**system, "pools": ["others"]}).raise_for_status()
    yield fqdn
    open_to_all = {"entries": [{"permission": "view", "everybody": True}]}
    admin.put(f"/systems/{fqdn}/access-policy", json=open_to_all).raise_for_status()
    admin.delete(f"/systems/{fqdn}")


def prepare(admin: httpx.Client, fqdn: str, what: str) -> str:
    """Restore the system after an earlier operation, and return the position of the last change."""
    path = f"/systems/{fqdn}"
    answers = (
        admin.delete(f"{path}/reservation"),
        admin.delete(f"{path}/loan"),
        admin.patch(path, json={"owner": "owner", "condition": "Manual"}),
        admin.put(f"{path}/access-policy", json=policy()),
        admin.put(f"/pools/others{path}", json={}),
        admin.delete(f"/pools/everybodys{path}"),
        # The borrower may view the system only during the loan.
        admin.put(f"{path}/loan", json={"user": "borrower", "until": UNTIL}) if what == LOAN else None,
        admin.put(f"{path}/loan", json={"user": "loan_self", "until": UNTIL}) if what == OWN_LOAN else None,
        admin.put(f"{path}/reservation", json={"user": "reserve", "until": UNTIL})
        if what == RESERVED
        else None,
        admin.put(f"{path}/power", json={"type": "ilo", "address": "a"}) if what == POWER else None,
        # Its id is the position of the last change.
        admin.post(f"{path}/notes", json={"text": "x"}) if what == NOTE else None,
    )
    done = [answer for answer in answers if answer is not None]
    assert all(answer.is_success for answer in done), [answer.text for answer in done]
    position: str = done[-1].headers["Labledger-Position"]
    return position


def expected(act: Act, person: str) -> int:
    if person in act.done_by and not (person == "borrower" and act.prepared != LOAN):
        return 200
    if person in act.conflicts:
        return 409
    if person in READ_ONLY and act.method != "GET":
        return 403
    hidden = person in SEEN_BY_ALL_BUT or (person == "borrower" and act.prepared != LOAN)
    return act.unseen if hidden else 403


@pytest.mark.parametrize("named", ACTS)
def test_system__each_user_tries_each_operation__only_permitted_users_succeed(
    clients: Clients, restricted: str, named: str
) -> None:
    act, found = ACTS[named], {}
    for person in PEOPLE:
        position = prepare(clients["admin"], restricted, act.prepared)
        more: dict[str, Any] = {} if act.body is None else {"json": act.body(person)}
        if act.method == "GET":
            more = {"params": {"min_position": position}}
        path = act.path.format(fqdn=restricted, note_id=position)
        answer = clients[person].request(act.method, path, **more)
        found[person] = 200 if answer.is_success else answer.status_code
    assert found == {person: expected(act, person) for person in PEOPLE}


def test_table__of_permissions__equals_the_operations_that_succeeded() -> None:
    """Each row of the table has an operation that exactly its holders may do, besides owner and admin."""
    rows: dict[tuple[str, str], set[str]] = {}
    for permission, opened in OPERATIONS.items():
        for row in opened:
            rows.setdefault(row, set()).add(permission)
    seen: dict[tuple[str, str], set[str]] = {}
    for act in ACTS.values():
        path = re.sub("^/pools/[a-z]+/", "/pools/{name}/", act.path)
        by = seen.setdefault((act.method, path), set())
        by |= act.done_by & set(HOLDERS)
    views = {row for row, permissions in rows.items() if permissions == {"view"}}
    assert {row: by for row, by in seen.items() if row not in views} == {
        row: permissions | ({"reserve"} if row in OF_WHO_RESERVED else set())
        for row, permissions in rows.items()
        if row not in views
    }
    assert views == {row for row in seen if row[0] == "GET"}
