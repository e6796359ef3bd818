"""Filters of lists, suggestions of similar names, and words of the schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from tests.docs.api_reference import document

EAST = "lab.east.example.com"


def systems(client: httpx.Client, **asked: Any) -> list[dict[str, Any]]:
    """Return all pages of a list of systems."""
    page = client.get("/systems", params=asked).json()
    found = page["systems"]
    while page["next"]:
        page = client.get(page["next"]).json()
        found += page["systems"]
    return found


def test_systems__with_filters__are_those_of_the_whole_list(client: httpx.Client) -> None:
    everything = systems(client)
    in_big = [row for row in everything if "big" in row["pools"]]
    assert 0 < len(in_big) < len(everything)
    assert systems(client, pool="big") == in_big
    manual = systems(client, condition="Manual", lab_controller=EAST)
    assert manual == [
        row for row in everything if row["condition"] == "Manual" and row["lab_controller"] == EAST
    ]
    assert manual


def test_systems__with_a_filter_by_pages__keep_it_to_the_end(client: httpx.Client) -> None:
    assert systems(client, lab_controller=EAST, limit=2) == systems(client, lab_controller=EAST)


def test_groups_and_pools__with_a_filter__are_those_of_the_person_or_group(client: httpx.Client) -> None:
    client.put("/groups/only-owned", json={"owners": ["bob"]}).raise_for_status()
    done = client.put("/pools/of-nobody", json={}).json()["position"]
    asked: dict[str, Any] = {"min_position": done}
    groups = client.get("/groups", params=asked).json()["groups"]
    of_bob = [each["name"] for each in groups if "bob" in (*each["members"], *each["owners"])]
    found = client.get("/groups", params={**asked, "user": "bob"}).json()["groups"]
    assert [each["name"] for each in found] == of_bob
    assert {"kernel-qe", "only-owned"} <= {*of_bob}
    pools = client.get("/pools", params=asked).json()["pools"]
    found = client.get("/pools", params={**asked, "owner_group": "net-qe"}).json()["pools"]
    assert found == [each for each in pools if each["owner_group"] == "net-qe"]
    assert 0 < len(found) < len(pools)
    assert client.get("/groups", params={"user": "bob", "as_of": 1}).json()["groups"] == []
    client.delete("/groups/only-owned").raise_for_status()
    client.delete("/pools/of-nobody").raise_for_status()


def test_list__with_a_filter_and_min_position__has_the_written_change(client: httpx.Client) -> None:
    client.put("/pools/narrow", json={})
    done = client.put("/pools/narrow/systems/arm-01.east.example.com").json()["position"]
    (row,) = systems(client, pool="narrow", min_position=done)
    assert row["fqdn"] == "arm-01.east.example.com"
    assert systems(client, pool="narrow", as_of=done - 1) == []


@pytest.mark.parametrize(
    ("path", "asked", "said"),
    [
        ("/jobs", {"state": "runing"}, "running"),
        ("/systems", {"condition": "automated"}, "Automated"),
        ("/systems", {"usage": "busy"}, "idle"),
        ("/systems", {"lab_controller": "-"}, "host name"),
        ("/systems", {"state": "running"}, "the parameters are"),
        ("/queue", {"owner": "alice"}, "the parameters are"),
    ],
)
def test_list__with_an_invalid_filter__names_valid_filters(
    client: httpx.Client, path: str, asked: dict[str, str], said: str
) -> None:
    answer = client.get(path, params=asked)
    assert answer.status_code == 422
    (fault,) = answer.json()["errors"]
    assert fault["where"] == next(iter(asked)) and said in fault["message"]


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
            "is an unknown field; the fields are broken_after, enabled, max_extension_seconds, reason",
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


# Keywords of JSON schema 2020-12 in use.
OF_BOUNDS = {"maximum", "minimum", "exclusiveMaximum", "maxLength", "minLength", "pattern"}
OF_FORMS = {"$ref", "type", "enum", "const", "format", "required", "maxItems", "minItems", "maxProperties"}
OF_PEOPLE = {"title", "description", "default"}
OF_NAMES = ("properties", "patternProperties")
OF_LISTS = ("anyOf",)
OF_ONE = ("items", "additionalProperties", "propertyNames")
WORDS = OF_BOUNDS | OF_FORMS | OF_PEOPLE | {*OF_NAMES, *OF_LISTS, *OF_ONE}


def test_schema__every_bound_and_form__is_said_in_words_of_json_schema() -> None:
    api = document()
    shapes = dict(api["components"]["schemas"])
    for path, methods in api["paths"].items():
        for method, operation in methods.items():
            for parameter in operation["parameters"]:
                shapes[f"{method} {path} {parameter['name']}"] = parameter["schema"]
    said = [(where, word) for name, shape in shapes.items() for where, word in words(shape, name)]
    assert [(where, word) for where, word in said if word not in WORDS] == []
    assert {word for _, word in said} >= OF_BOUNDS


def words(schema: Any, where: str) -> Iterator[tuple[str, str]]:
    """Yield every keyword of a schema and its subschemas, with its place."""
    if not isinstance(schema, Mapping):
        return
    for word, value in schema.items():
        yield where, word
        if word in OF_NAMES:
            for name, inner in value.items():
                yield from words(inner, f"{where}.{name}")
        elif word in OF_LISTS:
            for inner in value:
                yield from words(inner, where)
        elif word in OF_ONE:
            yield from words(value, where)
