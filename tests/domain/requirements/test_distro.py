"""Distro trees that match a requirement."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import replay
from domain.requirements import distro, to_text
from tests.domain.requirements.evaluation import refuse

TREES = json.loads(Path(replay.__path__[0], "samples", "lab.json").read_text())["distro_trees"]


def fitting(form: dict[str, Any], trees: Any = TREES) -> list[int]:
    node = distro.from_text(to_text(distro.parse(form, refuse)))
    return list(distro.NewestFirst(trees).fitting(node))


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({}, [5, 4, 3, 2, 1]),
        ({"element": "distro_name", "value": "rhel-9.6"}, [2, 1]),
        ({"element": "name", "op": "like", "value": "RHEL-9%"}, [2, 1]),
        ({"element": "family", "value": "Fedora44"}, [4, 3]),
        (
            {
                "and": [
                    {"element": "family", "value": "Fedora44"},
                    {"element": "distro_arch", "value": "x86_64"},
                ]
            },
            [3],
        ),
        ({"element": "tag", "op": "!=", "value": "RELEASED"}, [4, 3]),
        ({"and": [{"element": "tag", "value": "released"}, {"element": "arch", "value": "aarch64"}]}, [2]),
        ({"not": [{"element": "variant", "value": "Server"}]}, []),
        ({"or": [{"element": "name", "value": "nothing"}, {"element": "name", "value": "RHEL-9.6"}]}, [2, 1]),
        # in a lab, by every spelling
        ({"element": "labcontroller", "value": "LAB.west.example.com"}, [4, 3, 2, 1]),
        ({"element": "distro_labcontroller", "op": "!=", "value": "lab.west.example.com"}, [5]),
        ({"element": "distrolabcontroller", "op": "like", "value": "%.west.%"}, [4, 3, 2, 1]),
        # these two elements never had an effect
        (
            {"and": [{"element": "distro_virt", "value": ""}, {"element": "method", "value": "nfs"}]},
            [5, 4, 3, 2, 1],
        ),
    ],
)
def test_fitting__sample_lab__matching_trees_newest_first(form: dict[str, Any], expected: list[int]) -> None:
    assert fitting(form) == expected


def test_fitting__equal_times__higher_id_first() -> None:
    trees = [{"id": number, "name": "n", "added_at": "2026-01-01T00:00:00Z"} for number in (9, 11, 10)]
    assert fitting({}, trees) == [11, 10, 9]


def test_tag__compared_by_order__is_refused() -> None:
    said: list[str] = []
    distro.parse({"element": "tag", "op": ">", "value": "x"}, lambda _, message: said.append(message))
    assert said == ["must be one of = == != like"]
