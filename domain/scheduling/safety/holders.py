"""Which sets are kept in which lab by systems they hold, and how they can be completed: read when somebody
asks, and kept until it is not so any more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from domain.scheduling.safety.completion import Holder
from domain.scheduling.safety.plans import Plans


@dataclass
class LabHolders:
    """The sets of one lab: how many of its hosts keep each there, who is not in the plans yet.

    `stuck`: it was tried, and not all of them can be completed.
    """

    hosts: dict[int, int] = field(default_factory=dict)
    unread: dict[int, None] = field(default_factory=dict)
    plans: Plans = field(default_factory=Plans)
    stuck: bool = False


class Holders:
    """Mutable: `bind` and `unbind` each host, `clear` when other systems are usable.

    `hopeless` is what `wanted.hopeless` found of sets that wait, holders or not, by lab: to be taken out when
    a recipe of the set has changed.
    """

    def __init__(self) -> None:
        self.hopeless: dict[int, dict[str, bool]] = {}
        self._labs = defaultdict[str, LabHolders](LabHolders)

    def bind(self, lab_controller: str, recipe_set_id: int) -> None:
        """One more of its hosts keeps a set in a lab."""
        bound = self._labs[lab_controller]
        bound.hosts[recipe_set_id] = bound.hosts.get(recipe_set_id, 0) + 1
        self._changed(bound, recipe_set_id)

    def unbind(self, lab_controller: str, recipe_set_id: int) -> None:
        bound = self._labs[lab_controller]
        bound.hosts[recipe_set_id] -= 1
        if not bound.hosts[recipe_set_id]:
            del bound.hosts[recipe_set_id]
        self._changed(bound, recipe_set_id)

    def _changed(self, bound: LabHolders, recipe_set_id: int) -> None:
        bound.plans.remove(recipe_set_id)
        bound.stuck = False
        if recipe_set_id in bound.hosts:
            bound.unread[recipe_set_id] = None
        else:
            bound.unread.pop(recipe_set_id, None)

    def clear(self) -> None:
        """What is usable has changed."""
        self.hopeless.clear()
        for bound in self._labs.values():
            bound.plans = Plans()
            bound.unread = dict.fromkeys(bound.hosts)
            bound.stuck = False

    def of(self, lab_controller: str) -> tuple[int, ...]:
        """The sets that hold some but not all of their systems, which are of this lab."""
        bound = self._labs.get(lab_controller)
        return () if bound is None else tuple(sorted(bound.hosts))

    def plans(self, lab_controller: str, read: Callable[[int], Holder]) -> Plans | None:
        """How all of them can be completed, None if they cannot; `read` those that are not known."""
        bound = self._labs[lab_controller]
        if bound.stuck:
            return None
        for recipe_set_id in list(bound.unread):
            # Who cannot be completed beside some of the others cannot be beside all of them.
            if not bound.plans.put(read(recipe_set_id)):
                bound.stuck = True
                return None
            del bound.unread[recipe_set_id]
        return bound.plans
