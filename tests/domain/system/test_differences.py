from __future__ import annotations

from typing import Any

import pytest

from domain.system.differences import PropertyDifference, differences

# Before, after, and the differences.
ROWS: list[tuple[dict[str, Any], dict[str, Any], list[tuple[str, Any, Any]]]] = [
    ({}, {}, []),
    # Missing and null are both unknown.
    ({"vendor": None}, {}, []),
    ({"b": 1, "a": 1}, {"a": 2, "c": 3}, [("a", 1, 2), ("b", 1, None), ("c", None, 3)]),
    # The properties of an object are separate; a list is one property.
    ({"cpu": {"cores": 1, "hyper": True}}, {"cpu": {"cores": 2, "hyper": True}}, [("cpu.cores", 1, 2)]),
    ({"key_values": {"HVM": ["1"]}}, {}, [("key_values.HVM", ["1"], None)]),
    ({"disks": [{"model": "D"}]}, {"disks": []}, [("disks", [{"model": "D"}], [])]),
    # An object that was unknown before.
    ({"cpu": None}, {"cpu": {"cores": 2}}, [("cpu.cores", None, 2)]),
]


@pytest.mark.parametrize(("before", "after", "expected"), ROWS)
def test_differences__two_documents__each_property_once_by_name(
    before: dict[str, Any], after: dict[str, Any], expected: list[tuple[str, Any, Any]]
) -> None:
    assert differences(before, after) == [PropertyDifference(*one) for one in expected]
