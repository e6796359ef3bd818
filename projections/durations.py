"""Measures, phases and buckets of recipe durations. New `BOUNDS` need a migration that empties the counts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

from domain.priority import Priority
from domain.recipe.lifecycle import BEFORE_START
from domain.recipe_set.provisioning import BEFORE_FIRST_TASK

_MINUTE, _HOUR, _DAY = 60.0, 3_600.0, 86_400.0

BOUNDS: Mapping[str, tuple[float, ...]] = {
    # From submission until the set is placed for good: a second in an idle lab, days in a full one.
    # Time in which the set waits for its locks is not included.
    "wait": (
        *(1.0, 5.0, 15.0, 30.0, _MINUTE, 2 * _MINUTE, 5 * _MINUTE, 10 * _MINUTE, 30 * _MINUTE),
        *(_HOUR, 2 * _HOUR, 4 * _HOUR, 8 * _HOUR, 12 * _HOUR),
        *(_DAY, 2 * _DAY, 4 * _DAY, 7 * _DAY, 14 * _DAY),
    ),
    # From the last system of the set until its resource locks, of sets that do not get both at once.
    "locking": (
        *(1.0, 5.0, 15.0, 30.0, _MINUTE, 2 * _MINUTE, 5 * _MINUTE, 10 * _MINUTE, 30 * _MINUTE),
        *(_HOUR, 2 * _HOUR, 4 * _HOUR, 8 * _HOUR, 12 * _HOUR, _DAY, 2 * _DAY, 4 * _DAY, 7 * _DAY),
    ),
    # From the start, with all systems and locks, until the first task begins. A watchdog ends this after 3
    # hours, unless the job sets another time.
    "provisioning": (
        *(10.0, 30.0, _MINUTE, 2 * _MINUTE, 3 * _MINUTE, 5 * _MINUTE, 10 * _MINUTE, 15 * _MINUTE),
        *(20 * _MINUTE, 30 * _MINUTE, 45 * _MINUTE, _HOUR, 2 * _HOUR, 3 * _HOUR),
    ),
    # From the same start until the recipe is given up before its first task.
    "failure": (*(10.0, _MINUTE, 5 * _MINUTE, 10 * _MINUTE, 30 * _MINUTE, _HOUR, 2 * _HOUR, 3 * _HOUR),),
    # Until the last task ends, with any result.
    "execution": (
        *(10.0, _MINUTE, 5 * _MINUTE, 15 * _MINUTE, 30 * _MINUTE),
        *(_HOUR, 2 * _HOUR, 4 * _HOUR, 8 * _HOUR, 12 * _HOUR, _DAY, 2 * _DAY, 4 * _DAY, 7 * _DAY),
    ),
}
"""Measure -> inclusive upper bounds of its buckets in seconds; the last bucket has no bound."""

LABELS: Mapping[str, tuple[str, ...]] = {
    "wait": tuple(priority.name for priority in Priority),
    # The state in which the provisioning failed.
    "failure": BEFORE_FIRST_TASK,
}
"""Measure -> the values of its label; the other measures have the empty one."""

NO_LABEL = ""

PHASES: Mapping[str, tuple[str, ...]] = {
    "queueing": BEFORE_START,
    "locking": (),
    "provisioning": ("waiting", "installing"),
    "execution": ("running",),
    "reserved": ("reserved",),
}
"""Phase -> its states. A recipe in the state `waiting` without its resource locks is in the phase "locking".

Unlike the measure "wait", queueing excludes time on a system that was withdrawn before its provisioning.
"""


def phase_of(state: str, awaits_locks: bool) -> str:
    """Return the phase of an unfinished recipe."""
    return "locking" if awaits_locks else _PHASE_OF[state]


_PHASE_OF = {state: phase for phase, states in PHASES.items() for state in states}


def bucket_of(measure: str, seconds: float) -> int:
    """Return the index of the bucket, from 0; the unbounded bucket is the last."""
    return bisect_left(BOUNDS[measure], seconds)
