"""Every element of a recipe: what it becomes, alike from XML and from JSON."""

from __future__ import annotations

from typing import Any

import pytest

from tests.intake.jobs import job_document, job_xml, read_json, read_xml

PLAIN = job_xml()
DISTRO_XML = """<distro><image url="http://i/"/><tree url="http://t/"/><kernel url="http://k/"/>
<initrd url="http://r/"/><arch value="x86_64"/><osversion major="Mine1" minor="2"/><name value="Mine-1.2"/>
<variant value="Lean"/></distro>"""
DISTRO = {
    "arch": "x86_64",
    "osmajor": "Mine1",
    "osminor": "2",
    "name": "Mine-1.2",
    "variant": "Lean",
    "tree_url": "http://t/",
    "kernel_url": "http://k/",
    "initrd_url": "http://r/",
    "image_url": "http://i/",
}
SHORT = """<distro><tree url="t"/><kernel url="k"/><initrd url="i"/><arch value="x86_64"/>
<osversion major="M"/></distro>"""
SHORT_DISTRO = {"arch": "x86_64", "osmajor": "M", "tree_url": "t", "kernel_url": "k", "initrd_url": "i"}

ELEMENTS: dict[str, tuple[bytes, dict[str, Any], dict[str, Any]]] = {
    # Name of the row: XML, what it is as JSON, what is kept where that differs.
    "reservesys": (
        job_xml(in_recipe='<reservesys duration="356400" when="onabort"/>'),
        {"reservesys": {"duration_seconds": 356_400, "when": "onabort"}},
        {},
    ),
    "reservesys of defaults": (
        job_xml(in_recipe="<reservesys/>"),
        {"reservesys": {}},
        {"reservesys": {"duration_seconds": 86_400, "when": "always"}},
    ),
    "kickstart": (
        job_xml(in_recipe="<kickstart>\n lang <![CDATA[<en>]]>\n</kickstart>"),
        {"kickstart": "\n lang <en>\n"},
        {},
    ),
    "blank kickstart": (
        job_xml(in_recipe="<kickstart>\n</kickstart>"),
        {"kickstart": " "},
        {"kickstart": None},
    ),
    "ks_append": (
        job_xml(in_recipe="<ks_appends><ks_append> %post\n</ks_append><ks_append/></ks_appends>"),
        {"ks_appends": [" %post\n", ""]},
        {},
    ),
    "distro": (job_xml(distro=DISTRO_XML), {"distro": DISTRO, "distro_requires": None}, {}),
    "distro of defaults": (
        job_xml(distro=SHORT),
        {"distro": SHORT_DISTRO, "distro_requires": None},
        {"distro": {**SHORT_DISTRO, "osminor": "0"}},
    ),
    "force": (
        job_xml(host='<hostRequires force="arm-04.east.example.com"/>'),
        {"host_requires": {"force": "arm-04.east.example.com"}},
        {},
    ),
    "fetch": (
        job_xml(task='<task name="/t"><fetch url="http://f/" subdir="a/b"/><params/></task>'),
        {"tasks": [{"name": "/t", "fetch": {"url": "http://f/", "subdir": "a/b"}}]},
        {"tasks": [{"name": "/t", "params": {}, "fetch": {"url": "http://f/", "subdir": "a/b"}}]},
    ),
    "fetch without a name": (
        job_xml(task='<task><params/><fetch url="http://f/"/></task>'),
        {"tasks": [{"fetch": {"url": "http://f/"}}]},
        {"tasks": [{"params": {}, "fetch": {"url": "http://f/", "subdir": ""}}]},
    ),
}


@pytest.mark.parametrize(("body", "fields", "kept"), ELEMENTS.values(), ids=ELEMENTS)
def test_element__from_either_door__is_kept(
    body: bytes, fields: dict[str, Any], kept: dict[str, Any]
) -> None:
    spec = read_xml(body)
    assert spec == read_json(job_document(recipe=fields))
    (recipe,) = spec.document["recipe_sets"][0]["recipes"]
    expected = {**fields, **kept}
    assert {field: recipe.get(field) for field in expected} == expected
    assert spec != read_xml(PLAIN) or expected == {"kickstart": None}


def test_reservesys__asked_for__is_what_scheduling_is_told() -> None:
    (recipe,) = read_xml(ELEMENTS["reservesys of defaults"][0]).recipe_sets[0].recipes
    assert recipe.reservesys == {"duration_seconds": 86_400, "when": "always"}


def test_distro__of_ones_own__is_what_scheduling_is_told() -> None:
    (recipe,) = read_xml(ELEMENTS["distro"][0]).recipe_sets[0].recipes
    assert recipe.distro == DISTRO
    assert recipe.distro_requires == '{"and":[]}'


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ('<task name="/t"><fetch url="http://f/" subdir="a"/></task>', "/t"),
        ('<task><fetch url="http://f/" subdir="a"/></task>', "http://f/ a"),
        ('<task><fetch url="http://f/"/></task>', "http://f/"),
    ],
)
def test_task__that_is_fetched__is_called_by_its_name_or_where_it_comes_from(task: str, name: str) -> None:
    (recipe,) = read_xml(job_xml(task=task)).recipe_sets[0].recipes
    (told,) = recipe.tasks
    assert told.name == name
    assert told.fetch is not None and told.fetch["url"] == "http://f/"
    assert ("subdir" in told.fetch) == ("subdir" in task)
