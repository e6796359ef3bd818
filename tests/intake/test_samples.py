"""The samples, the schema, and documents with many faults at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from api.intake import checks, located_faults, read_job
from api.intake.limits import MAX_FAULTS
from api.intake.xml_writer import write_job
from domain.errors import FaultyInput
from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec, TaskSpec
from domain.priority import Priority
from domain.requirements import operands
from domain.requirements.vocabulary import DISK, DISTRO_TREE, SYSTEM
from tests.intake.jobs import NAMES, SAMPLES, job_xml, read_json, read_xml, sample
from tests.intake.rich import RICH
from tests.intake.schema import SCHEMA, is_valid

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


NG = "{http://relaxng.org/ns/structure/1.0}"


def is_accepted(body: bytes) -> bool:
    try:
        read_xml(body)
    except FaultyInput:
        return False
    return True


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.xml")), ids=lambda path: path.name)
def test_sample__every_one__is_valid(path: Path) -> None:
    assert is_valid(path.read_bytes())


def test_rich_job__accepted__is_valid() -> None:
    assert is_accepted(RICH)
    assert is_valid(RICH)


MISPLACED = {
    "no recipe set": b"<job/>",
    "no recipe": b"<job><recipeSet/></job>",
    "no task": job_xml(task=""),
    "no hostRequires": job_xml(host=""),
    "no distroRequires": job_xml(distro=""),
    "task without a name": job_xml(task="<task/>"),
    "fetch without a url": job_xml(task='<task name="/t"><fetch subdir="a"/></task>'),
    "repo without a url": job_xml(in_recipe='<repos><repo name="a"/></repos>'),
    "package without a name": job_xml(in_recipe="<packages><package/></packages>"),
    "two watchdogs": job_xml(in_recipe="<watchdog/><watchdog/>"),
    "two whiteboards": job_xml(in_job="<whiteboard/><whiteboard/>"),
    "guest in a guest": job_xml(in_recipe="<guestrecipe guestargs=''><guestrecipe/></guestrecipe>"),
    "guest without anything": job_xml(in_recipe="<guestrecipe guestargs=''/>"),
    "unknown attribute": job_xml(recipe_set='colour="red"'),
    "unknown element": job_xml(in_recipe="<thing/>"),
    "text": job_xml(in_recipe="text"),
    "foreign element in a recipe": job_xml(in_recipe='<x:y xmlns:x="urn:x"/>'),
    "leaf with children": job_xml(host='<hostRequires><memory value="1"><and/></memory></hostRequires>'),
    "leaf without a value": job_xml(host='<hostRequires><memory op="="/></hostRequires>'),
    "unknown operator": job_xml(host='<hostRequires><memory op="~" value="1"/></hostRequires>'),
    "unknown leaf": job_xml(host='<hostRequires><memroy value="1"/></hostRequires>'),
    "leaf of another group": job_xml(host='<hostRequires><cpu><memory value="1"/></cpu></hostRequires>'),
    "device attribute": job_xml(host='<hostRequires><device colour="red"/></hostRequires>'),
    "force and more": job_xml(host='<hostRequires force="a"><memory value="1"/></hostRequires>'),
    "priority": job_xml(recipe_set='priority="Highest"'),
}


@pytest.mark.parametrize("body", MISPLACED.values(), ids=MISPLACED)
def test_structure__faulty__is_refused_by_both(body: bytes) -> None:
    assert not is_valid(body)
    assert not is_accepted(body)


LEAVES = st.sampled_from(
    [
        '<memory op="&gt;=" value="1"/>',
        '<arch value="x86_64"/>',
        '<arch op="like" value="x86_64"/>',
        '<hostname op="like" value="a%"/>',
        '<device driver="e1000"/>',
        '<key_value key="HVM"/>',
        '<key_value key="HVM" op="other" value="1"/>',
        '<pool op="other" value="a"/>',
        '<type op="other" value="Machine"/>',
        '<key_value value="1"/>',
        '<sockets op="=" value="1"/>',
        '<flag op="&gt;" value="vmx"/>',
        '<size value="1" units="GB"/>',
        '<name value="a"/>',
        '<type value="Machine"/>',
        '<last_inventoried op="like" value="2026%"/>',
        '<status value="Broken"/>',
        '<hyper value="TRUE"/>',
        '<hyper op="like" value="1"/>',
        '<auto_prov value="1"/>',
        '<auto_prov op="!=" value="1"/>',
        '<host op="&gt;" value="a"/>',
        '<sector_size value="4" units="KiB"/>',
        '<compatible_with_distro arch="x86_64" osmajor="F"/>',
        '<compatible_with_distro op="=" arch="x86_64" osmajor="F"/>',
        "<memroy/>",
    ]
)
NESTED = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda tag, children: f"<{tag}>{''.join(children)}</{tag}>",
        st.sampled_from(["and", "or", "not", "system", "cpu", "disk"]),
        st.lists(inner, max_size=3),
    ),
    max_leaves=6,
)


@given(st.lists(NESTED, max_size=3))
def test_requirement__of_any_shape__agrees_with_the_schema(parts: list[str]) -> None:
    body = job_xml(host=f"<hostRequires>{''.join(parts)}</hostRequires>")
    assert is_accepted(body) == is_valid(body)


def test_schema__of_requirements__names_every_element_and_unit() -> None:
    tree = etree.parse(SCHEMA)
    named = {name.text for name in tree.iter(f"{NG}name")} | {
        each.get("name") for each in tree.iter(f"{NG}element")
    }
    assert {
        spelling.rsplit("/", 1)[-1] for spelling in {*SYSTEM.elements, *DISK.elements, *DISTRO_TREE.elements}
    } <= named
    assert set(operands.UNITS) <= {value.text for value in tree.iter(f"{NG}value")}


MANY = 5_000
VALID_RECIPE: dict[str, Any] = {
    "host_requires": {"and": []},
    "distro_requires_xml": "<distroRequires/>",
    "tasks": [{"name": "/a"}],
}
UNKNOWN_KEYS = {f"key{number}": 0 for number in range(MANY)}


def _job(recipe: dict[str, Any], **beside: Any) -> bytes:
    return json.dumps({"recipe_sets": [{"recipes": [{**VALID_RECIPE, **recipe}]}], **beside}).encode()


@pytest.mark.parametrize(
    ("body", "more"),
    [
        (_job({}, **UNKNOWN_KEYS), MANY - MAX_FAULTS),
        (_job(UNKNOWN_KEYS), MANY - MAX_FAULTS),
        # A requirement reports at most a thousand faults.
        (_job({"host_requires": {"and": [1] * MANY}}), 1_000 - MAX_FAULTS),
    ],
)
def test_document__thousands_of_faults__only_shown_faults_are_worded_and_located(
    body: bytes, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = {"job_error_message": 0, "_locate_finding": 0}

    def count(module: Any, name: str) -> None:
        counted = getattr(module, name)

        def called(*args: Any) -> Any:
            calls[name] += 1
            return counted(*args)

        monkeypatch.setattr(module, name, called)

    count(checks, "job_error_message")
    count(located_faults, "_locate_finding")
    with pytest.raises(FaultyInput) as refused:
        read_job(body, "application/json", NAMES, "bob", is_admin=True)
    assert max(calls.values()) <= MAX_FAULTS
    assert len(refused.value.faults) == MAX_FAULTS + 1
    assert refused.value.faults[-1].message == f"and {more} more errors"
