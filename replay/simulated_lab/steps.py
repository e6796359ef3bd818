"""What a simulated lab says or does, and when: the vocabulary that machines, faults and deliveries share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Command = Mapping[str, Any]
Progress = Mapping[str, Any]
# progress: of a recipe. command: how far a command is. system: a condition. silence: nothing for a while.
Kind = Literal["progress", "command", "system", "silence"]

# States of a command that stay.
ENDED = frozenset({"completed", "failed"})

# Later than its own number, and before the next: where a message that was overtaken is said.
OVERTAKEN = 1.5


@dataclass(frozen=True)
class Step:
    """A message, or a silence, due at a time.

    `host_recipe_id` is the recipe's own unless it is a guest: host and guests are a family. `number` is the
    place among what the family has to say; one that is `late` is said after its successor. What is `lasting`
    does not end with the recipe.
    """

    due_seconds: float
    system: str
    kind: Kind
    body: Mapping[str, Any] = field(hash=False)
    recipe_id: int | None = None
    host_recipe_id: int | None = None
    number: int = 0
    late: bool = False
    lasting: bool = False
    # The id of the command that a `command` step reports on.
    command: int | None = None

    @property
    def order(self) -> tuple[float, float]:
        return self.due_seconds, self.number + (OVERTAKEN if self.late else 0.0)

    def is_of(self, recipe_id: int) -> bool:
        """Whether it ends with this recipe: its own, or a guest's of it."""
        return not self.lasting and recipe_id in (self.recipe_id, self.host_recipe_id)


def is_open(command: Command) -> bool:
    """Whether there is something left to report; a command without a state has just been given."""
    return command.get("state", "queued") not in ENDED


def in_order(steps: Iterable[Step]) -> tuple[Step, ...]:
    return tuple(sorted(steps, key=lambda step: step.order))


def numbered(steps: Iterable[Step]) -> tuple[Step, ...]:
    """A family's steps by time, each with its place."""
    by_time = sorted(steps, key=lambda step: step.due_seconds)
    return tuple(replace(step, number=number) for number, step in enumerate(by_time))
