"""What is known of one filter."""

from __future__ import annotations

from dataclasses import dataclass, field

from domain.scheduling.supply.filter_key import FilterKey


@dataclass
class Entry:
    """A filter with its unplaced recipes, by the number of their who. `viable` is None until it is asked."""

    key: FilterKey
    number: int
    viable: int | None = None
    unplaced: dict[int, int] = field(default_factory=dict)
