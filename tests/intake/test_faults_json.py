"""JSON jobs: each fault is reported once, at its path."""

from __future__ import annotations

from typing import Any

import pytest

from tests.intake.jobs import faults_of, job_document

RECIPE = "recipe_sets[0].recipes[0]"


@pytest.mark.parametrize(
    ("document", "where", "message"),
    [
        ({}, "", 'has no "recipe_sets"'),
        ({"recipe_sets": []}, "recipe_sets", "must not be empty"),
        ({"recipe_sets": {}}, "recipe_sets", "must be a list"),
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
        (job_document(locks={}), "locks", '"locks" is not supported yet'),
        (job_document(recipe={"depends_on": 3}), f"{RECIPE}.depends_on", '"depends_on" is not supported yet'),
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
