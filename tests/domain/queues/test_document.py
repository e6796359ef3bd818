"""The section of queues in a configuration: its form, its defaults, and each of its faults."""

from __future__ import annotations

from typing import Any

import pytest

from domain.queues.document import MAX_DEPTH, tree_from_json, tree_to_json
from domain.queues.tree import WITHOUT_CONFIGURATION, Grantees, QueueLimit, QueueTree, Template

DOCUMENT: dict[str, Any] = {
    "submit": {"users": ["*"]},
    "queues": [
        {
            "name": "kernel",
            "max": 40,
            "guaranteed": 20,
            "limits": [{"group": "qa", "max": 20, "max_jobs": 5}, {"user": "*", "max": 10}],
            "queues": [{"name": "storage", "max": 20}, {"name": "net", "admin": {"groups": ["net"]}}],
        },
        {"name": "people", "state": "draining", "template": {"max": 4}, "queues": []},
        {"name": "default"},
    ],
}


def read(document: Any) -> tuple[QueueTree, list[tuple[str, str]]]:
    faults: list[tuple[str, str]] = []

    def report(path: Any, message: str) -> None:
        faults.append((".".join(map(str, path)), message))

    return tree_from_json(document, (), report), faults


def tree(document: Any) -> QueueTree:
    found, faults = read(document)
    assert faults == []
    return found


def test_document__whole__round_trips() -> None:
    assert tree_to_json(tree(DOCUMENT)) == DOCUMENT
    assert tree(tree_to_json(tree(DOCUMENT))).root == tree(DOCUMENT).root


def test_document__whole__has_its_queues_by_path() -> None:
    queues = tree(DOCUMENT).by_path
    paths = ["root", "root.kernel", "root.kernel.storage", "root.kernel.net", "root.people", "root.default"]
    assert list(queues) == paths
    assert queues["root.kernel"].limits == (QueueLimit("group", "qa", 20, 5), QueueLimit("user", "*", 10))
    assert queues["root.kernel.net"].admin == Grantees((), ("net",))
    assert queues["root.people"].template == Template(max=4)
    assert [path for path in paths if queues[path].is_leaf] == [*paths[2:4], "root.default"]


@pytest.mark.parametrize("document", [{}, {"queues": []}, {"queues": [{"name": "default"}]}])
def test_document__without_queues__is_the_tree_without_a_configuration(document: Any) -> None:
    assert tree(document).root == WITHOUT_CONFIGURATION.root


@pytest.mark.parametrize(
    ("user", "groups", "path", "may"),
    [
        ("ada", (), "root.kernel.net", True),
        ("eve", (), "root.kernel.net", False),
        ("eve", ("net",), "root.kernel.net", True),
        ("eve", ("net",), "root.kernel.storage", False),
        ("bob", (), "root.kernel.storage", True),
        # A dynamic queue has the rights of its parent.
        ("cid", (), "root.people.cid", True),
        ("ada", (), "root.people.cid", False),
    ],
)
def test_right__of_a_queue__holds_for_all_queues_below(
    user: str, groups: tuple[str, ...], path: str, may: bool
) -> None:
    kernel = {**DOCUMENT["queues"][0], "submit": {"users": ["ada"]}, "admin": {"users": ["bob"]}}
    people = {"name": "people", "submit": {"users": ["cid"]}, "template": {}, "queues": []}
    found = tree({"submit": {}, "queues": [kernel, people]})
    assert found.may_submit(path, user, groups.__contains__) is may


def test_submit__for_nobody_at_root__is_kept() -> None:
    closed = tree({"submit": {}})
    assert not closed.may_submit("root.default", "ada", lambda _: True)
    assert tree(tree_to_json(closed)) == closed


def queues(*children: dict[str, Any], **root: Any) -> dict[str, Any]:
    return {**root, "queues": list(children)}


