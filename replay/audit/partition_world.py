"""The world of one partition: its recipes, sets and rules, and the systems of all labs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.audit.queue_order import order_of
from replay.audit.queue_tree import DEFAULT_QUEUE, FAIR, QueueTree
from replay.audit.record import EventRecord
from replay.audit.state import State
from replay.audit.tables import DEFAULT_PARTITION, EVERYBODY
from replay.audit.values import Recipe
from replay.audit.world import FoldedWorld, is_folded

# The default of `order.most_overtaken`.
MAX_OVERTAKEN = 8

OF_JOBS = ("recipe", "recipe-set")
SUBMISSIONS = ("recipe.new", "recipe-set.submitted")


class PartitionWorld(FoldedWorld):
    """The world without the recipes and sets of other partitions, whose events change nothing. Mutable.

    It has the systems of all labs, so that a lab which arrives needs no look at its past.
    """

    def __init__(self, partition: int = DEFAULT_PARTITION) -> None:
        super().__init__()
        self.partition = partition

    def adopt(self, world: State) -> None:
        """Take over what a world has besides recipes and sets. A new partition has none of these."""
        for own, others in zip(self._directory_tables(), world._directory_tables(), strict=True):
            for key, value in others.items():
                self.put(own, key, value)
        for system in world.systems.values():
            self.put_system(system)

    # Queries

    def has_lab(self, lab: str) -> bool:
        """Return whether a lab belongs to the partition."""
        return self.partition_of_lab(lab) == self.partition

    @property
    def configuration(self) -> Mapping[str, Any]:
        """Return the configuration of the partition; missing sections and fields have their defaults."""
        return self.configuration_of(self.partition)

    @property
    def queue_tree(self) -> QueueTree:
        return self.queue_tree_of(self.partition)

    def queue_of(self, set_id: int) -> str:
        """Return the leaf of a set."""
        submitted = self.sets[set_id].submitted
        return DEFAULT_QUEUE if submitted is None else submitted.queue

    def is_in_fair_leaf(self, set_id: int) -> bool:
        tree = self.queue_tree
        return tree.has_turns and order_of(tree, self.queue_of(set_id)) == FAIR

    @property
    def bound_first(self) -> bool:
        """Return whether recipes whose set is bound to a lab rank before all others there, as configured."""
        order = self.configuration.get("order", {})
        return bool(order.get("assigned_first") == "always")

    @property
    def max_overtaken(self) -> int | None:
        """Return the number of overtakings at which a set is owed; None without a bound."""
        bound: int | None = self.configuration.get("order", {}).get("most_overtaken", MAX_OVERTAKEN)
        return bound

    def is_owed(self, recipe: Recipe) -> bool:
        """Return whether a waiting recipe ranks as one whose set is bound to the lab and weighs nothing."""
        bound = self.max_overtaken
        is_new = recipe.state == "new"
        return bound is not None and not is_new and self.overtakings.get(recipe.set_id, 0) >= bound

    def weighs_nothing(self, recipe: Recipe) -> bool:
        """Return whether a recipe has the weight 0 at any age: with the bound 0, new ones have it, too."""
        return self.max_overtaken == 0 or self.is_owed(recipe)

    # Folds

    def reads(self, record: EventRecord) -> bool:
        """Return whether an event may change this world."""
        if record.kind in OF_JOBS and record.partition not in (EVERYBODY, self.partition):
            return False
        return is_folded(record)

    def apply(self, record: EventRecord) -> None:
        if record.topic not in SUBMISSIONS or record.owning_partition == self.partition:
            super().apply(record)
