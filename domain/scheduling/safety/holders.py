"""The sets that are bound to each lab, with cached completion plans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from domain.scheduling.safety.completion import Holder
from domain.scheduling.safety.plans import Plans


@dataclass
class LabHolders:
    """The sets bound to one lab.

    `hosts` counts the hosts that bind each set to the lab. `unread` are the sets that are not in `plans` yet.
    `stuck` is True if the plans have shown that not all sets can be completed.
    """

    hosts: dict[int, int] = field(default_factory=dict)
    unread: dict[int, None] = field(default_factory=dict)
    plans: Plans = field(default_factory=Plans)
    stuck: bool = False


class Holders:
    """Mutable: `bind` and `unbind` each host, `clear` when the usable systems have changed.

    `hopeless` caches the results of `demanded_systems.is_hopeless` by set and lab; the entry of a set is
    removed when one of its recipes changes.
    """

    def __init__(self) -> None:
        self.hopeless: dict[int, dict[str, bool]] = {}
        self._labs = defaultdict[str, LabHolders](LabHolders)

    def bind(self, lab_controller: str, recipe_set_id: int) -> None:
        """Count one more host that binds a set to a lab."""
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
        """Invalidate all plans because the usable systems have changed."""
        self.hopeless.clear()
        for bound in self._labs.values():
            bound.plans = Plans()
            bound.unread = dict.fromkeys(bound.hosts)
            bound.stuck = False

    def of(self, lab_controller: str) -> tuple[int, ...]:
        """Return the sets that hold some but not all of their systems in a lab."""
        bound = self._labs.get(lab_controller)
        return () if bound is None else tuple(sorted(bound.hosts))

    def plans(self, lab_controller: str, read: Callable[[int], Holder]) -> Plans | None:
        """Return plans to complete all holders of a lab, None if impossible; `read` returns a new holder."""
        bound = self._labs[lab_controller]
        if bound.stuck:
            return None
        for recipe_set_id in list(bound.unread):
            # Holders that cannot all be completed remain so if more are added, so stop here.
            if not bound.plans.put(read(recipe_set_id)):
                bound.stuck = True
                return None
            del bound.unread[recipe_set_id]
        return bound.plans
