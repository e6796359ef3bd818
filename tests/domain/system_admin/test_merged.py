from __future__ import annotations

from typing import Any

import pytest

from domain.system_admin.inventory import merged, without_empty_cpu

# Examples of RFC 7396, appendix A, that are objects: original, patch, result.
MERGED: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("inventory", "changes", "result"), MERGED)
def test_merged__examples_of_the_standard__expected_results(
    inventory: dict[str, Any], changes: dict[str, Any], result: dict[str, Any]
) -> None:
    assert merged(inventory, changes) == result


def test_sound__empty_cpu__removed() -> None:
    assert without_empty_cpu({"cpu": {}, "key_values": {}, "disks": []}) == {"key_values": {}, "disks": []}
    assert without_empty_cpu({"cpu": {"cores": 0}}) == {"cpu": {"cores": 0}}
