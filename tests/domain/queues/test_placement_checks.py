"""Placement rules that can never lead to a queue of their tree, or never create one, are faults."""

from __future__ import annotations

from typing import Any

import pytest

from domain.admission.configuration import configuration_from_json, stored_configuration
from tests.domain.admission.findings import faulty

TREE = {
    "queues": [
        {"name": "kernel", "queues": [{"name": "net"}]},
        {"name": "people", "template": {"max": 4}, "queues": []},
    ]
}
NO_TEMPLATE = {"queues": [{"name": "kernel", "queues": [{"name": "net"}]}]}


def fixed(value: str, **more: Any) -> dict[str, Any]:
    return {"rule": "fixed", "value": value, **more}


def faults_of(*rules: Any, queues: Any = TREE) -> list[tuple[str, str]]:
    document = {"queues": queues, "placement": list(rules)}
    return faulty(lambda path, report: configuration_from_json(document, path, report))


@pytest.mark.parametrize(
    "rule",
    [
        fixed("root.kernel.net"),
        # The document does not name this leaf, which is in every tree.
        fixed("default"),
        fixed("net", parent=fixed("kernel")),
        # A job may create it, or another rule has created it.
        fixed("root.people.x", create=True),
        fixed("root.people.x"),
        # The parent of a path from the root does not matter.
        fixed("root.kernel.net", parent=fixed("root.no")),
        {"rule": "user"},
        {"rule": "user", "parent": fixed("root.kernel")},
        {"rule": "user", "create": True, "parent": fixed("root.people")},
        {"rule": "tag", "value": "product", "parent": {"rule": "group"}},
        # The job may name a path below the parent with the template.
        {"rule": "provided", "create": True},
        {"rule": "provided", "create": True, "parent": fixed("root.kernel")},
    ],
)
def test_rule__may_lead_to_a_queue__has_no_fault(rule: Any) -> None:
    document = {"queues": TREE, "placement": [rule]}
    assert configuration_from_json(document, (), _refuse) == stored_configuration(document)


def _refuse(path: Any, message: str) -> None:
    raise AssertionError((path, message))


@pytest.mark.parametrize(
    ("rule", "where", "message"),
    [
        (fixed("root.no"), "value", 'there is no queue "root.no"'),
        (fixed("no"), "value", 'there is no queue "root.no"'),
        (fixed("root.no", create=True), "value", 'there is no queue "root.no", and root has no template'),
        (fixed("x", create=True, parent=fixed("root.no")), "parent.value", 'there is no queue "root.no"'),
        (fixed("root.people.*", create=True), "value", "no queue can have the path root.people.*"),
        (fixed("root.kernel"), "value", "root.kernel is a parent, and only leaves take jobs"),
        ({"rule": "user", "parent": fixed("no")}, "parent.value", 'there is no queue "root.no"'),
        ({"rule": "provided", "parent": fixed("no")}, "parent.value", 'there is no queue "root.no"'),
        (
            {"rule": "user", "parent": {"rule": "group", "parent": fixed("root.kernel.net")}},
            "parent.parent.value",
            "root.kernel.net is a leaf, so no queue can be below it",
        ),
        ({"rule": "user", "create": True}, "create", "has no effect: root has no template"),
        (
            {"rule": "user", "create": True, "parent": fixed("root.kernel")},
            "create",
            "has no effect: root.kernel has no template",
        ),
    ],
)
def test_rule__never_leads_to_a_queue__is_a_fault_at_its_place(rule: Any, where: str, message: str) -> None:
    ((place, text),) = faults_of(rule)
    assert place.endswith(f"placement[0].{where}") and text == message


def test_provided__may_create_and_no_queue_has_a_template__is_a_fault() -> None:
    ((_, text),) = faults_of({"rule": "provided", "create": True}, queues=NO_TEMPLATE)
    assert text == "has no effect: no queue has a template"


def test_rules__with_other_faults__all_are_found_at_once() -> None:
    found = faults_of({"rule": "newest"}, fixed("root.no"), queues={**TREE, "order": "newest"})
    assert [place.rpartition("placement")[2] for place, _ in found][1:] == ["[0].rule", "[1].value"]


def test_stored_configuration__with_such_a_rule__stays_in_force() -> None:
    assert stored_configuration({"placement": [fixed("root.no")]}).placement[0].value == "root.no"
