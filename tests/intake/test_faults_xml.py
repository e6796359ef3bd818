"""XML jobs: each fault of structure or of a value is reported once, at its line."""

from __future__ import annotations

import pytest

from tests.intake.jobs import faults_of, job_xml


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
            job_xml(in_recipe='<l:locks xmlns:l="urn:labledger:job"/>'),
            "line 3, <locks>",
            "<locks> is not supported yet",
        ),
        (
            job_xml(in_recipe='<l:lokcs xmlns:l="urn:labledger:job"/>'),
            "line 3, <lokcs>",
            "unknown element <lokcs> in <recipe>",
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