@pytest.mark.parametrize(
    ("document", "where", "message"),
    [
        ({"max": 3}, "max", "cannot be set for root: it is the number of its systems"),
        ({"queue": []}, "queue", "is unknown; the fields are guaranteed, max_jobs, limits, submit"),
        ([], "", "must be an object"),
        (queues({"name": ""}), "queues.0.name", "must not be empty"),
        (queues({}), "queues.0.name", "must not be empty"),
        (queues({"name": "a.b"}), "queues.0.name", "must have no dot and no slash"),
        (queues({"name": "a/b"}), "queues.0.name", "must have no dot and no slash"),
        (queues({"name": "a "}), "queues.0.name", "must not begin or end with a blank"),
        (queues({"name": "a" * 251}), "queues.0.name", "makes a path longer than 255 characters"),
        (queues({"name": "*"}), "queues.0.name", "must not be *"),
        (queues({"name": "a"}, {"name": "a"}), "queues.1.name", "a occurs twice below root"),
        (
            queues({"name": "a", "max": 3, "queues": [{"name": "b", "max": 4}]}),
            "queues.0.queues.0.max",
            "must be at most the max of root.a, 3",
        ),
        # A queue without a max of its own has that of the queue above.
        (
            queues({"name": "a", "max": 3, "queues": [{"name": "b", "queues": [{"name": "c", "max": 4}]}]}),
            "queues.0.queues.0.queues.0.max",
            "must be at most the max of root.a, 3",
        ),
        (
            queues({"name": "a", "template": {"max": 2, "guaranteed": 3}, "queues": []}),
            "queues.0.template.guaranteed",
            "must be at most the max of the template, 2",
        ),
        (
            queues({"name": "a", "max": 3, "template": {"max": 4}, "queues": []}),
            "queues.0.template.max",
            "must be at most the max of root.a, 3",
        ),
        (
            queues({"name": "a", "max": 3, "guaranteed": 4}),
            "queues.0.guaranteed",
            "must be at most the max of root.a, 3",
        ),
        (
            queues({"name": "a", "queues": [{"name": "b", "guaranteed": 5}]}, guaranteed=4),
            "guaranteed",
            "must be at least 5, the guaranteed systems of the queues below together",
        ),
        (
            queues({"name": "a", "guaranteed": 3}, {"name": "b", "guaranteed": 2}, guaranteed=4),
            "guaranteed",
            "must be at least 5, the guaranteed systems of the queues below together",
        ),
        (queues({"name": "a", "max_jobs": 0}), "queues.0.max_jobs", "must be a whole number from 1"),
        (queues({"name": "a", "max": -1}), "queues.0.max", "must be a whole number from 0"),
        (queues({"name": "a", "order": "priority"}), "queues.0.order", "must be one of fifo, fair"),
        ({"order": "size", "queues": [{"name": "a"}]}, "order", "must be one of fifo, fair, priority"),
        (queues({"name": "a", "limits": [{"max": 3}]}), "queues.0.limits.0", "either a user or a group"),
        (queues({"name": "a", "limits": [{"user": "x"}]}), "queues.0.limits.0", "must have max or max_jobs"),
        (
            queues({"name": "a", "limits": [{"user": "x", "max": 1}, {"user": "x", "max": 2}]}),
            "queues.0.limits.1",
            "user x occurs twice",
        ),
        (queues({"name": "a", "submit": {"users": [1]}}), "queues.0.submit.users.0", "must be text"),
        (queues({"name": "a", "template": {}}), "queues.0.template", "is for parents only"),
        (queues({"name": "default", "template": {}}), "queues.0", "must have no queues and no template"),
        (
            queues({"name": "default", "queues": [{"name": "a"}]}),
            "queues.0",
            "must have no queues and no template",
        ),
        (
            queues({"name": "a", "template": {"fence": True}, "queues": []}),
            "queues.0.template.fence",
            "is unknown",
        ),
        (
            queues({"name": "a", "state": "open"}),
            "queues.0.state",
            "must be one of active, draining, stopped",
        ),
        (queues({"name": "a", "fence": 1}), "queues.0.fence", "must be true or false"),
        (queues({"name": "a", "priority_offset": 0.5}), "queues.0.priority_offset", "must be a whole number"),
        ({"order": "size", "queues": []}, "order", "must be one of fifo, fair, priority"),
        (queues({"name": "a", "order": "priority"}), "queues.0.order", "must be one of fifo, fair"),
        (
            queues({"name": "a", "template": {"order": "priority"}, "queues": []}),
            "queues.0.template.order",
            "must be one of fifo, fair",
        ),
    ],
)
def test_document__one_fault__is_found_at_its_place(document: Any, where: str, message: str) -> None:
    _, faults = read(document)
    assert [place for place, _ in faults] == [where]
    assert message in faults[0][1]


def test_document__several_faults__all_at_once() -> None:
    faulty = {"name": "a.b", "max": 3, "guaranteed": 4, "order": "size", "queues": [{"name": "x", "max": 9}]}
    assert [place for place, _ in read(queues(faulty, max=1))[1]] == [
        "max",
        "queues.0.name",
        "queues.0.order",
        "queues.0.guaranteed",
        "queues.0.queues.0.max",
    ]


def nested(depth: int) -> dict[str, Any]:
    document: dict[str, Any] = {"name": "q"}
    for _ in range(depth - 2):
        document = {"name": "q", "queues": [document]}
    return queues(document)


def test_document__deeper_than_the_maximum__is_refused() -> None:
    tree(nested(MAX_DEPTH))
    ((where, message),) = read(nested(MAX_DEPTH + 1))[1]
    assert message == "is deeper than 20 levels" and where.count("queues") == MAX_DEPTH


def test_document__more_queues_than_the_maximum__is_refused() -> None:
    # With root, and the queue default that the document does not name.
    many = [{"name": f"q{number}"} for number in range(4_998)]
    largest = tree(queues(*many))
    assert len(largest.by_path) == 5_000 and tree(tree_to_json(largest)) == largest
    ((where, message),) = read(queues(*many, {"name": "more"}, {"name": "yet"}))[1]
    assert (where, message) == ("queues.4998", "is one queue too many: at most 5000 are allowed")
    tree(queues(*many, {"name": "default"}))
