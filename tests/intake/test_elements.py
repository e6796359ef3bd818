"""Elements of requirements: every one is read, and its faults are reported."""

from __future__ import annotations

from typing import Any

import pytest

from tests.intake.elements import DISTRO, ELEMENTS, SHORT, SHORT_DISTRO
from tests.intake.jobs import faults_of, job_document, job_xml, read_json, read_xml
from tests.intake.schema import is_valid

PLAIN = job_xml()


@pytest.mark.parametrize(("body", "fields", "kept"), ELEMENTS.values(), ids=ELEMENTS)
def test_element__as_xml_or_json__is_kept(body: bytes, fields: dict[str, Any], kept: dict[str, Any]) -> None:
    spec = read_xml(body)
    assert spec == read_json(job_document(recipe=fields))
    (recipe,) = spec.document["recipe_sets"][0]["recipes"]
    expected = {**fields, **kept}
    assert {field: recipe.get(field) for field in expected} == expected
    assert spec != read_xml(PLAIN) or expected == {"kickstart": None}


def test_reservesys__requested__is_in_the_spec() -> None:
    (recipe,) = read_xml(ELEMENTS["reservesys of defaults"][0]).recipe_sets[0].recipes
    assert recipe.reservesys == {"duration_seconds": 86_400, "when": "always"}


def test_distro__custom__is_in_the_spec() -> None:
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
def test_task__fetched__is_named_by_its_name_or_url(task: str, name: str) -> None:
    (recipe,) = read_xml(job_xml(task=task)).recipe_sets[0].recipes
    (task_of_recipe,) = recipe.tasks
    assert task_of_recipe.name == name
    assert task_of_recipe.fetch is not None and task_of_recipe.fetch["url"] == "http://f/"
    assert ("subdir" in task_of_recipe.fetch) == ("subdir" in task)


BOTH = '<distroRequires><name value="F"/></distroRequires>' + SHORT


def distro_xml(old: str, new: str) -> bytes:
    """Return a job with a custom distro on lines 4 and 5, with one replacement."""
    assert old in SHORT
    return job_xml(distro=SHORT.replace(old, new))


def reservesys(attributes: str) -> bytes:
    return job_xml(in_recipe=f"<reservesys {attributes}/>")


@pytest.mark.parametrize(
    ("body", "where", "message"),
    [
        # distro
        (job_xml(distro=BOTH), "line 4, <distro>", "cannot be combined with <distroRequires>"),
        (distro_xml('<tree url="t"/>', ""), "line 4, <distro>", 'has no <tree url="…">'),
        (distro_xml('<tree url="t"/>', "<tree/>"), "line 4, <distro>", 'has no <tree url="…">'),
        (distro_xml('<kernel url="k"/>', ""), "line 4, <distro>", 'has no <kernel url="…">'),
        (distro_xml('<initrd url="i"/>', ""), "line 4, <distro>", 'has no <initrd url="…">'),
        (distro_xml('<arch value="x86_64"/>', ""), "line 4, <distro>", 'has no <arch value="…">'),
        (distro_xml('<osversion major="M"/>', ""), "line 4, <distro>", 'has no <osversion major="…">'),
        (
            distro_xml('<osversion major="M"/>', '<osversion minor="1"/>'),
            "line 4, <distro>",
            'has no <osversion major="…">',
        ),
        (
            distro_xml('major="M"', 'major="M" micro="3"'),
            "line 5, <osversion>",
            'unknown attribute "micro"; did you mean minor?',
        ),
        (
            distro_xml('<osversion major="M"/>', '<osversion major="M"/><image/>'),
            "line 5, <image>",
            'has no attribute "url"',
        ),
        (
            distro_xml('<osversion major="M"/>', '<osversion major="M"/><tree url="u"/>'),
            "line 5, <tree>",
            "<tree> may occur here only once",
        ),
        (distro_xml('<tree url="t"/>', '<tree url="t">x</tree>'), "line 4, <tree>", "unexpected text"),
        (
            distro_xml('<tree url="t"/>', '<tree url="t"><b/></tree>'),
            "line 4, <b>",
            "unknown element <b> in <tree>",
        ),
        (
            distro_xml('<tree url="t"/>', '<tree url="t"/><b/>'),
            "line 4, <b>",
            "unknown element <b> in <distro>",
        ),
        (distro_xml("<distro>", '<distro b="c">'), "line 4, <distro>", 'unknown attribute "b"'),
        # reservesys
        (reservesys('duration="0"'), "line 3, <reservesys>", "duration: must not be less than 1"),
        (reservesys('duration="356401"'), "line 3, <reservesys>", "duration: must not be more than 356400"),
        (reservesys('duration="1h"'), "line 3, <reservesys>", "duration: must be a whole number"),
        (reservesys('duration="10.0"'), "line 3, <reservesys>", "duration: must be a whole number"),
        (reservesys('duration="1_0"'), "line 3, <reservesys>", "duration: must be a whole number"),
        (
            reservesys('when="onpass"'),
            "line 3, <reservesys>",
            "when: must be 'always', 'onwarn', 'onfail' or 'onabort'",
        ),
        (reservesys('until="never"'), "line 3, <reservesys>", 'unknown attribute "until"'),
        (
            job_xml(in_recipe="<reservesys/>\n<reservesys/>"),
            "line 4, <reservesys>",
            "<reservesys> may occur here only once",
        ),
    ],
)
def test_xml__one_structural_fault__is_reported_once_at_its_line_and_is_not_valid(
    body: bytes, where: str, message: str
) -> None:
    assert faults_of(body) == [(where, message)]
    assert not is_valid(body)


