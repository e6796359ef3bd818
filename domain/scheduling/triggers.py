"""What the scheduler has to answer, in log order, and what was answered already.

New jobs and pending systems stand until the log says otherwise. A wake-up, and the question who must let go,
leave no trace in the log when nothing comes of them: they are put aside once they were asked, and come back
only if the decisions of the same commit did not get into the log.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

NEW_JOB: Final = "new-job"
PENDING_SYSTEM: Final = "pending-system"
LET_GO: Final = "let-go"
WAKE_UP: Final = "wake-up"
TIMER: Final = "timer"

QUIET: Final = (LET_GO, WAKE_UP)


@dataclass(frozen=True, order=True)
class Trigger:
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
    """Mutable. `stands` says of a new job or pending system whether the log still waits for its answer."""

    def __init__(self, stands: Callable[[Trigger], bool]) -> None:
        self._log_wants = stands
        self._heap: list[Trigger] = []
        self._aside: list[Trigger] = []
        # Of each quiet question: where it was last raised, and up to where it is answered.
        self._raised: dict[tuple[str, str], int] = {}
        self._answered: dict[tuple[str, str], int] = {}
        self._answered_now: dict[tuple[str, str], int] = {}
        self._supposed: dict[str, None] = {}

    def push(self, trigger: Trigger) -> None:
        heapq.heappush(self._heap, trigger)
        if trigger.quiet:
            self._raised[trigger.kind, trigger.name] = trigger.position

    def first(self) -> Trigger | None:
        """The oldest trigger that still wants an answer."""
        while self._heap and not self._stands(self._heap[0]):
            self._aside.append(heapq.heappop(self._heap))
        return self._heap[0] if self._heap else None

    def _stands(self, trigger: Trigger) -> bool:
        if trigger.quiet:
            return trigger.position > self._answered_up_to((trigger.kind, trigger.name))
        return self._log_wants(trigger)

    def _answered_up_to(self, question: tuple[str, str]) -> int:
        return self._answered_now.get(question, self._answered.get(question, -1))

    def answered(self, trigger: Trigger, basis: int) -> None:
        """A quiet question is answered, with all of the log up to `basis` taken into account."""
        self._answered_now[trigger.kind, trigger.name] = basis

    def suppose_raised(self, name: str) -> None:
        """A wake-up that will be raised when a supposed event is in the log."""
        self._supposed[name] = None

    def waits(self, kind: str, name: str) -> bool:
        """Whether a quiet question is still to be answered."""
        question = (kind, name)
        return self._raised.get(question, -1) > self._answered_up_to(question)

    def to_be_asked(self) -> Iterator[str]:
        """The subjects of the wake-ups that wait: their idle systems are not free for a new job."""
        for kind, name in self._raised:
            if kind == WAKE_UP and self.waits(kind, name):
                yield name
        yield from self._supposed

    def committed(self) -> None:
        """What was decided is in the log: what was asked meanwhile is answered."""
        self._answered.update(self._answered_now)
        for question in self._answered_now:
            if self._raised.get(question, -1) <= self._answered[question]:
                self._raised.pop(question, None)
        if not self._heap:
            self._answered.clear()
        self._begin_again()

    def refused(self) -> None:
        """What was decided is not in the log: all of it is to be asked again."""
        for trigger in self._aside:
            heapq.heappush(self._heap, trigger)
        self._begin_again()

    def _begin_again(self) -> None:
        self._aside.clear()
        self._answered_now.clear()
        self._supposed.clear()

    def answered_before(self, position: int) -> None:
        """The log has an answer to the trigger at `position`: all quiet ones before it were answered, too.

        For who reads the log anew; the scheduler that gave the answers knows.
        """
        for question, raised in list(self._raised.items()):
            if raised < position:
                del self._raised[question]
            self._answered[question] = max(self._answered.get(question, -1), position - 1)
        while self._heap and self._heap[0].position < position and not self._stands(self._heap[0]):
            heapq.heappop(self._heap)
