"""Messages and silences of a simulated lab, with their times, as shared by machines, faults and
deliveries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Command = Mapping[str, Any]
Progress = Mapping[str, Any]
# progress: of a recipe. command: state of a command. system: a condition. silence: no message for a while.
Kind = Literal["progress", "command", "system", "silence"]

# Final states of a command.
ENDED = frozenset({"completed", "failed"})

# Places a late message behind its successor and before the next message.
OVERTAKEN = 1.5


@dataclass(frozen=True)
class LabStep:
    """A message, or a silence, due at a time.

    Host and guests are a family: `host_recipe_id` is the recipe's own id, or its host's for a guest. `number`
    is the place among the messages of the family; one that is `late` is sent after its successor. A `lasting`
    one does not end with the recipe.
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
        """Return whether the step ends with this recipe: its own step, or one of its guests."""
        return not self.lasting and recipe_id in (self.recipe_id, self.host_recipe_id)


def is_open(command: Command) -> bool:
    """Return whether there is something left to report. A command without a state has just been given."""
    return command.get("state", "queued") not in ENDED


def in_order(steps: Iterable[LabStep]) -> tuple[LabStep, ...]:
    return tuple(sorted(steps, key=lambda step: step.order))


def numbered(steps: Iterable[LabStep]) -> tuple[LabStep, ...]:
    """Return a family's steps sorted by time, and numbered."""
    by_time = sorted(steps, key=lambda step: step.due_seconds)
    return tuple(replace(step, number=number) for number, step in enumerate(by_time))