def test_xml__distro_for_an_unknown_architecture__is_reported_at_its_line() -> None:
    body = distro_xml("x86_64", "vax")
    assert faults_of(body) == [("line 4, <arch>", 'there is no architecture "vax"')]


def test_xml__preemptible_elsewhere_than_in_a_set__is_unknown() -> None:
    misplaced = '<l:preemptible xmlns:l="urn:labledger:job"/>'
    for body in (
        job_xml(in_job=misplaced),
        job_xml(in_recipe=misplaced),
        job_xml(host=f"<hostRequires>{misplaced}</hostRequires>"),
        job_xml(task=f'<task name="/t">{misplaced}</task>'),
    ):
        ((where, message),) = faults_of(body)
        assert where.endswith("<preemptible>")
        assert message.startswith("unknown element <preemptible>")


RECIPE = "recipe_sets[0].recipes[0]"


def with_distro(**fields: Any) -> dict[str, Any]:
    return job_document(recipe={"distro": {**SHORT_DISTRO, **fields}, "distro_requires": None})


@pytest.mark.parametrize(
    ("document", "where", "message"),
    [
        (
            job_document(recipe={"distro": SHORT_DISTRO}),
            f"{RECIPE}.distro",
            'cannot be combined with "distro_requires"',
        ),
        (
            job_document(recipe={"distro": 3, "distro_requires": None}),
            f"{RECIPE}.distro",
            "must be an object",
        ),
        (with_distro(tree_url=None), f"{RECIPE}.distro.tree_url", "must be text"),
        (with_distro(tree_url=""), f"{RECIPE}.distro.tree_url", "must not be empty"),
        (with_distro(osminor=9), f"{RECIPE}.distro.osminor", "must be text"),
        (with_distro(arch="vax"), f"{RECIPE}.distro.arch", 'there is no architecture "vax"'),
        (with_distro(colour="red"), f"{RECIPE}.distro.colour", 'unknown field "colour"'),
        (
            job_document(recipe={"reservesys": {"duration_seconds": True}}),
            f"{RECIPE}.reservesys.duration_seconds",
            "must be a whole number",
        ),
        (
            job_document(recipe={"reservesys": {"duration_seconds": 1.5}}),
            f"{RECIPE}.reservesys.duration_seconds",
            "must be a whole number",
        ),
        (
            job_document(recipe={"reservesys": {"duration_seconds": -(10**30)}}),
            f"{RECIPE}.reservesys.duration_seconds",
            "must not be less than 1",
        ),
        (
            job_document(recipe={"reservesys": {"duration": 60}}),
            f"{RECIPE}.reservesys.duration",
            'unknown field "duration"; did you mean duration_seconds?',
        ),
        (job_document(recipe={"reservesys": 60}), f"{RECIPE}.reservesys", "must be an object"),
        (job_document(recipe={"kickstart": ["a"]}), f"{RECIPE}.kickstart", "must be text"),
        (
            job_document(recipe={"kickstart": "\x01"}),
            f"{RECIPE}.kickstart",
            "must not contain control characters: U+0001",
        ),
        (job_document(recipe={"tasks": [{"fetch": {}}]}), f"{RECIPE}.tasks[0].fetch", 'has no "url"'),
        (
            job_document(recipe={"tasks": [{"fetch": {"url": ""}}]}),
            f"{RECIPE}.tasks[0].fetch.url",
            "must not be empty",
        ),
    ],
)
def test_json__one_fault__is_reported_once_at_its_path(document: Any, where: str, message: str) -> None:
    assert faults_of(document) == [(f"line 1: {where}", message)]
