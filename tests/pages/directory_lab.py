"""A lab with items in each list of the directory, some of them about hidden systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx

from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.rest.actions import EAST, cancel_set, in_state, recipe_for, submit

HOSTILE = "</title><script>alert(1)</script>{{ 7 * 7 }}"
URLS = [
    "http://trees.example.com/a",
    "nfs://trees.example.com/a",
    "ftp://trees.example.com/a",
    "javascript:alert(1)",
]
TREE, NETWORK = 777, "net-of-pages"
SYSTEM = {
    "lab_controller": EAST,
    "owner": "alice",
    "condition": "Automated",
    "type": "Machine",
    "arches": ["x86_64"],
}
QUEUES = {
    "queues": [
        {
            "name": "kernel",
            "guaranteed": 3,
            "max": 5,
            "max_jobs": 4,
            "priority_offset": 1,
            "submit": {"users": ["alice"], "groups": ["kernel-qe"]},
            "admin": {"users": ["*"]},
            "limits": [{"user": "*", "max": 2}, {"group": "kernel-qe", "max_jobs": 1}],
        },
        {"name": "people", "template": {"max": 2}, "queues": []},
    ]
}
JOB_FILTER = {
    "action": "PAUSE",
    "priority": 7,
    "predicate": {"field": "user", "op": "=", "value": "nobody"},
    "reason": HOSTILE,
}

# The addresses of the pages of the directory below /ui, without that of the token.
DIRECTORY = (
    *(
        "directory",
        "maintenance-windows",
        "users",
        "groups",
        "pools",
        "lab-controllers",
        "distro-trees",
        "tokens",
        "partitions",
    ),
    *("filters", "claims", "locks", "reconciliations", "users/carol", "groups/net-qe", "pools/hostile"),
    *("pools/big", f"lab-controllers/{EAST}", f"distro-trees/{TREE}", "filters/of-pages"),
    *("partitions/default", "partitions/default/queues/root.kernel", "partitions/default/configuration"),
)


class DirectoryLab(NamedTuple):
    """A position with items in each list. `hidden` systems are for admins alone, `visible` ones for all."""

    position: int
    hidden: tuple[str, ...]
    visible: tuple[str, ...]
    token_id: str
    admin: httpx.Client
    carol: httpx.Client

    @property
    def addresses(self) -> list[str]:
        systems = (f"systems/{fqdn}" for fqdn in self.visible)
        return [f"/ui/{path}" for path in (*DIRECTORY, f"tokens/{self.token_id}", *systems)]


@contextmanager
def directory_lab(service: Running, password: str) -> Iterator[DirectoryLab]:
    """Add items to each list; end jobs, job filter and configuration afterwards. Carol gets the password."""
    with service.client() as admin, _busy(admin, "concealed") as hidden, _busy(admin, "open") as visible:
        _put(admin, "/users/carol", {"roles": ["submitter"], "email": "carol@example.com"})
        _put(admin, "/users/carol/password", {"password": password})
        _put(admin, "/pools/hostile", {"owner_group": "net-qe", "description": HOSTILE})
        tree = {"name": "Pages-1", "family": "Pages", "arch": "x86_64", "variant": "Server", "tags": ["GA"]}
        _put(admin, f"/distro-trees/{TREE}", {**tree, "version": "1", "urls": {EAST: URLS}})
        _put(admin, "/filters/of-pages", JOB_FILTER)
        _put(admin, "/partitions/default/configuration", {"queues": QUEUES})
        for fqdn in hidden:
            entries = [{"permission": "view", "user": "alice"}, {"permission": "submit", "everybody": True}]
            _put(admin, f"/systems/{fqdn}/access-policy", {"entries": entries})
        made = admin.post("/tokens", json={"user": "carol", "role": "submitter"}).json()
        position = service.end()
        admin.get("/users", params={"min_position": position}).raise_for_status()
        with service.client(made["token"]) as carol:
            yield DirectoryLab(position, hidden, visible, made["token_id"], admin, carol)
        _put(admin, "/partitions/default/configuration", {})
        admin.delete("/filters/of-pages").raise_for_status()


@contextmanager
def _busy(admin: httpx.Client, name: str) -> Iterator[tuple[str, ...]]:
    """Yield systems: one with a recipe, its lock and a claim to it, one on which something else runs.

    The set of the recipe has a third system, so that its job has more systems than jobs wait.
    """
    systems = claimed, occupied, further = [
        f"{name}-{kind}.east.example.com" for kind in ("claimed", "occupied", "further")
    ]
    for fqdn in systems:
        assert admin.post("/systems", json={"fqdn": fqdn, **SYSTEM}).status_code == 201
    lock = {"system": {"Exclusive": [claimed]}, "network": {"Exclusive": [NETWORK]}}
    holder = submit(admin, recipe_for(claimed, locks=lock), recipe_for(further))
    in_state(admin, holder["recipe_ids"][0], "waiting")
    claimant = submit(admin, recipe_for(claimed, host_requires={"force": claimed}))
    claim = f"/claims/{claimant['recipe_ids'][0]}"
    wait_until(lambda: admin.get(claim).is_success, "the claim to begin")
    runs = {"items": [{"running": {"system": occupied}}]}
    admin.post(f"/lab-controllers/{EAST}/updates", json=runs).raise_for_status()
    yield claimed, occupied, further
    for each in (claimant, holder):
        cancel_set(admin, each)
    for fqdn in systems:
        admin.delete(f"/systems/{fqdn}").raise_for_status()


def _put(client: httpx.Client, path: str, body: Mapping[str, Any]) -> None:
    answer = client.put(path, json=body)
    assert answer.status_code == 200, answer.text
