"""Append requests to the log, and their outcomes."""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import TypeAlias

from domain.errors import LabledgerError
from domain.events import Change
from domain.job.submission import Original
from domain.partition_numbers import EVERYBODY
from domain.recipe.events import RecipeNew
from domain.system_admin.power import PowerSettings

CHANCE = Random()
# A forked process would draw the same numbers as the first one.
os.register_at_fork(after_in_child=CHANCE.seed)


@dataclass(frozen=True)
class Fence:
    """The lease and the epoch under which a decision is appended."""

    lease: str
    epoch: int


@dataclass(frozen=True)
class PowerChange:
    """New power settings of a system, None to delete them."""

    fqdn: str
    settings: PowerSettings | None


@dataclass(frozen=True)
class AppendRequest:
    """Changes that are appended all together or not at all.

    `command_id` identifies the request: a repetition writes nothing and returns the first commit, for callers
    that lost the answer. `expected` has the versions of all aggregates that the changes depend on, 0 for a
    new one, and must contain each changed subject. `digest` and `answer` are stored for repeated requests.
    `partition` is that of all changes, or EVERYBODY. `new_recipes` counts by owner. `original` has the
    submitted bytes, which are stored beside the log. With `joins_seen` the request is in conflict if a system
    has joined a lab after this position; such a request must be appended alone. `power` changes the power
    settings of systems that `changes` change, each once; they are stored beside the log. In a group commit
    the requests of one `caller` wait for those of others. `address` is that of the client, which is stored
    beside the log; None if it is not kept.
    """

    command_id: str
    changes: tuple[Change, ...]
    expected: dict[str, int]
    fence: Fence | None = None
    digest: bytes | None = None
    answer: bytes | None = None
    original: Original | None = None
    partition: int = EVERYBODY
    joins_seen: int | None = None
    caller: str = ""
    power: tuple[PowerChange, ...] = ()
    address: str | None = None
    subjects: frozenset[str] = field(init=False)
    changed: frozenset[str] = field(init=False)
    new_recipes: dict[str, int] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "subjects", frozenset(self.expected))
        owners = (change.event.owner for change in self.changes if isinstance(change.event, RecipeNew))
        object.__setattr__(self, "new_recipes", dict(Counter(owners)))
        object.__setattr__(self, "changed", frozenset(change.subject for change in self.changes))
        missing = self.changed - self.subjects
        if missing or not self.changes:
            raise ValueError(
                f"an append needs changes, and an expected version for each of {sorted(missing)}"
            )

    @property
    def actor(self) -> str:
        return self.changes[0].stamp.actor


@dataclass(frozen=True)
class Committed:
    """The changes are in the log; if `repeated`, by an earlier request with the same command id.

    `author_bytes` is the number of bytes of the actor on the UTC day of `recorded_at`, `unfinished_count`
    that of unfinished recipes of the recipes' owner, both with this commit; None if the commit changes none.
    `preceding` is the last position before this commit that its partition reads; None without a fence.
    """

    first_position: int
    position: int
    recorded_at: datetime
    repeated: bool
    digest: bytes | None
    answer: bytes | None
    author_bytes: int | None = None
    unfinished_count: int | None = None
    preceding: int | None = None


Outcome: TypeAlias = "Committed | Conflict | Fenced"


def new_command_id() -> str:
    """Return a unique id of 32 hexadecimal digits that begins with the time.

    So commits of one time are neighbours in the index of command ids, which is large for a long log.
    """
    milliseconds = time.time_ns() // 1_000_000
    return f"{milliseconds:012x}{random_digits(20)}"


def random_digits(count: int) -> str:
    """Return this number of random hexadecimal digits. They are no secret.

    `secrets` asks the operating system, and releases the interpreter to other threads meanwhile, which delays
    the caller under load.
    """
    return f"{CHANCE.getrandbits(4 * count):0{count}x}"


def require_committed(outcome: Outcome) -> Committed:
    """Return the commit of a successful append; raise any other outcome."""
    if isinstance(outcome, Committed):
        return outcome
    raise outcome


class Conflict(LabledgerError):
    """Conflict with a concurrent change."""


class Fenced(LabledgerError):
    """The lease of this decision has another holder now."""
