"""How long recipes waited, were provisioned and ran: by what is counted, and in which phase a state is.

Whoever changes `BOUNDS` writes a migration that empties the read models: counts of other buckets are no use.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

from domain.recipe.lifecycle import BEFORE_START

_MINUTE, _HOUR, _DAY = 60.0, 3_600.0, 86_400.0

BOUNDS: Mapping[str, tuple[float, ...]] = {
    # From submission until its set was placed for good: an idle lab answers in a second, a full one in days.
    "wait": (
        *(1.0, 5.0, 15.0, 30.0, _MINUTE, 2 * _MINUTE, 5 * _MINUTE, 10 * _MINUTE, 30 * _MINUTE),
        *(_HOUR, 2 * _HOUR, 4 * _HOUR, 8 * _HOUR, 12 * _HOUR),
        *(_DAY, 2 * _DAY, 4 * _DAY, 7 * _DAY, 14 * _DAY),
    ),
    # From then until its first task began. A watchdog ends it after 3 hours, unless the job says otherwise.
    "provisioning": (
        *(10.0, 30.0, _MINUTE, 2 * _MINUTE, 3 * _MINUTE, 5 * _MINUTE, 10 * _MINUTE, 15 * _MINUTE),
        *(20 * _MINUTE, 30 * _MINUTE, 45 * _MINUTE, _HOUR, 2 * _HOUR, 3 * _HOUR),
    ),
    # From then until its last task ended, however it ended.
    "execution": (
        *(10.0, _MINUTE, 5 * _MINUTE, 15 * _MINUTE, 30 * _MINUTE),
        *(_HOUR, 2 * _HOUR, 4 * _HOUR, 8 * _HOUR, 12 * _HOUR, _DAY, 2 * _DAY, 4 * _DAY, 7 * _DAY),
    ),
}
"""Measure -> upper bounds of its buckets in seconds, themselves included; one more bucket has no bound."""

PHASES: Mapping[str, tuple[str, ...]] = {
    "queueing": BEFORE_START,
    "provisioning": ("waiting", "installing"),
    "execution": ("running",),
    "reserved": ("reserved",),
}
"""Phase -> the states it is made of. Unlike the measure "wait", queueing leaves out what a recipe spent on a
system that was withdrawn before it was provisioned.
"""


def bucket_of(measure: str, seconds: float) -> int:
    """The number of the bucket, from 0; that of the last is the number of bounds."""
    return bisect_left(BOUNDS[measure], seconds)
