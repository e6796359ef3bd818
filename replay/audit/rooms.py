"""Room: the free capacity under rate limits and maxima of placed recipes and queues (design 5.4, 6.2)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from replay.audit.job_filters import Rule, applying
from replay.audit.queue_tree import JOBS, NO_QUEUES, QueueTree, maxima
from replay.audit.tables import DEFAULT_PARTITION
from replay.audit.values import RecipeSet

_BUCKET = re.compile(r"rate-limit:([1-9][0-9]{0,8}):(.+)", re.DOTALL)

RULE, BUCKET, PLACED, QUEUE, QUEUE_JOBS = "rule", "bucket", "placed recipes", "queue", "jobs of a queue"

# The kinds of limits that count the hosts of a set.
COUNTING_HOSTS = (PLACED, QUEUE)


class Limit(NamedTuple):
    """A limit of a rule, bucket, placed recipes or queue: at most `capacity` are used in the partition."""

    kind: str
    name: str
    capacity: int
    partition: int = DEFAULT_PARTITION

    def __str__(self) -> str:
        if self.kind in (QUEUE, QUEUE_JOBS):
            return self.name
        return " ".join(filter(None, (self.kind, self.name, f"({self.capacity})")))


Needs = Mapping[Limit, int]
"""The room that a set needs, by limit."""

NO_NEEDS: Needs = {}


def needs_of(
    recipe_set: RecipeSet,
    host_count: int,
    rules: Mapping[str, Rule],
    max_placed: int | None,
    tree: QueueTree = NO_QUEUES,
) -> Needs:
    """Return the needs of a set under all limits that apply to it. Maxima of systems count its hosts."""
    needs: dict[Limit, int] = {}
    found = applying(rules, recipe_set) if rules else None
    if found is not None and found[1]["action"] == "RATE_LIMIT":
        needs[Limit(RULE, found[0], found[1]["limit"], recipe_set.partition)] = 1
    for reason in () if recipe_set.submitted is None else recipe_set.submitted.reasons:
        if bucket := _BUCKET.fullmatch(reason):
            needs[Limit(BUCKET, bucket[2], int(bucket[1]), recipe_set.partition)] = 1
    if max_placed is not None:
        needs[Limit(PLACED, "", max_placed, recipe_set.partition)] = host_count
    if tree.named and recipe_set.submitted is not None:
        facts = recipe_set.submitted
        for maximum in maxima(tree, facts.queue, facts.owner, facts.group):
            kind, count = (QUEUE_JOBS, 1) if maximum.unit == JOBS else (QUEUE, host_count)
            needs[Limit(kind, str(maximum), maximum.capacity, recipe_set.partition)] = count
    return needs


class Rooms:
    """The charged sets, which hold systems or have started, with their needs, and the used room. Mutable.

    A job uses one place under a maximum of jobs, however many of its sets are charged.
    """

    def __init__(self) -> None:
        self.charged: dict[int, Needs] = {}
        self._used = Counter[Limit]()
        self._sets_of_jobs: dict[Limit, Counter[int]] = {}
        self._jobs: dict[int, int] = {}

    def charge(self, set_id: int, job_id: int, needs: Needs | None) -> None:
        """Charge a set of a job with these needs from now on, with None no longer."""
        self._use(self._jobs.pop(set_id, job_id), self.charged.pop(set_id, {}), -1)
        if needs is not None:
            self.charged[set_id], self._jobs[set_id] = needs, job_id
            self._use(job_id, needs, 1)

    def _use(self, job_id: int, needs: Needs, step: int) -> None:
        for limit, count in needs.items():
            if limit.kind != QUEUE_JOBS:
                self._used[limit] += step * count
                continue
            jobs = self._sets_of_jobs.setdefault(limit, Counter())
            jobs[job_id] += step
            if not jobs[job_id]:
                del jobs[job_id]

    @property
    def is_any_used(self) -> bool:
        """Return whether a set was ever charged under a limit."""
        # Limits stay in both with a sum of 0.
        return bool(self._used or self._sets_of_jobs)

    def uncharged(self, job_id: int, needs: Needs) -> Needs:
        """Return needs without the maxima of jobs under which a job is charged already."""
        jobs = self._sets_of_jobs
        return {limit: count for limit, count in needs.items() if job_id not in jobs.get(limit, ())}

    def free(self, limit: Limit) -> int:
        """Return the room under a limit; it is below 0 if the limit came later."""
        return limit.capacity - self.used(limit)

    def used(self, limit: Limit) -> int:
        """Return the room that charged sets use under a limit."""
        return len(self._sets_of_jobs.get(limit, ())) if limit.kind == QUEUE_JOBS else self._used[limit]

    def lacking(self, needs: Needs) -> list[Limit]:
        """Return the limits that have too little room for these needs."""
        return [limit for limit, count in needs.items() if self.free(limit) < count]
