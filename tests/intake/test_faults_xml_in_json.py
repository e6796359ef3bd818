"""Requirements as XML text in a JSON job."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.intake.jobs import faults_of, job_document, read_json

RECIPE = "recipe_sets[0].recipes[0]"


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
