"""Weights of recipe sets at the time of a decision, from the locks of the placed recipes."""

from __future__ import annotations

from typing import Any

from replay.audit.scheduler_view import SchedulerView
from replay.audit.weight_formula import remaining_ticks, settings_of, static_weight


class Weights:
    """The weights of sets at one moment; a change of the world invalidates them."""

    def __init__(self, view: SchedulerView, now: Any) -> None:
        self.settings = settings_of(view.configuration.get("weights", {}))
        self._view = view
        self._now = now
        self._of_holders: dict[int, int] = {}
        self._remaining: dict[Any, int] = {}

    def static(self, set_id: int) -> int:
        """Return the weight of a set before ageing. Its own recipes do not count."""
        number, placed = self._view.profile_number(set_id), self._view.placed
        own = placed.of_set(set_id)
        if own is None:
            return self.of_profile(number)
        if set_id not in self._of_holders:
            profile = self._view.profiles[number]
            self._of_holders[set_id] = static_weight(profile, placed, self.settings, own)
        return self._of_holders[set_id]

    def of_profile(self, number: int) -> int:
        """Return the weight before ageing of the sets of a profile that have no placed recipes."""
        return self._view.profiles.weight(number, self.settings)

    def weight(self, set_id: int) -> int:
        """Return the weight of a set, in thousandths times remaining ticks."""
        return self.static(set_id) * self.remaining_ticks(set_id)

    def remaining_ticks(self, set_id: int) -> int:
        """Return the ticks until a set weighs nothing."""
        submitted = self._view.sets[set_id].recorded_at
        if submitted not in self._remaining:
            self._remaining[submitted] = remaining_ticks(submitted, self._now, self.settings)
        return self._remaining[submitted]


def weights_at(view: SchedulerView, now: Any) -> Weights | None:
    """Return the weights, None if submission alone decides: no set declares locks, or they are disabled."""
    if not view.declaring:
        return None
    weights = Weights(view, now)
    return weights if weights.settings.is_enabled else None
