"""The queue of a job, by each rule of placement, and what each rule says if there is none."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from domain.queues.document import tree_from_json
from domain.queues.placement import (
    ChosenQueue,
    NoChosenQueue,
    NoSuchQueue,
    SubmittedJob,
    choose_queue,
    dynamic_queues,
    open_leaves,
)
from domain.queues.placement_document import rules_from_json, rules_to_json
from domain.queues.tree import Queue, QueueTree

TREE: dict[str, Any] = {
    "queues": [
        {
            "name": "kernel",
            "submit": {"groups": ["kernel"]},
            "queues": [
                {"name": "net"},
                {"name": "storage"},
                {"name": "old", "state": "draining"},
                {"name": "shut", "state": "stopped", "queues": [{"name": "a"}]},
            ],
        },
        {"name": "people", "submit": {"users": ["*"]}, "template": {"max": 4}, "queues": []},
        {"name": "ada_dot_lovelace", "submit": {"users": ["ada.lovelace"]}},
        {"name": "default", "submit": {"users": ["ada", "ada.lovelace"]}},
    ],
    "submit": {},
}
PEOPLE = {"rule": "fixed", "value": "root.people"}
ADA = SubmittedJob("ada", ("kernel", "qa").__contains__, "kernel", tags={"product": "net"})


def faults_of(document: Any) -> list[tuple[str, str]]:
    faults: list[tuple[str, str]] = []
    rules_from_json(document, (), lambda path, message: faults.append((".".join(map(str, path)), message)))
    return faults


def refuse(path: Any, message: str) -> None:
    raise AssertionError((path, message))


def placed(
    *rules: dict[str, Any], job: SubmittedJob = ADA, with_jobs: Collection[str] = ()
) -> ChosenQueue | NoSuchQueue | NoChosenQueue:
    tree = tree_from_json(TREE, (), refuse)
    return choose_queue(tree, rules_from_json(list(rules), (), refuse), job, with_jobs)


def path_of(found: ChosenQueue | NoSuchQueue | NoChosenQueue) -> str:
    assert isinstance(found, ChosenQueue), found
    return found.path


def missing_in(found: ChosenQueue | NoSuchQueue | NoChosenQueue) -> str:
    assert isinstance(found, NoSuchQueue), found
    return found.path


@pytest.mark.parametrize(
    ("rule", "job", "path"),
    [
        ({"rule": "provided"}, ADA._replace(queue="root.kernel.net"), "root.kernel.net"),
        ({"rule": "provided"}, ADA._replace(queue="kernel.storage"), "root.kernel.storage"),
        ({"rule": "fixed", "value": "root.kernel.net"}, ADA, "root.kernel.net"),
        ({"rule": "tag", "value": "product", "parent": {"rule": "group"}}, ADA, "root.kernel.net"),
        ({"rule": "user", "create": True, "parent": PEOPLE}, ADA, "root.people.ada"),
        ({"rule": "user"}, SubmittedJob("ada.lovelace"), "root.ada_dot_lovelace"),
        ({"rule": "provided", "create": True, "parent": PEOPLE}, ADA._replace(queue="x"), "root.people.x"),
        # Rules that lead nowhere.
        ({"rule": "provided"}, ADA, "root.default"),
        ({"rule": "user", "parent": PEOPLE}, ADA, "root.default"),
        ({"rule": "group", "filter": {"allow": False, "users": ["ada"]}}, ADA, "root.default"),
        # Queues that take no jobs, by their own state or by that of a queue above.
        ({"rule": "fixed", "value": "root.kernel.old"}, ADA, "root.default"),
        ({"rule": "provided"}, ADA._replace(queue="root.kernel.shut.a"), "root.default"),
    ],
)
def test_job__one_rule__is_in_this_queue(rule: Any, job: SubmittedJob, path: str) -> None:
    assert path_of(placed(rule, job=job)) == path


def test_job__several_rules__the_first_that_leads_to_a_leaf_decides() -> None:
    rules = [
        {"rule": "group"},
        {"rule": "fixed", "value": "root.kernel.net"},
        {"rule": "user", "create": True},
    ]
    assert path_of(placed(*rules)) == "root.kernel.net"


def test_job__of_a_dynamic_queue__is_there_while_another_job_is() -> None:
    rule = {"rule": "user", "parent": PEOPLE}
    assert path_of(placed(rule, with_jobs=["root.people.ada"])) == "root.people.ada"
    assert path_of(placed(rule)) == "root.default"


@pytest.mark.parametrize(
    ("rules", "missing"),
    [
        ([{"rule": "provided"}], "root.kernel.nett"),
        ([], "root.kernel.nett"),
        # It may create queues, but only below parents with a template.
        ([{"rule": "provided", "create": True}], "root.kernel.nett"),
        ([{"rule": "provided", "create": True, "filter": {"users": ["eve"]}, "parent": PEOPLE}], None),
        # A rule before it does not hide the typing error.
        ([{"rule": "fixed", "value": "root.kernel.net"}, {"rule": "provided"}], "root.kernel.nett"),
        ([{"rule": "fixed", "value": "root.kernel.net"}], "root.kernel.nett"),
    ],
)
def test_job__names_a_queue_that_does_not_exist__is_in_none(
    rules: list[dict[str, Any]], missing: str | None
) -> None:
    job = ADA._replace(queue="kernel.nett")
    assert missing_in(placed(*rules, job=job)) == (missing or "root.people.kernel.nett")


def test_job__of_a_dynamic_queue_that_is_gone__names_no_queue() -> None:
    job = ADA._replace(queue="root.people.eve")
    rule = {"rule": "provided"}
    assert missing_in(placed(rule, job=job)) == "root.people.eve"
    assert path_of(placed(rule, job=job, with_jobs=["root.people.eve"])) == "root.people.eve"


def test_rules__may_lead_to_dynamic_queues__which_need_jobs_to_exist() -> None:
    rules: list[dict[str, Any]] = [{"rule": "user", "parent": PEOPLE}, {"rule": "group"}, {"rule": "user"}]
    tree = tree_from_json(TREE, (), refuse)
    job = ADA._replace(queue="root.people.eve")
    found = dynamic_queues(tree, rules_from_json(rules, (), refuse), job)
    assert found == ["root.people.eve", "root.people.ada"]
    # A rule that may create its queue asks for no jobs.
    rules[0]["create"] = True
    assert dynamic_queues(tree, rules_from_json(rules, (), refuse), job) == ["root.people.eve"]


@pytest.mark.parametrize("name", ["", " ", "*", "a/b", "a" * 244])
def test_rule__creates_a_queue_with_a_name_that_none_can_have__leads_nowhere(name: str) -> None:
    rule = {"rule": "tag", "value": "product", "create": True, "parent": PEOPLE}
    assert path_of(placed(rule, job=ADA._replace(tags={"product": name}))) == "root.default"
    provided = {"rule": "provided", "create": True}
    path = f"root.people.{name}"
    assert missing_in(placed(provided, job=ADA._replace(queue=path))) == path


@pytest.mark.parametrize(
    ("rule", "job"),
    [
        ({"rule": "user"}, SubmittedJob("root")),
        ({"rule": "group"}, SubmittedJob("ada", group="root")),
        ({"rule": "tag", "value": "product"}, SubmittedJob("ada", tags={"product": "root"})),
    ],
)
def test_rule__of_a_name_that_is_root__leads_below_the_parent_rule(rule: Any, job: SubmittedJob) -> None:
    assert path_of(placed({**rule, "create": True, "parent": PEOPLE}, job=job)) == "root.people.root"


def test_job__that_no_rule_places__has_the_reason_of_each() -> None:
    rules = [
        {"rule": "provided"},
        {"rule": "group"},
        {"rule": "tag", "value": "retention_tag"},
        {"rule": "fixed", "value": "root.kernel"},
        {"rule": "fixed", "value": "root.kernel.net"},
        {"rule": "user", "create": True},
        {"rule": "user", "parent": PEOPLE},
        {"rule": "user", "filter": {"groups": ["qa"]}},
    ]
    found = placed(*rules, job=SubmittedJob("eve"))
    assert isinstance(found, NoChosenQueue) and found.is_forbidden
    assert [(rule, reason.text) for rule, reason in found.results] == [
        ("provided", "the job names no queue"),
        ("group", "the job is for no group"),
        ("tag retention_tag", "the job has no retention_tag"),
        ("fixed root.kernel", "root.kernel is a parent, and only leaves take jobs"),
        ("fixed root.kernel.net", "eve may not submit to root.kernel.net"),
        ("user", 'there is no queue "root.eve"'),
        ("user", 'there is no queue "root.people.eve", and the rule may not create it'),
        ("user", "its filter excludes eve"),
        ("fixed root.default", "eve may not submit to root.default"),
    ]


def test_job__may_submit_to_a_queue_that_takes_none__is_not_forbidden() -> None:
    job = SubmittedJob("eve", ("kernel",).__contains__)
    found = placed({"rule": "fixed", "value": "root.kernel.shut.a"}, job=job)
    assert isinstance(found, NoChosenQueue) and not found.is_forbidden
    assert found.results[0][1].text == "root.kernel.shut is stopped and takes no new jobs"


def test_rules__written__read_as_the_same() -> None:
    document = [
        {"rule": "provided"},
        {
            "rule": "user",
            "create": True,
            "parent": PEOPLE,
            "filter": {"allow": False, "users": ["ada"], "groups": ["qa"]},
        },
    ]
    assert rules_to_json(rules_from_json(document, (), refuse)) == document
    assert rules_to_json(rules_from_json([], (), refuse)) == [{"rule": "provided"}]


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


NAMED = {"rule": "provided"}
FIRST = {"rule": "fixed", "value": "root.kernel.net"}


@pytest.mark.parametrize(
    ("rules", "queue", "why"),
    [
        ([NAMED], "kernel.old", "rule provided: root.kernel.old is draining and takes no new jobs"),
        ([NAMED], "kernel.shut.a", "rule provided: root.kernel.shut is stopped and takes no new jobs"),
        ([NAMED], "kernel", "rule provided: root.kernel is a parent, and only leaves take jobs"),
        (
            [NAMED],
            "ada_dot_lovelace",
            "rule provided: ada may not submit to root.ada_dot_lovelace",
        ),
        (
            [{**NAMED, "filter": {"groups": ["qb"]}}, FIRST],
            "kernel.storage",
            "rule provided: its filter excludes ada",
        ),
        ([FIRST, NAMED], "kernel.storage", "no rule provided comes before rule fixed root.kernel.net"),
        ([{"rule": "user"}], "kernel.net", "no rule provided comes before rule fixed root.default"),
        ([NAMED], "kernel.net", None),
        # The queue that the job names is below that of the parent rule.
        ([{**NAMED, "create": True, "parent": PEOPLE}], "x", None),
    ],
)
def test_job__names_a_queue_and_is_in_another_one__has_the_reason(
    rules: list[dict[str, Any]], queue: str, why: str | None
) -> None:
    found = placed(*rules, job=ADA._replace(queue=queue))
    assert isinstance(found, ChosenQueue)
    assert found.why_not_named == why


@pytest.mark.parametrize(
    ("queue", "text"),
    [
        ("kernel.gone", "the configuration no longer names root.kernel.gone, which is draining"),
        ("kernel.gone.a", "the configuration no longer names root.kernel.gone, which is draining"),
        # It has vanished, and was brought back.
        ("kernel.net.a", 'there is no queue "root.kernel.net.a"'),
        ("kernel.never", 'there is no queue "root.kernel.never"'),
        # It is a dynamic queue now, since the queue above has a template.
        ("people.ada", 'there is no queue "root.people.ada"'),
    ],
)
def test_job__names_a_vanished_queue__is_in_none_because_it_is_draining(queue: str, text: str) -> None:
    paths = ("root.kernel.gone", "root.kernel.net", "root.people.ada")
    vanished = tuple(Queue(path, state="draining") for path in paths)
    tree = QueueTree(tree_from_json(TREE, (), refuse).root, vanished)
    found = choose_queue(tree, rules_from_json([NAMED], (), refuse), ADA._replace(queue=queue))
    assert isinstance(found, NoSuchQueue) and found.text == text


def test_open_leaves__rights_and_states__only_those_that_take_jobs_of_the_owner() -> None:
    tree = tree_from_json(TREE, (), refuse)
    assert open_leaves(tree, ADA) == ["root.kernel.net", "root.kernel.storage", "root.default"]
    assert open_leaves(tree, SubmittedJob("eve")) == []
