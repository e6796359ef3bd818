"""Durations and faults of the machines of a simulated lab. All randomness comes from one seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class Behaviour:
    """The probabilities of faults, and the ranges of durations in seconds, which are divided by `speed`.

    `stall`, `fail` and `break` happen to recipes (`break` only to hosts), `vanish` to provisionings, `repeat`
    and `reorder` to messages, `trouble` to results. When the lab controller starts again, `lose` happens to
    begun provisionings, and `intrude` to the machines without one, by their last command. Each fault is drawn
    independently, so a change of one percentage does not change the other faults.
    """

    seed: int = 0
    speed: float = 1.0
    trouble_percent: float = 0.0
    stall_percent: float = 0.0
    fail_percent: float = 0.0
    break_percent: float = 0.0
    vanish_percent: float = 0.0
    repeat_percent: float = 0.0
    reorder_percent: float = 0.0
    lose_percent: float = 0.0
    intrude_percent: float = 0.0
    # The watchdog that a recipe requests when it installs and at each of its tasks; None: no request.
    watchdog_seconds: int | None = None
    boot_seconds: tuple[float, float] = (30.0, 120.0)
    install_seconds: tuple[float, float] = (300.0, 900.0)
    result_seconds: tuple[float, float] = (20.0, 300.0)
    repair_seconds: tuple[float, float] = (600.0, 3600.0)
    away_seconds: tuple[float, float] = (120.0, 900.0)
    max_results: int = 3
    # The address below which a server has the logs of results; None: results have no logs.
    logs_url: str | None = None

    def chance(self, *about: object) -> Random:
        """Return a random generator for a subject; each call returns one with the same seed."""
        return Random("/".join(map(str, (self.seed, *about))))

    def happens(self, fault: str, *about: object) -> bool:
        percent: float = getattr(self, f"{fault}_percent")
        return self.chance(fault, *about).random() * 100 < percent

    def seconds(self, of: tuple[float, float], *about: object) -> float:
        """Return a duration from a range, in the lab's own time."""
        return self.chance("seconds", *about).uniform(*of) / self.speed
