"""Which distro tree a requirement means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import replay
from domain.requirements import distro, to_text
from tests.domain.requirements.asking import refuse

TREES = json.loads(Path(replay.__path__[0], "samples", "lab.json").read_text())["distro_trees"]


def newest(form: dict[str, Any], trees: Any = TREES) -> int | None:
    tree = distro.newest_match(distro.from_text(to_text(distro.parse(form, refuse))), trees)
    return None if tree is None else tree["id"]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({}, 5),
        ({"element": "distro_name", "value": "rhel-9.6"}, 2),
        ({"element": "name", "op": "like", "value": "RHEL-9%"}, 2),
        ({"element": "family", "value": "Fedora44"}, 4),
        (
            {
                "and": [
                    {"element": "family", "value": "Fedora44"},
                    {"element": "distro_arch", "value": "x86_64"},
                ]
            },
            3,
        ),
        ({"element": "tag", "op": "!=", "value": "RELEASED"}, 4),
        ({"and": [{"element": "tag", "value": "released"}, {"element": "arch", "value": "aarch64"}]}, 2),
        ({"not": [{"element": "variant", "value": "Server"}]}, None),
        ({"or": [{"element": "name", "value": "nothing"}, {"element": "name", "value": "RHEL-9.6"}]}, 2),
        # these two never chose anything
        ({"and": [{"element": "distro_virt", "value": ""}, {"element": "method", "value": "nfs"}]}, 5),
    ],
)
def test_distro__of_the_sample_lab__is_the_newest_that_fits(
    form: dict[str, Any], expected: int | None
) -> None:
    assert newest(form) == expected


def test_distro__added_at_the_same_time__is_the_higher_id() -> None:
    trees = [{"id": number, "name": "n", "added_at": "2026-01-01T00:00:00Z"} for number in (9, 11, 10)]
    assert newest({}, trees) == 11


def test_tag__compared_by_order__is_refused() -> None:
    said: list[str] = []
    distro.parse({"element": "tag", "op": ">", "value": "x"}, lambda _, message: said.append(message))
    assert said == ["must be one of = == !="]
