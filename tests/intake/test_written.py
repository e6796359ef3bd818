"""Documents that are written back and stored."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from lxml import etree

from api.intake.document import RecipeSet, Reservesys
from api.intake.xml_writer import write_job
from domain.errors import FaultyInput
from domain.priority import Priority
from domain.recipe_set.kept_systems import WHEN
from domain.requirements.forms import to_text
from domain.requirements.host import HOST
from tests.intake.documents import JOB
from tests.intake.jobs import faults_of, job_document, job_xml, read_json, read_xml
from tests.intake.rich import RICH
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
    """Return a requirement of nested negations, which no step flattens."""
    for _ in range(levels):
        leaf = {"not": [leaf]}
    return leaf


DEEPEST = [
    # The default machine type is added, so the requirement is one level deeper.
    ("host_requires", nested(47, {"element": "cpu/cores", "value": 1})),
    # A root that is no conjunction is put into one, and the leaf into its group.
    ("host_requires", nested(47, {"element": "system_type", "value": "Laptop"})),
    ("distro_requires", nested(48, {"element": "name", "value": "F"})),
]


@pytest.mark.parametrize("levels_more", [0, 1, 2, 3])
@pytest.mark.parametrize(("field", "form"), DEEPEST)
def test_requirement__maximum_depth__reads_back(field: str, form: dict[str, Any], levels_more: int) -> None:
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


def test_requirement__maximum_size__reads_back() -> None:
    leaves = [{"element": "memory", "value": number} for number in range(1000)]
    assert read_json(job_document(recipe={"host_requires": {"and": leaves[1:]}}))
    # The added machine type exceeds the limit.
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
    # Text between its elements is kept.
    '<x:a xmlns:x="urn:x"> <x:b/>\n</x:a>',
    # No blanks are added between its elements.
    '<a xmlns="urn:x"><b><c/></b></a>',
    # A name of the job language without a namespace is foreign in a foreign element.
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


def test_foreign_element__undeclared_prefix__keeps_the_declaration_of_the_job() -> None:
    body = job_xml(job='xmlns:x="urn:x"', in_job="<x:a/>")
    (kept,) = read_xml(body).document["foreign"]
    assert etree.fromstring(kept).tag == "{urn:x}a"


def test_kickstart__written__keeps_every_blank() -> None:
    kickstart = "\n  lang en\r\n\t%post <&>\n%end  \n\n"
    spec = read_json(job_document(recipe={"kickstart": kickstart}))
    assert spec.document["recipe_sets"][0]["recipes"][0]["kickstart"] == kickstart
    assert read_xml(write_job(spec.document)) == spec


def test_document__of_a_rich_job__keeps_everything() -> None:
    spec = read_xml(RICH)
    recipe = spec.document["recipe_sets"][0]["recipes"][0]
    assert spec.document["whiteboard"] == "trimmed"
    assert spec.document["notify"] == ["a@b.c"]
    assert spec.document["foreign"] == ['<x:note xmlns:x="urn:x" a="1">kept <x:b/></x:note>']
    assert recipe["autopick"] == {"random": True, "pools": ["storage", "big"]}
    assert recipe["ks_appends"] == ["%post"]
    assert recipe["repos"] == [{"name": "r", "url": "http://r/"}]
    assert recipe["partitions"] == [{"name": "/", "size_gb": 10, "type": "lvm", "fs": "xfs"}]


def test_spec__of_a_rich_job__has_the_input_of_scheduling() -> None:
    spec = read_xml(RICH)
    (recipe_set,) = spec.recipe_sets
    (recipe,) = recipe_set.recipes
    assert (spec.owner, spec.retention_tag, spec.product) == ("alice", "active", "cpe:/o:x")
    assert recipe_set.priority is Priority.Urgent
    assert (recipe.role, recipe.kernel_options, recipe.ks_meta) == (None, "a=1", "!c")
    assert (recipe.autopick_random, recipe.autopick_pools) == (True, ("storage", "big"))


def test_document__read_again_as_json__is_the_same_job() -> None:
    assert read_json(read_xml(RICH).document) == read_xml(RICH)


def test_priorities__of_documents__are_those_of_the_domain() -> None:
    assert list(get_args(RecipeSet.model_fields["priority"].annotation)) == [each.name for each in Priority]


def test_conditions_of_reservesys__of_documents__are_those_of_the_domain() -> None:
    assert set(get_args(Reservesys.model_fields["when"].annotation)) == set(WHEN)


@pytest.mark.parametrize("word", ["true", "TRUE", "1"])
def test_autopick__random_in_every_spelling__is_random(word: str) -> None:
    spec = read_xml(job_xml(in_recipe=f'<autopick random="{word}"/>'))
    assert spec.recipe_sets[0].recipes[0].autopick_random
