"""Work done for triggers, counted, so that a test can hold it against the size of the lab."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Effort:
    """Filters held against the lab or some systems of it, and entries and rows looked at."""

    evaluations: int = 0
    rows: int = 0
