"""Places of faults: line, column and path, with the names of XML or JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from api.intake import read_job
from domain.errors import FaultyInput
from tests.intake.jobs import NAMES, job_document, job_xml

ONE_LINE = (
    "<job><recipeSet><recipe>{0}</recipe></recipeSet>"
    "<recipeSet><recipe>{0}</recipe><recipe>{1}</recipe></recipeSet></job>"
)
SOUND = '<distroRequires/><hostRequires/><task name="/t"/>'
PLACE = "line 1, column {}: recipeSet[{}]/recipe[{}]/{}"


def faults(body: bytes | dict[str, Any]) -> list[tuple[str, str]]:
    is_xml = isinstance(body, bytes)
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = "text/xml" if is_xml else "application/json"
    with pytest.raises(FaultyInput) as refused:
        read_job(content, kind, NAMES, "alice", False)
    return [(fault.where, fault.message) for fault in refused.value.faults]


def test_equal_faults__of_different_elements_on_one_line__are_different_faults() -> None:
    bad = SOUND + "<task/>"
    body = ONE_LINE.format(bad, SOUND.replace("<task", "<tusk/><task")).encode()
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
