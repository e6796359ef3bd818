"""The sample jobs are all accepted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from api.intake.xml_writer import write_job
from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec, TaskSpec
from domain.priority import Priority
from tests.intake.jobs import SAMPLES, read_json, read_xml, sample

DISTRO = {
    "and": [
        {"element": "family", "op": "==", "value": "RedHatEnterpriseLinux9"},
        {"element": "arch", "op": "==", "value": "x86_64"},
        {"element": "tag", "op": "==", "value": "RELEASED"},
    ]
}
HOST = {
    "and": [
        {"element": "system_type", "op": "==", "value": "Machine"},
        {"element": "memory", "op": ">=", "value": 8192},
        {"element": "cpu/sockets", "op": ">=", "value": 2},
        {"element": "cpu/flag", "op": "==", "value": "vmx"},
        {"not": [{"element": "hostname", "op": "like", "value": "old-%"}]},
    ]
}
DOCUMENT = {
    "whiteboard": "Kernel smoke test on any two-socket x86_64 machine",
    "group": "kernel-qe",
    "retention_tag": "scratch",
    "notify": [],
    "foreign": [],
    "recipe_sets": [
        {
            "priority": "Normal",
            "recipes": [
                {
                    "whiteboard": "smoke",
                    "role": "STANDALONE",
                    "kernel_options": "console=ttyS0",
                    "kernel_options_post": "",
                    "ks_meta": "method=nfs",
                    "autopick": {"random": False, "pools": []},
                    "watchdog": {"panic": "ignore"},
                    "packages": ["gcc", "make"],
                    "ks_appends": [],
                    "repos": [],
                    "partitions": [],
                    "guests": [],
                    "distro_requires": DISTRO,
                    "host_requires": HOST,
                    "tasks": [
                        {"name": "/distribution/check-install", "role": "STANDALONE", "params": {}},
                        {"name": "/kernel/smoke", "role": "STANDALONE", "params": {"ITERATIONS": "3"}},
                    ],
                }
            ],
        }
    ],
}


def canonical(form: dict[str, Any]) -> str:
    """Return a requirement with sorted operands."""
    each = sorted(json.dumps(one, sort_keys=True, separators=(",", ":")) for one in form["and"])
    return f'{{"and":[{",".join(each)}]}}'


SPEC = JobSpec(
    whiteboard="Kernel smoke test on any two-socket x86_64 machine",
    owner=None,
    group="kernel-qe",
    retention_tag="scratch",
    product=None,
    recipe_sets=(
        RecipeSetSpec(
            Priority.Normal,
            (
                RecipeSpec(
                    whiteboard="smoke",
                    role="STANDALONE",
                    kernel_options="console=ttyS0",
                    kernel_options_post="",
                    ks_meta="method=nfs",
                    host_requires=canonical(HOST),
                    distro_requires=canonical(DISTRO),
                    autopick_random=False,
                    autopick_pools=(),
                    tasks=(
                        TaskSpec("/distribution/check-install", "STANDALONE", ()),
                        TaskSpec("/kernel/smoke", "STANDALONE", (("ITERATIONS", "3"),)),
                    ),
                ),
            ),
        ),
    ),
    document=DOCUMENT,
)


def test_kernel_smoke__as_xml__is_read_completely() -> None:
    assert read_xml(sample("kernel-smoke.xml")) == SPEC


def test_kernel_smoke__as_the_document_that_was_kept__is_the_same_job() -> None:
    assert read_json(DOCUMENT) == SPEC


def hosts_of(name: str) -> list[list[RecipeSpec]]:
    return [list(recipe_set.recipes) for recipe_set in read_xml(sample(name)).recipe_sets]


def test_guests__sample__are_recipes_below_their_host() -> None:
    (((host,)),) = hosts_of("guests.xml")
    assert [(guest.guestname, guest.guestargs) for guest in host.guests] == [
        ("guest1", "--ram=2048 --vcpus=2 --file-size=10"),
        ("guest2", "--ram=4096 --vcpus=2 --file-size=20"),
    ]
    fedora, rhel = host.guests
    assert "Fedora-44" in fedora.distro_requires and "RHEL-9.6" in rhel.distro_requires
    assert [task.name for task in fedora.tasks] == ["/distribution/check-install"]
    assert (host.guestname, host.whiteboard, len(host.tasks)) == (None, "host", 2)


def test_nfs_multihost__sample__is_one_set_of_two() -> None:
    ((server, client),) = hosts_of("nfs-multihost.xml")
    assert (server.role, server.autopick_pools, server.autopick_random) == (
        "SERVERS",
        ("storage", "big"),
        False,
    )
    assert (client.role, client.autopick_pools, client.autopick_random) == ("CLIENTS", (), True)
    assert client.reservesys == {"duration_seconds": 3600, "when": "onfail"}
    assert server.reservesys is None


def test_pinned__sample__is_two_sets_and_forces_a_system() -> None:
    spec = read_xml(sample("pinned.xml"))
    assert [(each.priority, len(each.recipes)) for each in spec.recipe_sets] == [
        (Priority.Low, 1),
        (Priority.Urgent, 2),
    ]
    assert spec.recipe_sets[0].recipes[0].host_requires == '{"force":"arm-04.east.example.com"}'


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.xml")), ids=lambda path: path.name)
def test_sample__read_written_and_read_again__is_the_same_job(path: Path) -> None:
    spec = read_xml(path.read_bytes())
    written = write_job(spec.document)
    assert read_xml(written) == spec
    assert write_job(read_xml(written).document) == written
