"""The limits that a set counts under, on the way from its queue to the root."""

from __future__ import annotations

from typing import Any

import pytest

from domain.queues.document import tree_from_json
from domain.queues.limits import limits_of, too_small_for
from domain.queues.tree import QueueTree

TREE: dict[str, Any] = {
    "max_jobs": 100,
    "limits": [{"user": "*", "max": 30}],
    "queues": [
        {
            "name": "kernel",
            "max": 40,
            "limits": [
                {"user": "*", "max": 10},
                {"user": "ada", "max": 20, "max_jobs": 2},
                {"group": "qa", "max": 5},
            ],
            "queues": [{"name": "net", "max": 8, "max_jobs": 3}],
        },
        {"name": "people", "max": 6, "template": {"max": 4, "max_jobs": 1}},
    ],
}


@pytest.fixture
def tree() -> QueueTree:
    def refuse(path: Any, message: str) -> None:
        raise AssertionError((path, message))

    return tree_from_json(TREE, (), refuse)


@pytest.mark.parametrize(
    ("path", "owner", "group", "limits"),
    [
        (
            "root.kernel.net",
            "eve",
            None,
            [
                "8 systems in queue root.kernel.net",
                "3 jobs in queue root.kernel.net",
                "40 systems in queue root.kernel",
                "10 systems in queue root.kernel for user eve",
                "100 jobs in queue root",
                "30 systems in queue root for user eve",
            ],
        ),
        (
            "root.kernel.net",
            "ada",
            "qa",
            [
                "8 systems in queue root.kernel.net",
                "3 jobs in queue root.kernel.net",
                "40 systems in queue root.kernel",
                "20 systems in queue root.kernel for user ada",
                "2 jobs in queue root.kernel for user ada",
                "5 systems in queue root.kernel for group qa",
                "100 jobs in queue root",
                "30 systems in queue root for user ada",
            ],
        ),
        (
            "root.people.eve",
            "eve",
            "qa",
            [
                "4 systems in queue root.people.eve",
                "1 jobs in queue root.people.eve",
                "6 systems in queue root.people",
                "100 jobs in queue root",
                "30 systems in queue root for user eve",
            ],
        ),
        (
            "root.default",
            "eve",
            None,
            ["100 jobs in queue root", "30 systems in queue root for user eve"],
        ),
    ],
)
def test_limits__of_a_job_in_a_queue__are_those_up_to_the_root(
    tree: QueueTree, path: str, owner: str, group: str | None, limits: list[str]
) -> None:
    assert list(map(str, limits_of(tree, path, owner, group))) == limits


@pytest.mark.parametrize(
    ("path", "host_count", "limits"),
    [
        ("root.kernel.net", 8, []),
        ("root.kernel.net", 9, ["8 systems in queue root.kernel.net"]),
        ("root.kernel.net", 41, ["8 systems in queue root.kernel.net", "40 systems in queue root.kernel"]),
        ("root.people.eve", 5, ["4 systems in queue root.people.eve"]),
        ("root.default", 1_000, []),
    ],
)
def test_set__larger_than_a_maximum_on_its_way_up__could_never_start(
    tree: QueueTree, path: str, host_count: int, limits: list[str]
) -> None:
    assert list(map(str, too_small_for(tree, path, host_count))) == limits
