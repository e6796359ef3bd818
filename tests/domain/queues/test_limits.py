"""The limits that a set counts under, on the way from its queue to the root."""

from __future__ import annotations

from typing import Any

import pytest

from domain.queues.document import tree_from_json
from domain.queues.limits import maxima_of, too_small_for
from domain.queues.tree import Queue, QueueTree, Template

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
        {"name": "people", "max": 6, "template": {"max": 4, "max_jobs": 1}, "queues": []},
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
                "max 8 systems in queue root.kernel.net",
                "max 3 jobs in queue root.kernel.net",
                "max 40 systems in queue root.kernel",
                "max 10 systems of user eve in queue root.kernel",
                "max 100 jobs in queue root",
                "max 30 systems of user eve in queue root",
            ],
        ),
        (
            "root.kernel.net",
            "ada",
            "qa",
            [
                "max 8 systems in queue root.kernel.net",
                "max 3 jobs in queue root.kernel.net",
                "max 40 systems in queue root.kernel",
                "max 20 systems of user ada in queue root.kernel",
                "max 2 jobs of user ada in queue root.kernel",
                "max 5 systems of group qa in queue root.kernel",
                "max 100 jobs in queue root",
                "max 30 systems of user ada in queue root",
            ],
        ),
        (
            "root.people.eve",
            "eve",
            "qa",
            [
                "max 4 systems in queue root.people.eve",
                "max 1 jobs in queue root.people.eve",
                "max 6 systems in queue root.people",
                "max 100 jobs in queue root",
                "max 30 systems of user eve in queue root",
            ],
        ),
        (
            "root.default",
            "eve",
            None,
            ["max 100 jobs in queue root", "max 30 systems of user eve in queue root"],
        ),
    ],
)
def test_limits__of_a_job_in_a_queue__are_those_up_to_the_root(
    tree: QueueTree, path: str, owner: str, group: str | None, limits: list[str]
) -> None:
    assert list(map(str, maxima_of(tree, path, owner, group))) == limits


@pytest.mark.parametrize(
    ("path", "host_count", "maxima"),
    [
        ("root.kernel.net", 5, []),
        ("root.kernel.net", 6, ["max 5 systems of group qa in queue root.kernel"]),
        (
            "root.kernel.net",
            41,
            [
                "max 8 systems in queue root.kernel.net",
                "max 40 systems in queue root.kernel",
                "max 10 systems of user eve in queue root.kernel",
                "max 5 systems of group qa in queue root.kernel",
                "max 30 systems of user eve in queue root",
            ],
        ),
        ("root.people.eve", 5, ["max 4 systems in queue root.people.eve"]),
        ("root.default", 30, []),
    ],
)
def test_set__larger_than_a_maximum_on_its_way_up__could_never_start(
    tree: QueueTree, path: str, host_count: int, maxima: list[str]
) -> None:
    assert list(map(str, too_small_for(tree, path, "eve", "qa", host_count))) == maxima


def test_queue__vanished__has_its_last_maximum_and_takes_no_dynamic_queues() -> None:
    vanished = QueueTree(Queue("root"), (Queue("root.old", max=3, template=Template(max=2)),))
    assert [str(each) for each in maxima_of(vanished, "root.old.ada", "ada", None)] == [
        "max 2 systems in queue root.old.ada",
        "max 3 systems in queue root.old",
    ]
    assert not vanished.takes_dynamic("root.old")


def test_queue__vanished_with_its_parent__keeps_its_own_maximum_before_that_of_a_template() -> None:
    parent = Queue("root.people", template=Template(max=4))
    own = Queue("root.people.alice", max=40)
    tree = QueueTree(Queue("root"), (parent, own))
    assert [str(each) for each in maxima_of(tree, "root.people.alice", "alice", None)] == [
        "max 40 systems in queue root.people.alice"
    ]
