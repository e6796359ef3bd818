"""The queues of partitions in the directory: the tree in force, and the people that a configuration names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from domain.admission.configuration import Configuration
from domain.directory.partitions import KIND, Document, configuration_of, identities
from domain.directory.state import Directory, DirectoryEntry
from domain.errors import Fault, unknown_name
from domain.queues.placement import DEFAULT_RULES, PlacementRule
from domain.queues.tree import EACH, WITHOUT_CONFIGURATION, Grantees, Queue, QueueTree
from domain.queues.vanished import vanished_queue

# Kinds whose entries queues and placement rules name.
PEOPLE: Final = ("user", "group")

NamedGrantee = tuple[str, str, str]
"""A place in the configuration, and the kind and name of a user or group there."""


class PartitionQueues(NamedTuple):
    """The queue tree and the placement rules of a partition."""

    tree: QueueTree = WITHOUT_CONFIGURATION
    rules: tuple[PlacementRule, ...] = DEFAULT_RULES


# The queues of each directory by partition, each with its entry: parsing a large tree takes milliseconds.
_QUEUES: Final[WeakKeyDictionary[Directory, dict[str, tuple[DirectoryEntry, PartitionQueues]]]] = (
    WeakKeyDictionary()
)


def queue_tree_of(configuration: Configuration, document: Document) -> QueueTree:
    """Return the queue tree of a configuration, with the vanished queues in the document of its partition."""
    vanished = tuple(map(vanished_queue, document.get("vanished_queues", ())))
    return QueueTree(configuration.queues.root, vanished)


def _queues_of(document: Document) -> PartitionQueues:
    configuration = configuration_of(document)
    return PartitionQueues(queue_tree_of(configuration, document), configuration.placement)


def partition_queues(directory: Directory, name: str) -> PartitionQueues:
    """Return the queues of a partition. Cheap, for each submission."""
    entry = directory.get(KIND, name)
    if entry is None or "configuration" not in entry.document:
        return PartitionQueues()
    cache = _QUEUES.setdefault(directory, {})
    cached = cache.get(name)
    if cached is None or cached[0] is not entry:
        cached = cache[name] = entry, _queues_of(entry.document)
    return cached[1]


def is_in_group(directory: Directory, user: str, group: str) -> bool:
    return user in directory.people_of(group)


def faults_of_people(directory: Directory, tree: QueueTree, rules: tuple[PlacementRule, ...]) -> list[Fault]:
    """Return a fault for each user and group in queues and placement rules that does not exist."""
    return [
        Fault(where, unknown_name(kind, name))
        for where, kind, name in dict.fromkeys(_named(tree, rules))
        if name != EACH and directory.get(kind, name) is None
    ]


def partitions_naming(directory: Directory, kind: str, name: str) -> list[str]:
    """Return the partitions with queues or placement rules that name an entry."""

    def is_named(partition: str) -> bool:
        queues = partition_queues(directory, partition)
        return any(each[1:] == (kind, name) for each in _named(queues.tree, queues.rules))

    return [each.name for each in identities(directory) if is_named(each.name)] if kind in PEOPLE else []


def named_people(directory: Directory, kind: str) -> frozenset[str]:
    """Return all users, or all groups, that queues or placement rules of a partition name."""
    trees = (partition_queues(directory, each.name) for each in identities(directory))
    return frozenset(each[2] for queues in trees for each in _named(*queues) if each[1] == kind)


def _named(tree: QueueTree, rules: tuple[PlacementRule, ...]) -> Iterator[NamedGrantee]:
    yield from _named_in_queues(tree.root)
    yield from _named_in_rules(rules)


def _named_in_queues(queue: Queue, where: str = "queues") -> Iterator[NamedGrantee]:
    """Yield the users and groups that a queue and the queues below it name."""
    yield from _named_in(f"{where}.submit", queue.submit)
    yield from _named_in(f"{where}.admin", queue.admin)
    yield from ((f"{where}.limits", limit.kind, limit.name) for limit in queue.limits)
    for index, child in enumerate(queue.children):
        yield from _named_in_queues(child, f"{where}.queues[{index}]")


def _named_in_rules(rules: tuple[PlacementRule, ...]) -> Iterator[NamedGrantee]:
    for index, rule in enumerate(rules):
        where, each = f"placement[{index}]", rule
        while True:
            if each.filter is not None:
                yield from _named_in(f"{where}.filter", each.filter.who)
            if each.parent is None:
                break
            where, each = f"{where}.parent", each.parent


def _named_in(where: str, right: Grantees) -> Iterator[NamedGrantee]:
    yield from ((where, "user", name) for name in right.users)
    yield from ((where, "group", name) for name in right.groups)
