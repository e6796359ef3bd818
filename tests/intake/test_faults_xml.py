"""Faults of the syntax: XML, JSON, and XML inside JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.intake.jobs import faults_of, job_document, job_xml, read_json


@pytest.mark.parametrize(
    ("body", "where", "message"),
    [
        (b"<job/>", "line 1, <job>", "has no <recipeSet>"),
        (b"<job>\n<recipeSet/></job>", "line 2, <recipeSet>", "has no <recipe>"),
        (job_xml(task=""), "line 3, <recipe>", "has no <task>"),
        (job_xml(host=""), "line 3, <recipe>", "has no <hostRequires>"),
        (job_xml(distro=""), "line 3, <recipe>", "has neither <distroRequires> nor <distro>"),
        (job_xml(task="<task/>"), "line 6, <task>", 'has no attribute "name"'),
        (job_xml(task="<task><fetch/></task>"), "line 6, <fetch>", 'has no attribute "url"'),
        (
            job_xml(task='<task><fetch url="a"/><fetch url="b"/></task>'),
            "line 6, <fetch>",
            "<fetch> may occur here only once",
        ),
        (
            job_xml(in_recipe="<guest/>"),
            "line 3, <guest>",
            "unknown element <guest> in <recipe>; did you mean <guestrecipe>?",
        ),
        (job_xml(in_recipe="words"), "line 3, <recipe>", "unexpected text"),
        (
            job_xml(in_job="<whiteboard><b/></whiteboard>"),
            "line 1, <b>",
            "unknown element <b> in <whiteboard>",
        ),
        (
            job_xml(in_recipe="<packages><package/></packages>"),
            "line 3, <package>",
            'has no attribute "name"',
        ),
        (
            job_xml(in_recipe='<l:preemptible xmlns:l="urn:labledger:job"/>'),
            "line 3, <preemptible>",
            "unknown element <preemptible> in <recipe>",
        ),
        (
            job_xml(in_recipe='<l:lokcs xmlns:l="urn:labledger:job"/>'),
            "line 3, <lokcs>",
            "unknown element <lokcs> in <recipe>; did you mean <locks>?",
        ),
        (
            job_xml(in_recipe='<x:y xmlns:x="urn:x"/>'),
            "line 3, <y>",
            "foreign elements belong directly in <job>",
        ),
        (
            job_xml(in_recipe="<kickstart>a<b/></kickstart>"),
            "line 3, <b>",
            "unknown element <b> in <kickstart>",
        ),
    ],
)
def test_xml__one_structural_fault__is_reported_once_at_its_line(
    body: bytes, where: str, message: str
) -> None:
    assert faults_of(body) == [(where, message)]


@pytest.mark.parametrize(
    ("body", "where", "message"),
    [
        (job_xml(job='user="mallory"'), "line 1, <job>", 'user: there is no user "mallory"'),
        (job_xml(job='user="bob"'), "line 1, <job>", 'user: only an admin may submit a job for "bob"'),
        (job_xml(job='group="nobody"'), "line 1, <job>", 'group: there is no group "nobody"'),
        (job_xml(job='group="net-qe"'), "line 1, <job>", 'group: alice is not a member of group "net-qe"'),
        (
            job_xml(job='retention_tag="ever"'),
            "line 1, <job>",
            "retention_tag: must be one of scratch, 60days, 120days, active, audit",
        ),
        (job_xml(job='retention_tag="Audit"'), "line 1, <job>", 'retention tag "audit" needs a product'),
        (job_xml(job='product="x"'), "line 1, <job>", 'product: retention tag "scratch" takes no product'),
        (job_xml(in_job="<notify><cc>nobody</cc></notify>"), "line 1, <cc>", "must be an email address"),
        (
            job_xml(in_job=f"<whiteboard>{'w' * 5000}</whiteboard>"),
            "line 1, <whiteboard>",
            "must not be longer than 4096 characters",
        ),
        (
            job_xml(recipe='ks_meta="a=\'b"'),
            "line 3, <recipe>",
            "ks_meta: cannot be split into words: no closing quotation",
        ),
        (job_xml(in_recipe='<watchdog panic="always"/>'), "line 3, <watchdog>", "panic: must be 'ignore'"),
        (
            job_xml(in_recipe='<autopick random="maybe"/>'),
            "line 3, <autopick>",
            "random: must be true or false",
        ),
        (
            job_xml(in_recipe="<autopick><pool>huge</pool></autopick>"),
            "line 3, <pool>",
            'there is no pool "huge"',
        ),
        (
            job_xml(in_recipe="<autopick><pool>big</pool><pool>big</pool></autopick>"),
            "line 3, <autopick>",
            "<pool>: contains a name twice",
        ),
        (
            job_xml(in_recipe='<partitions><partition name="/" size="99999999999"/></partitions>'),
            "line 3, <partition>",
            "size: must be less than 2147483648",
        ),
    ],
)
def test_xml__one_invalid_value__is_reported_once_at_its_line(body: bytes, where: str, message: str) -> None:
    assert faults_of(body) == [(where, message)]


RECIPE = "recipe_sets[0].recipes[0]"


@pytest.mark.parametrize(
    ("document", "where", "message"),
    [
        ({}, "", 'has no "recipe_sets"'),
        (
            {"recipe_sets": []},
            "recipe_sets",
            "must not be empty; only an open job can be submitted without recipe sets",
        ),
        (
            {"recipe_sets": [], "open": False},
            "recipe_sets",
            "must not be empty; only an open job can be submitted without recipe sets",
        ),
        ({"recipe_sets": {}}, "recipe_sets", "must be a list"),
        (job_document(key=""), "key", "must not be empty"),
        ({"recipe_sets": [3]}, "recipe_sets[0]", "must be an object"),
        (job_document(whiteboard=3), "whiteboard", "must be text"),
        (job_document(whiteboard="a\u0000b"), "whiteboard", "must not contain control characters: U+0000"),
        (
            job_document(recipe={"ks_meta": "a\nb"}),
            f"{RECIPE}.ks_meta",
            "must not contain control characters: U+000A",
        ),
        (job_document(foreign=["<plain/>"]), "foreign[0]", "must be an element of a foreign namespace"),
        (
            job_document(foreign=["words <x:y xmlns:x='urn:x'/>"]),
            "foreign[0]",
            "must be an element of a foreign namespace",
        ),
        (
            job_document(foreign=["<x:y xmlns:x='urn:x'/><x:y xmlns:x='urn:x'/>"]),
            "foreign[0]",
            "must be an element of a foreign namespace",
        ),
        (
            job_document(foreign=["<l:locks xmlns:l='urn:labledger:job'/>"]),
            "foreign[0]",
            "must be an element of a foreign namespace",
        ),
        (
            job_document(foreign=[f"<x:y xmlns:x='urn:x'><![CDATA[{'<' * 20_000}]]></x:y>"]),
            "foreign[0]",
            "must not be longer than 65536 characters",
        ),
        (job_document(recipe={"tasks": []}), f"{RECIPE}.tasks", "must not be empty"),
        (job_document(recipe={"tasks": [{}]}), f"{RECIPE}.tasks[0]", 'has no "name"'),
        (job_document(recipe={"tasks": [3]}), f"{RECIPE}.tasks[0]", "must be an object"),
        (job_document(locks={}), "locks", 'unknown field "locks"'),
        (job_document(preemptible=True), "preemptible", 'unknown field "preemptible"'),
        (
            job_document(recipe={"tasks": [{"name": "/t", "params": {"A": 1}}]}),
            f"{RECIPE}.tasks[0].params.A",
            "must be text",
        ),
        (job_document(recipe={"host_requires": []}), f"{RECIPE}.host_requires", "must be an object"),
        (
            job_document(recipe={"partitions": [{"name": "/", "size_gb": 10**30}]}),
            f"{RECIPE}.partitions[0].size_gb",
            "must be less than 2147483648",
        ),
        (
            job_document(recipe={"partitions": [{"name": "/", "size_gb": True}]}),
            f"{RECIPE}.partitions[0].size_gb",
            "must be a whole number",
        ),
        (
            job_document(recipe={"host_requires": {"force": "nowhere.invalid"}}),
            f"{RECIPE}.host_requires.force",
            'there is no system "nowhere.invalid"',
        ),
    ],
)
def test_json__one_fault__is_reported_once_at_its_path(document: Any, where: str, message: str) -> None:
    assert faults_of(document) == [(f"line 1: {where}".removesuffix(": "), message)]


def test_xml_in_json__sound__is_the_same_job() -> None:
    document = job_document()
    (recipe,) = document["recipe_sets"][0]["recipes"]
    del recipe["host_requires"], recipe["distro_requires"]
    recipe["host_requires_xml"] = '<hostRequires><memory op="&gt;" value="1"/></hostRequires>'
    recipe["distro_requires_xml"] = '<distroRequires><name value="F"/></distroRequires>'
    same = job_document(recipe={"host_requires": {"element": "memory", "op": ">", "value": 1}})
    assert read_json(document) == read_json(same)


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        (
            '<hostRequires>\n<and>\n<memroy value="1"/></and></hostRequires>',
            ", line 3, <memroy>",
            "unknown element <memroy> in <and>; did you mean <memory>?",
        ),
        ("<hostRequires>\nwords</hostRequires>", "", "line 1, column 1: hostRequires: unexpected text"),
        ("<job/>", "", "line 1: the root element is <job>, not <hostRequires>"),
        ("<!DOCTYPE x><hostRequires/>", "", "line 1: document types and entities are not allowed"),
        (3, "", "must be text"),
    ],
)
def test_xml_in_json__one_fault__is_reported_at_its_line_in_the_text(
    text: Any, where: str, message: str
) -> None:
    document = job_document(recipe={"host_requires_xml": text})
    del document["recipe_sets"][0]["recipes"][0]["host_requires"]
    body = json.dumps(document, indent=1).encode()
    line = body[: body.index(b"host_requires_xml")].count(b"\n") + 1
    assert faults_of(body) == [(f"line {line}: {RECIPE}.host_requires_xml{where}", message)]


def test_xml_in_json__beside_the_form__is_refused() -> None:
    document = job_document(recipe={"host_requires_xml": "<hostRequires/>"})
    ((where, message),) = faults_of(document)
    assert where.endswith("host_requires_xml")
    assert message == 'cannot be combined with "host_requires"'
