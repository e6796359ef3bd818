"""The steps of a simulated lab: messages and silences with their times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Command = Mapping[str, Any]
Progress = Mapping[str, Any]
# Progress of a recipe, state of a command, condition of a system, end of an occupation, or a time without
# messages.
Kind = Literal["progress", "command", "system", "vacant", "silence"]

# Final states of a command.
ENDED = frozenset({"completed", "failed"})

# Added to the number of a late message, to sort it after its successor and before the next message.
LATE_OFFSET = 1.5


@dataclass(frozen=True)
class LabStep:
    """A message, or a silence, due at a time.

    A host and its guests are a family: `host_recipe_id` is the id of the host for all of them. `number` is
    the index among the messages of the family. A `late` message is sent after its successor. A `lasting` one
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
        return self.due_seconds, self.number + (LATE_OFFSET if self.late else 0.0)

    def is_of(self, recipe_id: int) -> bool:
        """Return whether the step ends with this recipe: one about the recipe or one of its guests."""
        return not self.lasting and recipe_id in (self.recipe_id, self.host_recipe_id)


def is_open(command: Command) -> bool:
    """Return whether the end of a command is not reported yet. A command without a state is new."""
    return command.get("state", "queued") not in ENDED


def in_order(steps: Iterable[LabStep]) -> tuple[LabStep, ...]:
    return tuple(sorted(steps, key=lambda step: step.order))


def numbered(steps: Iterable[LabStep]) -> tuple[LabStep, ...]:
    """Return the steps of a family sorted by time and numbered."""
    by_time = sorted(steps, key=lambda step: step.due_seconds)
    return tuple(replace(step, number=number) for number, step in enumerate(by_time))
