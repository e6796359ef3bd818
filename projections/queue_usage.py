"""The usage of queues, folded from that of leaves: each queue has that of the queues below it, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.queues.tree import paths_upward

COUNTS = ("used", "jobs", "waiting")
"""The systems that recipes of a queue hold, its jobs with systems, and its waiting hosts."""


@dataclass
class QueueUsage:
    """The counts of all queues, each with those below it. Mutable: `add` the rows of `usage_of_queues`."""

    by_path: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, leaf: str, counts: Mapping[str, int]) -> None:
        for path in paths_upward(leaf):
            self.by_path.setdefault(path, Counter()).update({name: counts[name] for name in COUNTS})

    def of(self, path: str) -> dict[str, int]:
        counts = self.by_path.get(path, Counter())
        return {name: counts[name] for name in COUNTS}
