"""The five priorities a submitter may ask for."""

from __future__ import annotations

from enum import IntEnum


class Priority(IntEnum):
    """Ascending, so that `max` is the most urgent. The names are those of the job language."""

    Low = 1
    Medium = 2
    Normal = 3
    High = 4
    Urgent = 5
