"""What the scheduler has to answer, in log order, and what was answered already.

New jobs and pending systems stand until the log says otherwise. A wake-up, and the question who must let go,
leave no trace in the log when nothing comes of them: they are put aside once they were asked, and come back
only if the decisions of the same commit did not get into the log.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

NEW_JOB: Final = "new-job"
PENDING_SYSTEM: Final = "pending-system"
LET_GO: Final = "let-go"
WAKE_UP: Final = "wake-up"
TIMER: Final = "timer"

QUIET: Final = (LET_GO, WAKE_UP)


class Trigger(NamedTuple):
    """Something the scheduler must answer, at the log position that raised it.

    `name`: of a new job the id of the recipe set, of a pending system its name, of let-go the lab controller,
    of a wake-up the subject whose systems are asked, of a timer what has run out.
    """

    position: int
    kind: str
    name: str

    @property
    def cause(self) -> str:
        return f"timer/{self.name}" if self.kind == TIMER else f"event/{self.position}"

    @property
    def quiet(self) -> bool:
        return self.kind in QUIET


class Triggers:
    """Mutable. `log_wants` says of a new job or pending system whether the log still waits for its answer.

    What waits follows from the log alone: a quiet question waits until a trigger behind it is answered.
    """

    def __init__(self, log_wants: Callable[[Trigger], bool]) -> None:
        self._log_wants = log_wants
        self._heap: list[Trigger] = []
        self._aside: list[Trigger] = []
        # How often each quiet question waits; the subjects of wake-ups that supposed events will raise.
        self._waiting: Counter[tuple[str, str]] = Counter()
        self._supposed: dict[str, None] = {}

    def push(self, trigger: Trigger) -> None:
        heapq.heappush(self._heap, trigger)
        if trigger.quiet:
            self._waiting[trigger.kind, trigger.name] += 1

    def _pop(self) -> Trigger:
        trigger = heapq.heappop(self._heap)
        if trigger.quiet:
            question = (trigger.kind, trigger.name)
            self._waiting[question] -= 1
            if not self._waiting[question]:
                del self._waiting[question]
        return trigger

    def waiting(self) -> list[Trigger]:
        """All that want an answer, oldest first."""
        return sorted(trigger for trigger in self._heap if self._stands(trigger))

    def first(self) -> Trigger | None:
        """The oldest trigger that still wants an answer."""
        while self._heap and not self._stands(self._heap[0]):
            self._aside.append(self._pop())
        return self._heap[0] if self._heap else None

    def _stands(self, trigger: Trigger) -> bool:
        return trigger.quiet or self._log_wants(trigger)

    def take_quiet(self) -> Trigger:
        """The first trigger, a quiet one, which is being answered now; right behind it, the same is meant."""
        trigger = self._pop()
        assert trigger.quiet, "the log says when the others are answered"
        self._aside.append(trigger)
        while self._heap and (self._heap[0].kind, self._heap[0].name) == (trigger.kind, trigger.name):
            self._aside.append(self._pop())
        return trigger

    def waits(self, kind: str, name: str) -> bool:
        """Whether a quiet question is still to be answered."""
        return (kind, name) in self._waiting

    def suppose_raised(self, name: str) -> None:
        """A wake-up that will be raised when a supposed event is in the log."""
        self._supposed[name] = None

    def to_be_asked(self) -> Iterator[str]:
        """The subjects of the wake-ups that wait: the queue is asked about their idle systems first."""
        yield from (name for kind, name in self._waiting if kind == WAKE_UP)
        yield from self._supposed

    def committed(self) -> None:
        """What was decided is in the log: what was asked meanwhile is answered."""
        self._aside.clear()
        self._supposed.clear()

    def refused(self) -> None:
        """What was decided is not in the log: all of it is to be asked again."""
        for trigger in self._aside:
            self.push(trigger)
        self.committed()

    def answered_before(self, position: int) -> None:
        """The log has an answer to the trigger at `position`: all before it were answered, too.

        For who reads the log anew; the scheduler that gave the answers knows.
        """
        while self._heap and self._heap[0].position < position:
            trigger = self._pop()
            if not trigger.quiet and self._log_wants(trigger):
                self._aside.append(trigger)
        self.refused()
