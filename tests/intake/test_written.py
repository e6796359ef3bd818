"""A kept job is written as XML that is the same job when it is read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from lxml import etree

from api.intake.xml_writer import write_job
from domain.errors import FaultyInput
from domain.requirements.forms import to_text
from domain.requirements.host import HOST
from tests.intake.documents import JOB
from tests.intake.jobs import faults_of, job_document, job_xml, read_json, read_xml
from tests.intake.schema import is_valid


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(JOB)
def test_job__of_any_shape_written__reads_as_the_same_and_is_valid(document: dict[str, Any]) -> None:
    spec = read_json(document)
    written = write_job(spec.document)
    assert read_xml(written) == spec
    assert read_json(spec.document) == spec
    assert is_valid(written)


def nested(levels: int, leaf: dict[str, Any]) -> dict[str, Any]:
    """Nothing of it is flattened: not not is kept as it is."""
    for _ in range(levels):
        leaf = {"not": [leaf]}
    return leaf


DEEPEST = [
    # The machine type that is not asked for is joined to it, so the root gets one level deeper.
    ("host_requires", nested(47, {"element": "cpu/cores", "value": 1})),
    # A root that does not join is put into one that does, and the leaf into its group.
    ("host_requires", nested(47, {"element": "system_type", "value": "Laptop"})),
    ("distro_requires", nested(48, {"element": "name", "value": "F"})),
]


@pytest.mark.parametrize("levels_more", [0, 1, 2, 3])
@pytest.mark.parametrize(("field", "form"), DEEPEST)
def test_requirement__as_deep_as_it_may_be__is_readable_ever_after(
    field: str, form: dict[str, Any], levels_more: int
) -> None:
    guest = {
        **job_document()["recipe_sets"][0]["recipes"][0],
        "guestargs": "",
        field: nested(levels_more, form),
    }
    try:
        spec = read_json(job_document(recipe={"guests": [guest]}))
    except FaultyInput as refused:
        assert levels_more > 0
        assert "is nested deeper than 50 levels" in str(refused)
        return
    assert levels_more < 3
    assert read_xml(write_job(spec.document)) == spec
    assert read_json(spec.document) == spec
    host_requires = spec.recipe_sets[0].recipes[0].guests[0].host_requires
    assert to_text(HOST.from_text(host_requires)) == host_requires


def test_requirement__of_as_many_elements_as_it_may_have__is_readable_ever_after() -> None:
    leaves = [{"element": "memory", "value": number} for number in range(1000)]
    assert read_json(job_document(recipe={"host_requires": {"and": leaves[1:]}}))
    # With the machine type that is joined to it there is one too many.
    ((where, message),) = faults_of(job_document(recipe={"host_requires": {"and": leaves}}))
    assert where.endswith("host_requires")
    assert message == "there are more than 1000 elements"


def test_job__of_defaults__is_written_without_them() -> None:
    written = write_job(read_xml(job_xml(host="<hostRequires><memory value='1'/></hostRequires>")).document)
    assert written.decode().splitlines() == [
        "<?xml version='1.0' encoding='utf-8'?>",
        "<job>",
        "  <recipeSet>",
        "    <recipe>",
        "      <distroRequires>",
        '        <name op="==" value="F"/>',
        "      </distroRequires>",
        "      <hostRequires>",
        '        <memory op="==" value="1"/>',
        '        <system_type op="==" value="Machine"/>',
        "      </hostRequires>",
        '      <task name="/t"/>',
        "    </recipe>",
        "  </recipeSet>",
        "</job>",
    ]


FOREIGN = [
    # What stands between its elements is part of it.
    '<x:a xmlns:x="urn:x"> <x:b/>\n</x:a>',
    # Nothing is put between its elements either.
    '<a xmlns="urn:x"><b><c/></b></a>',
    # A name of ours in no namespace is not ours inside of it.
    '<a xmlns="urn:x"><job xmlns=""><recipeSet/></job></a>',
]


@pytest.mark.parametrize("element", FOREIGN)
def test_foreign_element__written__is_as_it_was(element: str) -> None:
    written = write_job(read_xml(job_xml(in_job=element)).document)
    assert element in written.decode()
    assert read_json(job_document(foreign=[element])).document["foreign"] == [element]


def test_foreign_element__as_json_in_another_spelling__is_kept_as_xml_has_it() -> None:
    document = job_document(foreign=["<x:a xmlns:x='urn:x'><!-- b --><![CDATA[<]]></x:a>\n"])
    assert read_json(document).document["foreign"] == ['<x:a xmlns:x="urn:x"><!-- b -->&lt;</x:a>']


def test_foreign_element__that_declares_nothing_it_uses__keeps_what_the_job_declared() -> None:
    body = job_xml(job='xmlns:x="urn:x"', in_job="<x:a/>")
    (kept,) = read_xml(body).document["foreign"]
    assert etree.fromstring(kept).tag == "{urn:x}a"


def test_kickstart__written__keeps_every_blank() -> None:
    kickstart = "\n  lang en\r\n\t%post <&>\n%end  \n\n"
    spec = read_json(job_document(recipe={"kickstart": kickstart}))
    assert spec.document["recipe_sets"][0]["recipes"][0]["kickstart"] == kickstart
    assert read_xml(write_job(spec.document)) == spec
