"""The five priorities of a recipe set."""

from __future__ import annotations

from enum import IntEnum


class Priority(IntEnum):
    """Priorities in ascending order: `max` returns the most urgent. The names are those in job documents."""

    Low = 1
    Medium = 2
    Normal = 3
    High = 4
    Urgent = 5
