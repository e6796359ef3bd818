"""Bitmaps of usable, idle and pending systems, by condition, draining, reservation, usage and lab."""

from __future__ import annotations

from typing import Final

from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.supply.labs import Labs
from domain.system.state import System
from domain.system.usage import is_automated, is_open

# The facts of a system before its first `put`.
NO_FACTS: Final = ("", False, False, "", False)


class Availability:
    """Mutable: `put` each new state of a system, `serve` each lab."""

    def __init__(self, labs: Labs) -> None:
        self._labs = labs
        self._idle = 0
        self._pending = 0
        self._open = 0
        self._automated = 0
        # The bitmap of Broken systems.
        self.broken = 0
        self._serving: dict[str, None] = {}
        self._facts: dict[str, tuple[str, bool, bool, str, bool]] = {}
        self._in_serving_labs: int | None = 0

    def put(self, system: System) -> bool:
        """Store a new state of a system; return whether more than its usage has changed."""
        before = self._facts.get(system.fqdn)
        # `usable` checks the lab itself, because a lab changes for all its systems at once.
        is_open_now, automated = is_open(system, lab_enabled=True), is_automated(system.condition)
        place = system.lab_controller, system.condition == "Broken"
        facts = (system.usage, is_open_now, automated, *place)
        if facts == before:
            return False
        self._facts[system.fqdn] = facts
        bit = 1 << self._labs.number(system.fqdn)
        old_usage, was_open, was_automated, _, was_broken = before or NO_FACTS
        # Each change of a bit copies the bitmap, which has a bit for each system of all labs.
        if (old_usage == "idle") != (system.usage == "idle"):
            self._idle ^= bit
        if (old_usage == "pending") != (system.usage == "pending"):
            self._pending ^= bit
        if before is not None and before[1:] == facts[1:]:
            return False
        if was_open != is_open_now:
            self._open ^= bit
        if was_automated != automated:
            self._automated ^= bit
        if was_broken != facts[-1]:
            self.broken ^= bit
        self._in_serving_labs = None
        return True

    def serve(self, lab_controller: str, serving: bool) -> None:
        """Store whether the systems of a lab may get recipes: the lab is enabled and not silent."""
        if serving:
            self._serving[lab_controller] = None
        else:
            self._serving.pop(lab_controller, None)
        self._in_serving_labs = None

    def usable(self, *, forced: bool) -> int:
        """Return the systems that recipes may have, now or when they come free, with force or without."""
        if self._in_serving_labs is None:
            self._in_serving_labs = union(self._labs.lab_controller[name] for name in self._serving)
        usable = self._open & self._in_serving_labs
        return usable if forced else usable & self._automated

    def idle(self, *, forced: bool) -> int:
        return self.usable(forced=forced) & self._idle

    def pending(self) -> int:
        """Return the pending systems that recipes may have."""
        return self.usable(forced=True) & self._pending
