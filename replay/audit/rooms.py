"""Room: the free capacity under rate limits and the maximum of placed recipes (design 5.4)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from replay.audit.job_filters import Rule, applying
from replay.audit.tables import DEFAULT_PARTITION
from replay.audit.values import RecipeSet

_BUCKET = re.compile(r"rate-limit:([1-9][0-9]{0,8}):(.+)", re.DOTALL)

RULE, BUCKET, PLACED = "rule", "bucket", "placed recipes"


class Limit(NamedTuple):
    """A limit of a rule, of a bucket, or of placed recipes: at most `capacity` are used in the partition."""

    kind: str
    name: str
    capacity: int
    partition: int = DEFAULT_PARTITION

    def __str__(self) -> str:
        return " ".join(filter(None, (self.kind, self.name, f"({self.capacity})")))


Needs = Mapping[Limit, int]
"""The room that a set needs, by limit."""


def needs_of(
    recipe_set: RecipeSet, host_count: int, rules: Mapping[str, Rule], max_placed: int | None
) -> Needs:
    """Return the needs of a set under all limits that apply to it. A limit of placed recipes counts hosts."""
    needs: dict[Limit, int] = {}
    found = applying(rules, recipe_set) if rules else None
    if found is not None and found[1]["action"] == "RATE_LIMIT":
        needs[Limit(RULE, found[0], found[1]["limit"], recipe_set.partition)] = 1
    for reason in () if recipe_set.submitted is None else recipe_set.submitted.reasons:
        if bucket := _BUCKET.fullmatch(reason):
            needs[Limit(BUCKET, bucket[2], int(bucket[1]), recipe_set.partition)] = 1
    if max_placed is not None:
        needs[Limit(PLACED, "", max_placed, recipe_set.partition)] = host_count
    return needs


class Rooms:
    """The charged sets, which hold systems or have started, with their needs, and the used room. Mutable."""

    def __init__(self) -> None:
        self.charged: dict[int, Needs] = {}
        self._used = Counter[Limit]()

    def charge(self, set_id: int, needs: Needs | None) -> None:
        """Charge a set with these needs from now on, with None no longer."""
        self._used.subtract(self.charged.pop(set_id, {}))
        if needs is not None:
            self.charged[set_id] = needs
            self._used.update(needs)

    def free(self, limit: Limit) -> int:
        """Return the room under a limit; it is below 0 if the limit came later."""
        return limit.capacity - self.used(limit)

    def used(self, limit: Limit) -> int:
        """Return the room that charged sets use under a limit."""
        return self._used[limit]

    def lacking(self, needs: Needs) -> list[Limit]:
        """Return the limits that have too little room for these needs."""
        return [limit for limit, count in needs.items() if self.free(limit) < count]
