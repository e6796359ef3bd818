"""The queue of a job, by each rule of placement, and what each rule says if there is none."""

from __future__ import annotations

from typing import Any

import pytest

from domain.queues.document import tree_from_json
from domain.queues.placement import Placed, QueuedJob, Queues, Unplaced, place, rules_from_json

TREE: dict[str, Any] = {
    "queues": [
        {
            "name": "kernel",
            "submit": {"groups": ["kernel"]},
            "queues": [{"name": "net"}, {"name": "storage"}],
        },
        {"name": "people", "submit": {"users": ["*"]}, "template": {"max": 4}},
        {"name": "ada_dot_lovelace", "submit": {"users": ["ada.lovelace"]}},
        {"name": "default", "submit": {"users": ["ada", "ada.lovelace"]}},
    ],
    "submit": {},
}
PEOPLE = {"rule": "fixed", "value": "root.people"}
ADA = QueuedJob("ada", ("kernel", "qa"), "kernel", tags={"product": "net"})


def faults_of(document: Any) -> list[tuple[str, str]]:
    faults: list[tuple[str, str]] = []
    rules_from_json(document, (), lambda path, message: faults.append((".".join(map(str, path)), message)))
    return faults


def placed(*rules: dict[str, Any], job: QueuedJob = ADA, **more: Any) -> Placed | Unplaced:
    def refuse(path: Any, message: str) -> None:
        raise AssertionError((path, message))

    queues = Queues(tree_from_json(TREE, (), refuse), **more)
    return place(queues, rules_from_json(list(rules), (), refuse), job)


@pytest.mark.parametrize(
    ("rule", "job", "path", "is_new"),
    [
        ({"rule": "provided"}, ADA._replace(queue="root.kernel.net"), "root.kernel.net", False),
        ({"rule": "provided"}, ADA._replace(queue="kernel.storage"), "root.kernel.storage", False),
        ({"rule": "fixed", "value": "root.kernel.net"}, ADA, "root.kernel.net", False),
        ({"rule": "tag", "value": "product", "parent": {"rule": "group"}}, ADA, "root.kernel.net", False),
        ({"rule": "user", "create": True, "parent": PEOPLE}, ADA, "root.people.ada", True),
        ({"rule": "user"}, QueuedJob("ada.lovelace"), "root.ada_dot_lovelace", False),
        (
            {"rule": "provided", "create": True, "parent": PEOPLE},
            ADA._replace(queue="x"),
            "root.people.x",
            True,
        ),
        # Rules that lead nowhere.
        ({"rule": "provided"}, ADA, "root.default", False),
        ({"rule": "user", "parent": PEOPLE}, ADA, "root.default", False),
        ({"rule": "group", "filter": {"allow": False, "users": ["ada"]}}, ADA, "root.default", False),
    ],
)
def test_job__one_rule__is_in_this_queue(rule: Any, job: QueuedJob, path: str, is_new: bool) -> None:
    assert placed(rule, job=job) == Placed(path, is_new)


def test_job__several_rules__the_first_that_leads_to_a_leaf_decides() -> None:
    rules = [
        {"rule": "group"},
        {"rule": "fixed", "value": "root.kernel.net"},
        {"rule": "user", "create": True},
    ]
    assert placed(*rules) == Placed("root.kernel.net")


def test_job__of_a_dynamic_queue_that_exists__is_not_new() -> None:
    rule = {"rule": "user", "create": True, "parent": PEOPLE}
    assert placed(rule, dynamic=frozenset({"root.people.ada"})) == Placed("root.people.ada")


@pytest.mark.parametrize("closed", ["root.kernel.net", "root.kernel"])
def test_job__of_a_queue_that_takes_none__goes_on_to_the_next_rule(closed: str) -> None:
    rule = {"rule": "fixed", "value": "root.kernel.net"}
    assert placed(rule, inactive=frozenset({closed})) == Placed("root.default")


def test_job__that_no_rule_places__is_told_what_each_said() -> None:
    rules = [
        {"rule": "provided"},
        {"rule": "group"},
        {"rule": "tag", "value": "retention_tag"},
        {"rule": "fixed", "value": "root.kernel"},
        {"rule": "fixed", "value": "root.kernel.net"},
        {"rule": "user", "create": True},
        {"rule": "user", "filter": {"groups": ["qa"]}},
    ]
    assert placed(*rules, job=QueuedJob("eve")) == Unplaced(
        (
            ("provided", "the job names no queue"),
            ("group", "the job is for no group"),
            ("tag retention_tag", "the job has no retention_tag"),
            ("fixed root.kernel", "root.kernel is a parent, and only leaves take jobs"),
            ("fixed root.kernel.net", "eve may not submit to root.kernel.net"),
            ("user", "there is no queue root.eve, and root takes no dynamic queues"),
            ("user", "it is not for this user"),
            ("fixed root.default", "eve may not submit to root.default"),
        )
    )


@pytest.mark.parametrize(
    ("rule", "where", "message"),
    [
        ({"rule": "newest"}, "0.rule", "must be one of provided, user, group, fixed, tag"),
        ({}, "0.rule", "must be one of"),
        ({"rule": "fixed"}, "0.value", "must not be empty"),
        ({"rule": "tag", "value": "colour"}, "0.value", "must be one of product, retention_tag"),
        ({"rule": "user", "value": "x"}, "0.value", "is only for the rules fixed and tag"),
        ({"rule": "user", "create": 1}, "0.create", "must be true or false"),
        ({"rule": "user", "parent": {"rule": "up"}}, "0.parent.rule", "must be one of"),
        ({"rule": "user", "filter": {"user": []}}, "0.filter.user", "is unknown"),
        ({"rule": "user", "filter": {"users": [""]}}, "0.filter.users.0", "must not be empty"),
        ({"rule": "user", "dynamic": True}, "0.dynamic", "is unknown"),
    ],
)
def test_rule__one_fault__is_found_at_its_place(rule: Any, where: str, message: str) -> None:
    ((place_of_fault, text),) = faults_of([rule])
    assert place_of_fault == where and message in text
