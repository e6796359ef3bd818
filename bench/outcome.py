"""The sizes of a case, its progress and its outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

Figures = Mapping[str, float]
"""Numbers by name. A name with a unit ends with it."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of a case.

    `sets` is the maximum number of recipes in a set (None: the default of the case), `rate` the number of
    recipes that end per second, `events` the length of a log that is read from its beginning. `policies` is
    the share (0 to 1) of systems with an access policy, in `pools` pools of `groups` groups; with 0 all
    systems are open to everybody, in the few pools of a generated lab.

    Each recipe set declares resource locks at `locks` levels, those of one of `profiles` profiles; with
    `aged` they have waited K ticks. `job_filters` match nobody; each set is in one of `buckets` buckets.
    With `queues`, the jobs are in that many leaves of a queue tree. A request of `submit` has `batch` jobs.
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
    locks: int = 0
    profiles: int = 0
    aged: bool = False
    job_filters: int = 0
    buckets: int = 0
    queues: int = 0
    batch: int = 1


@dataclass(frozen=True)
class CaseOutcome:
    """The figures of a case, the limits of the machine in the same run, and ratios of the two."""

    case: str
    sizes: Sizes
    figures: Figures
    limits: Figures = field(default_factory=dict)
    ratios: Figures = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        return asdict(self)


ProgressCallback = Callable[[str, int, int], None]
"""Called with the name of a step, the completed amount, and the total."""


def no_progress(step: str, done: int, total: int) -> None:
    """Ignore the progress."""
