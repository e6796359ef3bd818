"""Requirements in XML: every element has its JSON form, and is written to XML that reads back equal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from lxml import etree

from api.intake.xml_job import read_xml
from api.intake.xml_requirement import HOST_REQUIRES
from domain.requirements import Node, parse, to_form, to_text
from tests.domain.requirements.evaluation import read, refuse
from tests.domain.requirements.every_element import DISK_ELEMENTS, ELEMENTS
from tests.domain.requirements.whole_language import FORMS
from tests.intake.jobs import faults_of, job_xml
from tests.intake.schema import is_valid

COMPATIBLE = {"element": "system/compatible_with_distro", "arch": "x86_64", "osmajor": "RHEL9"}
LEAVES = [
    {"element": spelling, "op": op, "value": value, **asked.attributes}
    for asked in ELEMENTS
    for spelling in asked.spellings
    for _, rows in asked.held
    for op, value, _ in rows
] + [
    {"element": "device", "op": "like", "type": "NETWORK", "driver": "e1%"},
    COMPATIBLE,
    {**COMPATIBLE, "osminor": "6"},
]
DISK_LEAVES = [
    {"element": spelling, "op": op, "value": value}
    for asked in DISK_ELEMENTS
    for spelling in asked.spellings
    for _, rows in asked.held
    for op, value, _ in rows
]


def element(leaf: dict[str, Any]) -> etree._Element:
    """Return the XML of a leaf, written as by a person."""
    *groups, name = leaf["element"].split("/")
    written = etree.Element(name, {key: str(value) for key, value in leaf.items() if key != "element"})
    for group in groups:
        around = etree.Element(group)
        around.append(written)
        written = around
    return written


def of(*children: etree._Element) -> etree._Element:
    root = etree.Element("hostRequires")
    root.extend(children)
    return root


def understood(root: etree._Element) -> Node:
    form, walk = read_xml(root, "hostRequires", etree.tostring(root))
    assert not walk.faults
    return parse(form, refuse)


def written(node: Node) -> etree._Element:
    root = etree.Element("hostRequires")
    HOST_REQUIRES.write(to_form(node), root)
    return root


def in_a_job(root: etree._Element) -> bool:
    return is_valid(job_xml(host=etree.tostring(root).decode()))


def test_element__each_in_xml__is_what_it_is_in_json_and_is_valid() -> None:
    for leaf in LEAVES:
        root = of(element(leaf))
        assert to_text(understood(root)) == to_text(parse(leaf, refuse))
        assert in_a_job(root), etree.tostring(root)


def test_element_of_a_disk__each_in_xml__is_what_it_is_in_json_and_is_valid() -> None:
    for leaf in DISK_LEAVES:
        disk = etree.Element("disk")
        disk.append(element(leaf))
        assert to_text(understood(of(disk))) == to_text(parse({"disk": [leaf]}, refuse))
        assert in_a_job(of(disk)), etree.tostring(disk)


@given(FORMS)
def test_requirement__any_written_as_xml__reads_the_same_and_is_valid(form: dict[str, Any]) -> None:
    node = read(form)
    assert understood(written(node)) == node
    assert in_a_job(written(node))


NAMES = [
    ('<system><owner value="mallory"/></system>', "<owner>", 'value: there is no user "mallory"'),
    ('<system><user op="!=" value="mallory"/></system>', "<user>", 'value: there is no user "mallory"'),
    ('<system><loaned value="mallory"/></system>', "<loaned>", 'value: there is no user "mallory"'),
    ('<labcontroller value="lab.x"/>', "<labcontroller>", 'value: there is no lab controller "lab.x"'),
    (
        '<hostlabcontroller value="lab.x"/>',
        "<hostlabcontroller>",
        'value: there is no lab controller "lab.x"',
    ),
    ('<group op="!=" value="huge"/>', "<group>", 'value: there is no pool "huge"'),
    ('<system><powertype value="steam"/></system>', "<powertype>", 'value: there is no power type "steam"'),
    (
        '<system><compatible_with_distro arch="vax" osmajor="F"/></system>',
        "<compatible_with_distro>",
        'arch: there is no architecture "vax"',
    ),
]


@pytest.mark.parametrize(("inner", "where", "message"), NAMES)
def test_name__unknown__is_reported_at_its_line(inner: str, where: str, message: str) -> None:
    for around in ("{}", "<not>{}</not>", "<or>{}<memory value='1'/></or>"):
        body = job_xml(host=f"<hostRequires>{around.format(inner)}</hostRequires>")
        assert faults_of(body) == [(f"line 5, {where}", message)]


def test_lab_controller__unknown_in_distro_requirements__is_reported_at_its_line() -> None:
    body = job_xml(distro='<distroRequires><distrolabcontroller op="!=" value="lab.x"/></distroRequires>')
    assert faults_of(body) == [("line 4, <distrolabcontroller>", 'value: there is no lab controller "lab.x"')]


FAULTY = [
    ('<cpu><hyper value="maybe"/></cpu>', "line 5, <hyper>", "value: must be true or false"),
    (
        '<cpu><speed value="fast"/></cpu>',
        "line 5, <speed>",
        "value: must be a number with at most 4 decimal places",
    ),
    (
        '<auto_prov value="false"/>',
        "line 5, <auto_prov>",
        "value: must be true; the opposite cannot be required",
    ),
    (
        '<system><compatible_with_distro arch="x86_64"/></system>',
        "line 5, <compatible_with_distro>",
        "needs arch and osmajor",
    ),
    ('<system><lab value="x"/></system>', "line 5, <lab>", "unknown element <lab> in <system>"),
]


@pytest.mark.parametrize(("inner", "where", "message"), FAULTY)
def test_element__wrong__is_reported_at_its_line(inner: str, where: str, message: str) -> None:
    assert faults_of(job_xml(host=f"<hostRequires>{inner}</hostRequires>")) == [(where, message)]
