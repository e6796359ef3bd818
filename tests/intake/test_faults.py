"""Faults of documents: missing parts, the places of faults, and many faults at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from api.intake import read_job
from domain.errors import FaultyInput
from tests.intake.jobs import NAMES, faults_of, job_document, job_xml, read_xml

FIVE_XML = b"""<job retention_tag="scratch" colour="red">
  <whiteboard>five faults</whiteboard>
  <recipeSet priority="Highest">
    <recipe>
      <watchdog/>
      <watchdog/>
      <distroRequires><name value="F"/></distroRequires>
      <hostRequires>
        <and>
          <memroy op="&gt;=" value="1"/>
          <cpu><sockets op="&gt;=" value="two"/></cpu>
        </and>
      </hostRequires>
      <task name="/t"/>
    </recipe>
  </recipeSet>
</job>"""


def test_five_faults__in_xml__are_reported_with_their_lines() -> None:
    assert faults_of(FIVE_XML) == [
        ("line 1, <job>", 'unknown attribute "colour"'),
        ("line 3, <recipeSet>", "priority: must be 'Low', 'Medium', 'Normal', 'High' or 'Urgent'"),
        ("line 6, <watchdog>", "<watchdog> may occur here only once"),
        ("line 10, <memroy>", "unknown element <memroy> in <and>; did you mean <memory>?"),
        ("line 11, <sockets>", "value: must be a whole number"),
    ]


FIVE_JSON = b"""{
  "colour": "red",
  "recipe_sets": [{
    "priority": "Highest",
    "recipes": [
      {
        "distro_requires": {},
        "host_requires": {"and": [
          {"element": "memroy", "op": ">=", "value": 1},
          {"element": "cpu/sockets",
           "value": "two"}]},
        "tasks": [{"name": "/a"},
                  {"name": ""}]
      }
    ]
  }]
}"""


def test_five_faults__in_json__are_reported_with_their_lines() -> None:
    recipe = "recipe_sets[0].recipes[0]"
    assert faults_of(FIVE_JSON) == [
        ("line 2: colour", 'unknown field "colour"'),
        ("line 4: recipe_sets[0].priority", "must be 'Low', 'Medium', 'Normal', 'High' or 'Urgent'"),
        (f"line 9: {recipe}.host_requires.and[0]", 'unknown element "memroy"; did you mean memory?'),
        (f"line 11: {recipe}.host_requires.and[1].value", "must be a whole number"),
        (f"line 13: {recipe}.tasks[1].name", "must not be empty"),
    ]


def test_admin__names_any_group_and_owner__is_accepted() -> None:
    spec = read_xml(job_xml(job='user="bob" group="net-qe"'), "carol", is_admin=True)
    assert (spec.owner, spec.group) == ("bob", "net-qe")


def test_faults__beyond_bound__are_counted() -> None:
    many = "".join(f'<x{number} value="1"/>' for number in range(150))
    faults = faults_of(job_xml(host=f"<hostRequires>{many}</hostRequires>"))
    assert len(faults) == 101
    assert faults[-1] == ("document", "and 50 more errors")


POOL = '<hostRequires><or><pool value="huge"/></or></hostRequires>'


@pytest.mark.parametrize(
    ("body", "where", "message"),
    [
        (job_xml(host=POOL), "line 5, <pool>", 'value: there is no pool "huge"'),
        (
            job_xml(host='<hostRequires><key_value key="K"/></hostRequires>'),
            "line 5, <key_value>",
            'key: there is no key "K"',
        ),
        (
            job_xml(host='<hostRequires><arch value="vax"/></hostRequires>'),
            "line 5, <arch>",
            'value: there is no architecture "vax"',
        ),
        (job_xml(host="<hostRequires>x</hostRequires>"), "line 5, <hostRequires>", "unexpected text"),
        (
            job_xml(host='<hostRequires force="arm-04.east.example.com">x</hostRequires>'),
            "line 5, <hostRequires>",
            "unexpected text",
        ),
        (
            job_xml(host='<hostRequires><and op="="/></hostRequires>'),
            "line 5, <and>",
            'unknown attribute "op"',
        ),
        (
            job_xml(host='<hostRequires><memory value="1"><and/></memory></hostRequires>'),
            "line 5, <and>",
            "<and> does not belong in <memory>",
        ),
        (
            job_xml(host='<hostRequires><annd><memory value="1"/></annd></hostRequires>'),
            "line 5, <annd>",
            "unknown element <annd> in <hostRequires>; did you mean <and>?",
        ),
        (
            job_xml(host="<hostRequires><disk><disk/></disk></hostRequires>"),
            "line 5, <disk>",
            "unknown element <disk> in <disk>",
        ),
        (
            job_xml(host='<hostRequires><system><owner value="x"/></system></hostRequires>'),
            "line 5, <owner>",
            'value: there is no user "x"',
        ),
        (
            job_xml(distro="<distroRequires><nam value='F'/></distroRequires>"),
            "line 4, <nam>",
            "unknown element <nam> in <distroRequires>; did you mean <name>?",
        ),
    ],
)
def test_requirement__one_fault__is_reported_once_at_its_line(body: bytes, where: str, message: str) -> None:
    assert faults_of(body) == [(where, message)]


ONE_LINE = (
    "<job><recipeSet><recipe>{0}</recipe></recipeSet>"
    "<recipeSet><recipe>{0}</recipe><recipe>{1}</recipe></recipeSet></job>"
)
VALID_RECIPE = '<distroRequires/><hostRequires/><task name="/t"/>'
PLACE = "line 1, column {}: recipeSet[{}]/recipe[{}]/{}"


def faults(body: bytes | dict[str, Any]) -> list[tuple[str, str]]:
    is_xml = isinstance(body, bytes)
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = "text/xml" if is_xml else "application/json"
    with pytest.raises(FaultyInput) as refused:
        read_job(content, kind, NAMES, "alice", False)
    return [(fault.where, fault.message) for fault in refused.value.faults]


def test_equal_faults__of_different_elements_on_one_line__are_different_faults() -> None:
    bad = VALID_RECIPE + "<task/>"
    body = ONE_LINE.format(bad, VALID_RECIPE.replace("<task", "<tusk/><task")).encode()
    columns = [at + 1 for at in range(len(body)) if body.startswith(b"<task/>", at)]
    tusk = body.index(b"<tusk") + 1
    assert faults(body) == [
        (PLACE.format(columns[0], 1, 1, "task[2]"), 'has no attribute "name"'),
        (PLACE.format(columns[1], 2, 1, "task[2]"), 'has no attribute "name"'),
        (PLACE.format(tusk, 2, 2, "tusk"), "unknown element <tusk> in <recipe>; did you mean <task>?"),
    ]


def test_column__behind_wide_characters__counts_characters() -> None:
    body = "<job><whiteboard>\n\u00e9\u4e16\U0001f600</whiteboard><recipeset/></job>".encode()
    assert (
        "line 2, column 17: recipeset",
        "unknown element <recipeset> in <job>; did you mean <recipeSet>?",
    ) in (faults(body))


def test_unknown_element_of_a_requirement__in_xml__names_parent_and_near_name() -> None:
    body = job_xml(host="<hostRequires><or><memroy/><cpu><proccessors/></cpu></or></hostRequires>")
    path = "recipeSet[1]/recipe[1]/hostRequires/or"
    assert faults(body) == [
        (f"line 5, column 19: {path}/memroy", "unknown element <memroy> in <or>; did you mean <memory>?"),
        (
            f"line 5, column 33: {path}/cpu/proccessors",
            "unknown element <proccessors> in <cpu>; did you mean <processors>?",
        ),
    ]


def test_unknown_element_of_a_requirement__in_json__has_names_of_json() -> None:
    forms = [{"element": "memroy"}, {"element": "memory", "value": 1, "unit": "MB"}]
    ((one, first), (two, second)) = faults(job_document(recipe={"host_requires": {"and": forms}}))
    assert (first, second) == ('unknown element "memroy"; did you mean memory?', 'unknown field "unit"')
    assert one.startswith("line 1, column ") and one != two


def test_fault__field_has_another_name_in_xml__has_the_name_of_xml() -> None:
    body = job_xml(in_recipe='<reservesys duration="x"/>')
    ((_, message),) = faults(body)
    assert message == "duration: must be a whole number"


def test_attribute__misspelt__names_the_near_one() -> None:
    ((_, message),) = faults(job_xml(recipe='kernel_option="a"'))
    assert message == 'unknown attribute "kernel_option"; did you mean kernel_options?'


def test_results__submitted_as_a_job__are_one_fault() -> None:
    body = b'<job id="7" result="Pass" status="Completed"><recipeSet id="8"/></job>'
    ((_, message),) = faults(body)
    assert message == "this is the XML of results, not of a job to run: submit the job's own XML"


def test_faults__very_many__are_counted_and_few_are_placed() -> None:
    found = faults(job_xml(in_recipe="<x/>" * 15_000))
    assert len(found) == 101
    assert found[-1] == ("document", "and 14900 more errors")
