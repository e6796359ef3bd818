"""What a case is given, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

Figures = Mapping[str, float]
"""Numbers by name; the name ends with the unit."""


@dataclass(frozen=True)
class Sizes:
    """`sets` is how many recipes a recipe set has at most (None: as the case has it), `rate` how many recipes
    end each second, `events` how long a log is that is read from its beginning. `policies`, out of 1, is how
    many systems have an access policy, in so many `pools` of so many `groups`; 0: all are open to everybody,
    in the few pools that a made-up lab has.
    """

    systems: int
    queued: int
    filters: int
    sets: int | None
    rate: float
    seconds: float
    seed: int
    events: int = 0
    pools: int = 0
    groups: int = 0
    policies: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """`limits` are what the machine itself did in the same run, `ratios` figures beside them."""

    case: str
    sizes: Sizes
    figures: Figures
    limits: Figures = field(default_factory=dict)
    ratios: Figures = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        return asdict(self)
