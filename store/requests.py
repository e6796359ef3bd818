"""What is asked of the log, and what it answers."""

from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from domain.errors import LabledgerError
from domain.events import Change
from domain.job.submission import Original
from domain.recipe.events import RecipeNew


@dataclass(frozen=True)
class Fence:
    """By which lease, and which epoch of it, a decision is appended."""

    lease: str
    epoch: int


@dataclass(frozen=True)
class AppendRequest:
    """Changes that go into the log together or not at all.

    The caller gives `command_id` once: the same id again writes nothing and gets the first answer, so a
    caller that lost the answer finds the commit. `expected` are the versions of the aggregates that the
    changes rest on, 0 for one that does not exist yet; each changed subject must be among them. `digest` and
    `answer` are kept with the commit for a repeated request. `new_recipes` is the number of recipes that the
    changes begin, by owner. `original` are the submitted bytes, which are stored beside the log.
    """

    command_id: str
    changes: tuple[Change, ...]
    expected: dict[str, int]
    fence: Fence | None = None
    digest: bytes | None = None
    answer: bytes | None = None
    original: Original | None = None
    subjects: frozenset[str] = field(init=False)
    new_recipes: dict[str, int] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "subjects", frozenset(self.expected))
        owners = (change.event.owner for change in self.changes if isinstance(change.event, RecipeNew))
        object.__setattr__(self, "new_recipes", dict(Counter(owners)))
        missing = {change.subject for change in self.changes} - self.subjects
        if missing or not self.changes:
            raise ValueError(
                f"an append needs changes, and an expected version for each of {sorted(missing)}"
            )

    @property
    def actor(self) -> str:
        """Return the author of all changes."""
        return self.changes[0].stamp.actor


@dataclass(frozen=True)
class Committed:
    """The changes are in the log. `repeated`: they were already, by the same command id.

    `author_bytes` counts what their actor wrote on the UTC day of `recorded_at`, `unfinished_count` the
    unfinished recipes of the owner of new recipes, both with this commit; None where it changed neither.
    """

    first_position: int
    position: int
    recorded_at: datetime
    repeated: bool
    digest: bytes | None
    answer: bytes | None
    author_bytes: int | None = None
    unfinished_count: int | None = None


Outcome: TypeAlias = "Committed | Conflict | Fenced"


def new_command_id() -> str:
    return uuid.uuid4().hex


def require_committed(outcome: Outcome) -> Committed:
    """The commit of an append that went through; raises what it became instead."""
    if isinstance(outcome, Committed):
        return outcome
    raise outcome


class Conflict(LabledgerError):
    """Conflict with a concurrent change."""


class Fenced(LabledgerError):
    """The lease this was decided under belongs to somebody else now."""
