"""A kept job is written as XML that is the same job when it is read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from lxml import etree

from api.intake.xml_writer import write_job
from tests.intake.documents import JOB
from tests.intake.jobs import job_document, job_xml, read_json, read_xml
from tests.intake.test_schema import is_valid


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(JOB)
def test_job__of_any_shape_written__reads_as_the_same_and_is_valid(document: dict[str, Any]) -> None:
    spec = read_json(document)
    written = write_job(spec.document)
    assert read_xml(written) == spec
    assert read_json(spec.document) == spec
    assert is_valid(written)


def test_job__of_defaults__is_written_without_them() -> None:
    written = write_job(read_xml(job_xml()).document)
    assert written.decode().splitlines() == [
        "<?xml version='1.0' encoding='utf-8'?>",
        "<job>",
        "  <recipeSet>",
        "    <recipe>",
        "      <distroRequires>",
        '        <name op="==" value="F"/>',
        "      </distroRequires>",
        "      <hostRequires>",
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
    assert read_json(document).document["foreign"] == ['<x:a xmlns:x="urn:x">&lt;</x:a>']


def test_foreign_element__that_declares_nothing_it_uses__keeps_what_the_job_declared() -> None:
    body = job_xml(job='xmlns:x="urn:x"', in_job="<x:a/>")
    (kept,) = read_xml(body).document["foreign"]
    assert etree.fromstring(kept).tag == "{urn:x}a"


def test_kickstart__written__keeps_every_blank() -> None:
    kickstart = "\n  lang en\r\n\t%post <&>\n%end  \n\n"
    spec = read_json(job_document(recipe={"kickstart": kickstart}))
    assert spec.document["recipe_sets"][0]["recipes"][0]["kickstart"] == kickstart
    assert read_xml(write_job(spec.document)) == spec
