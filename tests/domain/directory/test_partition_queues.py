"""The queues of a partition in the directory: those in force, and those that have vanished."""

from __future__ import annotations

from typing import Any

from domain.admission.configuration import Configuration, configuration_to_json, stored_configuration
from domain.directory.events import PartitionConfigured, UserRegistered
from domain.directory.partition_queues import faults_of_people, partition_queues
from domain.directory.state import Directory
from domain.errors import Fault
from domain.queues.tree import WITHOUT_CONFIGURATION
from tests.domain.directory.documents import apply


def configured(*documents: dict[str, Any]) -> Directory:
    directory = Directory()
    for document in documents:
        configuration = configuration_to_json(stored_configuration(document))
        apply(directory, "partition/default", PartitionConfigured(configuration))
    return directory


def queues(*children: dict[str, Any]) -> dict[str, Any]:
    return {"queues": {"queues": list(children)}}


KERNEL = {"name": "kernel", "max": 5, "queues": [{"name": "net", "max": 3}]}


def states(directory: Directory) -> dict[str, tuple[str, int | None]]:
    tree = partition_queues(directory, "default").tree
    return {queue.path: (queue.state, queue.max) for queue in (*tree.by_path.values(), *tree.vanished)}


def test_partition__without_a_configuration__has_root_and_default() -> None:
    assert partition_queues(Directory(), "default").tree == WITHOUT_CONFIGURATION
    assert partition_queues(configured({}), "default").tree == WITHOUT_CONFIGURATION


def test_queue__that_vanishes__drains_with_its_last_properties() -> None:
    assert states(configured(queues(KERNEL), queues({"name": "kernel", "max": 4}), {})) == {
        "root": ("active", None),
        "root.default": ("active", None),
        "root.kernel.net": ("draining", 3),
        "root.kernel": ("draining", 4),
    }


def test_queue__that_comes_back__is_as_configured() -> None:
    back = configured(queues(KERNEL), {}, queues({"name": "kernel", "max": 6}))
    assert states(back) == {
        "root": ("active", None),
        "root.kernel": ("active", 6),
        "root.default": ("active", None),
        "root.kernel.net": ("draining", 3),
    }


def test_queue__with_a_template__vanishes_with_it() -> None:
    parent = {"name": "kernel", "template": {"max": 2}, "queues": []}
    tree = partition_queues(configured(queues(parent), {}), "default").tree
    dynamic = tree.find("root.kernel.ada")
    assert dynamic is not None and dynamic.max == 2


def faults_of(directory: Directory, configuration: Configuration) -> list[Fault]:
    return faults_of_people(directory, configuration.queues, configuration.placement)


def test_configuration__names_unknown_people__has_a_fault_for_each() -> None:
    directory = configured({})
    apply(directory, "user/ada", UserRegistered("ada@example.com"))
    configuration = stored_configuration(
        {
            "queues": {
                "submit": {"users": ["*", "ada", "bob"]},
                "queues": [
                    {"name": "a", "admin": {"groups": ["qa"]}, "limits": [{"user": "*", "max": 1}]},
                    {"name": "b", "limits": [{"group": "hw", "max": 1}]},
                ],
            },
            "placement": [
                {"rule": "user", "parent": {"rule": "group", "filter": {"users": ["eve"]}}},
            ],
        }
    )
    assert [(fault.where, fault.message) for fault in faults_of(directory, configuration)] == [
        ("queues.submit", 'there is no user "bob"'),
        ("queues.queues[0].admin", 'there is no group "qa"'),
        ("queues.queues[1].limits", 'there is no group "hw"'),
        ("placement[0].parent.filter", 'there is no user "eve"'),
    ]
    assert faults_of(directory, Configuration()) == []
