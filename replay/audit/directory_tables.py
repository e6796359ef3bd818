"""The tables of the directory: labs, pools, policies, groups, distro trees and partitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.audit.queue_tree import NO_QUEUES, QueueTree
from replay.audit.rights import Entries
from replay.audit.tables import DEFAULT_PARTITION

# The name of the partition that needs no creation.
DEFAULT_NAME = "default"


class DirectoryTables:
    """The tables of a state that have neither recipes nor systems. Mutable."""

    def __init__(self) -> None:
        self.trees: dict[int, Mapping[str, Any]] = {}
        self.enabled: dict[str, bool] = {}
        # Labs whose controller has stopped reporting, or has never reported.
        self.silent: dict[str, bool] = {}
        # System -> its pools; pool -> its submit permissions.
        self.pools: dict[str, tuple[str, ...]] = {}
        self.policies: dict[str, Entries] = {}
        # Group -> its people, its former people, and whether it was removed.
        self.people: dict[str, frozenset[str]] = {}
        self.former_people: dict[str, frozenset[str]] = {}
        self.removed_groups: dict[str, bool] = {}
        # Name of a created partition -> its number; lab that ever moved -> the number of its partition.
        self.partitions: dict[str, int] = {}
        self.lab_partitions: dict[str, int] = {}
        # Partition -> its configuration, without which the defaults hold; its queues, and its job filters by
        # name.
        self.configurations: dict[int, Mapping[str, Any]] = {}
        self.queue_trees: dict[int, QueueTree] = {}
        self.job_filters: dict[int, Mapping[str, Mapping[str, Any]]] = {}

    def partition_number(self, name: str) -> int | None:
        """Return the number of the partition that has a name now, None without one."""
        return DEFAULT_PARTITION if name == DEFAULT_NAME else self.partitions.get(name)

    def partition_of_lab(self, lab: str) -> int:
        """Return the number of the partition of a lab, 0 for none."""
        return self.lab_partitions.get(lab, DEFAULT_PARTITION)

    def configuration_of(self, partition: int) -> Mapping[str, Any]:
        """Return the configuration of a partition; missing sections and fields have their defaults."""
        return self.configurations.get(partition, {})

    def queue_tree_of(self, partition: int) -> QueueTree:
        """Return the queues of a partition."""
        return self.queue_trees.get(partition, NO_QUEUES)

    def job_filters_of(self, partition: int) -> Mapping[str, Mapping[str, Any]]:
        """Return the documents of the job filters of a partition, by name."""
        return self.job_filters.get(partition, {})

    def _directory_tables(self) -> tuple[dict[Any, Any], ...]:
        """Return all these tables."""
        places = self.trees, self.enabled, self.silent, self.lab_partitions, self.pools
        people = self.policies, self.people, self.former_people, self.removed_groups
        rules = self.queue_trees, self.configurations, self.job_filters
        return *places, *people, self.partitions, *rules
