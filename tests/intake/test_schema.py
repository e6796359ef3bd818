"""The published schema and the parser agree on the structure of jobs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from domain.errors import FaultyInput
from domain.requirements import operands
from domain.requirements.vocabulary import DISK, DISTRO_TREE, SYSTEM
from tests.intake.jobs import SAMPLES, job_xml, read_xml
from tests.intake.rich import RICH
from tests.intake.schema import SCHEMA, is_valid

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
def test_requirement__of_any_shape__both_agree(parts: list[str]) -> None:
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
