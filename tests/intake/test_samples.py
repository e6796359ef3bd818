"""The sample jobs: one is read completely, the others say what of them is not supported yet."""

from __future__ import annotations

import json

import pytest

from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec, TaskSpec
from domain.priority import Priority
from tests.intake.jobs import faults_of, read_json, read_xml, sample

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
                    host_requires=json.dumps(HOST, sort_keys=True, separators=(",", ":")),
                    distro_requires=json.dumps(DISTRO, sort_keys=True, separators=(",", ":")),
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


LATER_SET = "more than one recipe set is not supported yet"
LATER_RECIPE = "more than one recipe in a set is not supported yet"


@pytest.mark.parametrize(
    ("name", "faults"),
    [
        (
            "guests.xml",
            [
                ("line 5, <guestrecipe>", "a guest recipe is not supported yet"),
                ("line 12, <guestrecipe>", "a guest recipe is not supported yet"),
            ],
        ),
        (
            "nfs-multihost.xml",
            [
                ("line 22, <recipe>", LATER_RECIPE),
                ("line 33, <reservesys>", "reservesys is not supported yet"),
            ],
        ),
        (
            "pinned.xml",
            [
                ("line 7, <hostRequires>", "force: forcing a system is not supported yet"),
                ("line 12, <recipeSet>", LATER_SET),
                ("line 21, <recipe>", LATER_RECIPE),
            ],
        ),
    ],
)
def test_sample__ahead_of_its_time__says_exactly_what_is_not_supported(
    name: str, faults: list[tuple[str, str]]
) -> None:
    assert faults_of(sample(name)) == faults
