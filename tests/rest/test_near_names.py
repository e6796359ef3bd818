"""Suggestions for unknown fields."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

ARM = "/systems/arm-01.east.example.com"
RECIPE = {"distro_requires_xml": "<distroRequires/>", "host_requires_xml": "<hostRequires/>"}
TASK = {"name": "/t"}


@pytest.mark.parametrize(
    ("method", "path", "body", "said"),
    [
        ("PUT", "/pools/x", {"colour": 1}, "is an unknown field; the fields are description, owner_group"),
        (
            "PUT",
            "/lab-controllers/lab.x",
            {"state": 1},
            "is an unknown field; the fields are broken_after, enabled",
        ),
        (
            "PUT",
            "/distro-trees/1",
            {"name": "a", "family": "b", "arch": "c", "colour": 1},
            "is an unknown field; the fields are added_at, arch, family, name, tags, urls, variant, version",
        ),
        ("PATCH", ARM, {"memroy_mb": 1}, "is an unknown field; did you mean memory_mb?"),
        ("PATCH", ARM, {"cpu": {"core": 1}}, "is an unknown field; did you mean cores?"),
        ("PATCH", ARM, {"disks": [{"modle": "x"}]}, "is an unknown field; did you mean model?"),
        ("PATCH", ARM, {"zzzzzz": 1}, "is an unknown field"),
        (
            "POST",
            "/jobs",
            {"whitebord": "x", "recipe_sets": [{"recipes": [{**RECIPE, "tasks": [TASK]}]}]},
            'unknown field "whitebord"; did you mean whiteboard?',
        ),
        (
            "POST",
            "/jobs",
            {"recipe_sets": [{"recipes": [{**RECIPE, "tasks": [{**TASK, "parms": {}}]}]}]},
            'unknown field "parms"; did you mean params?',
        ),
    ],
)
def test_field__unknown__similar_name_is_suggested(
    client: httpx.Client, method: str, path: str, body: dict[str, Any], said: str
) -> None:
    answer = client.request(method, path, json=body)
    assert answer.status_code == 422
    assert [fault["message"] for fault in answer.json()["errors"]] == [said]
