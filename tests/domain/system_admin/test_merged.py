from __future__ import annotations

from typing import Any

import pytest

from domain.system_admin.inventory import merged, sound

# The examples of RFC 7396, appendix A, that are of objects: what there is, what comes, what there is then.
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


@pytest.mark.parametrize(("known", "changes", "result"), MERGED)
def test_merged__examples_of_the_standard__come_out_as_it_says(
    known: dict[str, Any], changes: dict[str, Any], result: dict[str, Any]
) -> None:
    assert merged(known, changes) == result


def test_sound__cpu_of_which_nothing_is_known__is_unknown() -> None:
    assert sound({"cpu": {}, "key_values": {}, "disks": []}) == {"key_values": {}, "disks": []}
    assert sound({"cpu": {"cores": 0}}) == {"cpu": {"cores": 0}}
