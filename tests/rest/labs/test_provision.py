"""The provision command: it contains every field of the recipe document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from api.intake import document
from tests.harness.waiting import wait_until

# Fields of a recipe that select its system, its distro tree and the time of its start.
PLACING = {"host_requires", "distro_requires", "autopick", "locks"}
# Fields of a job that do not concern a single recipe.
ADMISSION = {"depends_on", "reasons"}
OF_JOB = {
    "key",
    "open",
    "whiteboard",
    "partition",
    "queue",
    "user",
    "group",
    "retention_tag",
    "product",
    "notify",
    "recipe_sets",
    "foreign",
    *ADMISSION,
}
OF_SET = {"key", "preemptible", "priority", "recipes", *ADMISSION}

REPO = {"name": "extra", "url": "http://repo.example.com/"}
PARTITION = {"name": "/home", "size_gb": 10, "type": "lvm", "fs": "xfs"}
FETCH = {"url": "git://tasks.example.com/all", "subdir": "memory"}
TASK = {
    "name": "/fetched",
    "role": "CLIENTS",
    "params": {"KILLTIMEOVERRIDE": "99", "A": "b c"},
    "fetch": FETCH,
}
DISTRO = {
    "arch": "x86_64",
    "osmajor": "Own1",
    "osminor": "2",
    "name": "Own-1.2",
    "variant": "Server",
    "tree_url": "http://own.example.com/",
    "kernel_url": "http://own.example.com/vmlinuz",
    "initrd_url": "http://own.example.com/initrd",
    "image_url": "http://own.example.com/image",
}
SAID: dict[str, Any] = {
    "whiteboard": "the host",
    "role": "SERVERS",
    "kernel_options": "console=ttyS0",
    "kernel_options_post": "quiet",
    "ks_meta": "method=nfs",
    "autopick": {"random": True, "pools": []},
    "locks": {"network": {"Shared": ["lab-net"]}},
    "watchdog": {"panic": "ignore"},
    "packages": ["gcc", "make"],
    "ks_appends": ["%post\necho one\n%end", "%post\necho two\n%end"],
    "repos": [REPO],
    "partitions": [PARTITION],
    "kickstart": "install\ntext\n",
    "distro": DISTRO,
    "host_requires": {"element": "arch", "value": "x86_64"},
    "reservesys": {"duration_seconds": 600, "when": "onfail"},
    "tasks": [TASK, {"name": "/plain"}],
}


def guest(name: str) -> dict[str, Any]:
    own = {
        "guestname": name,
        "guestargs": f"--name={name}",
        "whiteboard": name,
        "kickstart": f"text {name}\n",
    }
    return {**SAID, **own, "host_requires": {}}


HOST = {**SAID, "guests": [guest("one"), guest("two")]}
OTHER = {"role": "CLIENTS", "ks_meta": "other", "tasks": [{"name": "/plain"}]} | {
    name: SAID[name] for name in ("distro", "host_requires")
}


@pytest.fixture
def ids(client: httpx.Client) -> Iterator[list[int]]:
    """Yield the recipe ids of a set that has started: a host, its two guests, and another host."""
    # A set before it, so that indexes in the document differ from ids.
    sets = [{"recipes": [OTHER]}, {"recipes": [HOST, OTHER]}]
    answer = client.post("/jobs", json={"recipe_sets": sets})
    assert answer.status_code == 201, answer.text
    first, *others = answer.json()["recipe_ids"]
    for recipe_id in (first, others[0]):
        wait_until(lambda number=recipe_id: state(client, number) == "waiting", f"recipe {recipe_id} to wait")
    yield others
    for recipe_id in (first, *others):
        client.post(f"/recipes/{recipe_id}/progress", json={"state": "aborted", "reason": "seen"})


def state(client: httpx.Client, recipe_id: int) -> Any:
    return client.get(f"/recipes/{recipe_id}").json().get("state")


def commands_of(client: httpx.Client, *recipe_ids: int) -> list[dict[str, Any]]:
    lab = client.get(f"/recipes/{recipe_ids[0]}").json()["lab_controller"]
    given = client.get(f"/lab-controllers/{lab}/commands").json()["commands"]
    found = {command["recipe_id"]: command for command in given if command["kind"] == "provision"}
    return [found[recipe_id] for recipe_id in recipe_ids]


MODELS: list[tuple[type[BaseModel], set[str]]] = [
    (document.Job, OF_JOB),
    (document.RecipeSet, OF_SET),
    (document.Recipe, {*HOST, "distro_requires"}),
    (document.Guest, {*guest("one"), "distro_requires"}),
    (document.Task, set(TASK)),
    (document.Fetch, set(FETCH)),
    (document.Repo, set(REPO)),
    (document.Partition, set(PARTITION)),
    (document.Distro, set(DISTRO)),
    (document.Reservesys, set(SAID["reservesys"])),
    (document.Watchdog, set(SAID["watchdog"])),
]


@pytest.mark.parametrize(("model", "said"), MODELS, ids=lambda value: getattr(value, "__name__", ""))
def test_document__any_part__has_all_its_fields_in_these_tests(
    model: type[BaseModel], said: set[str]
) -> None:
    assert said == set(model.model_fields), "a new field is carried by the command, or decides on placing"


def carried(said: dict[str, Any], sent: dict[str, Any]) -> None:
    """Check that every field of a recipe of the document is in the command."""
    for name, value in said.items():
        if name not in (*PLACING, "guests", "tasks"):
            assert sent[name] == value, name
    assert len(sent["tasks"]) == len(said["tasks"])
    for task, in_command in zip(said["tasks"], sent["tasks"], strict=True):
        plain = {"role": None, "params": {}, "fetch": None, **task}
        assert {name: in_command[name] for name in plain} == plain


def test_provision__recipe_with_everything__carries_every_field_of_the_document(
    client: httpx.Client, ids: list[int]
) -> None:
    host, other = commands_of(client, ids[0], ids[3])
    carried(HOST, host)
    carried(OTHER, other)
    assert [sent["recipe_id"] for sent in host["guests"]] == ids[1:3]
    for said, sent in zip(HOST["guests"], host["guests"], strict=True):
        carried(said, sent)
    assert [task["watchdog_seconds"] for task in host["tasks"]] == [99, 1800]
    assert (host["job_id"], other["guests"], other["kickstart"]) == (other["job_id"], [], None)


def test_provision__set_of_two_hosts__each_command_has_the_roles_and_systems_of_all(
    client: httpx.Client, ids: list[int]
) -> None:
    host, other = commands_of(client, ids[0], ids[3])
    assert host["members"] == other["members"]
    roles = [(member["recipe_id"], member["role"], member["system"]) for member in host["members"]]
    a, b = host["system"], other["system"]
    assert roles == [
        *((ids[0], "SERVERS", a), (ids[1], "SERVERS", a), (ids[2], "SERVERS", a), (ids[3], "CLIENTS", b))
    ]
    names = [(member["host_recipe_id"], member["guestname"]) for member in host["members"]]
    assert names == [(None, None), (ids[0], "one"), (ids[0], "two"), (None, None)]
    assert host["members"][0]["tasks"] == [{"id": host["tasks"][0]["id"], "role": "CLIENTS"}]
    assert host["recipe_set_id"] == other["recipe_set_id"]


def test_provision__documents_are_large__a_page_ends_early_and_the_next_goes_on(client: httpx.Client) -> None:
    large = {**OTHER, "ks_appends": ["x" * 60_000] * 10}
    ids = [client.post("/jobs", json=job_of(large)).json()["recipe_ids"][0] for _ in range(2)]
    for recipe_id in ids:
        wait_until(lambda number=recipe_id: state(client, number) == "waiting", f"recipe {recipe_id} to wait")
    lab = client.get(f"/recipes/{ids[0]}").json()["lab_controller"]
    path, after, pages = f"/lab-controllers/{lab}/commands", 0, []
    while page := client.get(path, params={"after": after, "unfinished": True}).json()["commands"]:
        pages.append([command["recipe_id"] for command in page if command["recipe_id"] in ids])
        after = page[-1]["id"]
    for recipe_id in ids:
        client.post(f"/recipes/{recipe_id}/progress", json={"state": "aborted", "reason": "seen"})
    assert [page for page in pages if page] == [[ids[0]], [ids[1]]]


def job_of(recipe: dict[str, Any]) -> dict[str, Any]:
    """Return a job for one machine of the lab in the west."""
    requires = {"and": [SAID["host_requires"], {"element": "labcontroller", "value": "lab.west.example.com"}]}
    return {"recipe_sets": [{"recipes": [{**recipe, "host_requires": requires}]}]}
