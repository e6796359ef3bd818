"""The unanswered triggers of a scheduler, and the batch that it is answering (design 4.2).

A batch holds every trigger up to one basis. Its kinds are answered one after another, in the order of
`ORDER`; later triggers wait until the batch is answered, so that no trigger starves.

- Admission comes first: the sets that it ends stand in no line, so nothing else depends on them.
- Locks come next: a set that waits for its locks, and can have them, must not be overtaken by a set that gets
  its last system in the same batch.
- Let-go comes next: while holders of a lab cannot be completed, grants there are refused as unsafe, and a
  pending system would become idle for nothing.
- Pending systems come before wake-ups: a wake-up could give a set its first system, and so a higher rank in
  that lab, before the queue was searched for the pending system.
- New sets come after these: recipes in the queue come first for systems that came free.
- Claims come last: a recipe that got a system claims none.

A new set or a pending system is answered by events in the log. Admission, locks, let-go, wake-ups and claims
are quiet: without an ended set, locks, a let-go, a grant or a claim they leave no event. Therefore each
commit records its batch, and the first kind that it leaves unanswered. A quiet kind is answered as a whole,
by decisions until there is none left. So the record suffices for another scheduler to continue.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from itertools import chain
from typing import Final, NamedTuple

from domain.events import Batch

NEW_JOB: Final = "new-job"
PENDING_SYSTEM: Final = "pending-system"
ADMISSION: Final = "admission"
LOCKS: Final = "locks"
LET_GO: Final = "let-go"
WAKE_UP: Final = "wake-up"
CLAIMS: Final = "claims"
TIMER: Final = "timer"

QUIET: Final = (ADMISSION, LOCKS, LET_GO, WAKE_UP, CLAIMS)
ORDER: Final = (ADMISSION, LOCKS, LET_GO, PENDING_SYSTEM, WAKE_UP, NEW_JOB, CLAIMS)


class Trigger(NamedTuple):
    """A trigger that the scheduler must answer, with the log position that raised it.

    `name` depends on the kind. New job: the id of the recipe set. Pending system: the name of the system.
    Admission: the subject of the event that may end sets. Locks: the partition. Let-go: the lab controller.
    Wake-up: a subject that names systems. Claims: a system, a recipe or a lab controller, as a subject.
    Timer: such as `watchdog/12`.
    """

    position: int
    kind: str
    name: str

    @property
    def cause(self) -> str:
        return f"timer/{self.name}" if self.kind == TIMER else f"event/{self.position}"

    @property
    def is_quiet(self) -> bool:
        return self.kind in QUIET


SortKey = tuple[int, ...]
Waiting = tuple[SortKey, Trigger]


class Triggers:
    """Triggers and their batch. Mutable.

    `is_due` returns whether a new set or pending system is unanswered according to the state; `rank_of` and
    `queue_of` return the rank of a new set, and the queue in which it has this rank.
    """

    def __init__(
        self,
        is_due: Callable[[Trigger], bool],
        rank_of: Callable[[Trigger], SortKey],
        queue_of: Callable[[Trigger], str],
    ) -> None:
        self._is_due = is_due
        self._rank_of = rank_of
        self._queue_of = queue_of
        # The bounds of the batch; they are equal when all of it is answered.
        self._after = 0
        self._upto = 0
        self._in_log = (0, 0)
        # By kind, then by queue, which is empty for all but new sets.
        self._batch: dict[str, dict[str, list[Waiting]]] = {kind: {} for kind in ORDER}
        self._later: list[Trigger] = []
        self._aside: list[Trigger] = []
        # Whether a new set has a lower rank than `rank_of` says.
        self._is_ranked_down = False
        # The number of waiting quiet triggers by key, and the subjects of wake-ups that tentative events will
        # raise.
        self._waiting: Counter[tuple[str, str]] = Counter()
        self._tentative: dict[str, None] = {}

    def push(self, trigger: Trigger) -> None:
        if trigger.kind in QUIET:
            self._waiting[trigger.kind, trigger.name] += 1
        if trigger.position <= self._upto:
            self._push_into_batch(trigger)
        else:
            heapq.heappush(self._later, trigger)

    def _push_into_batch(self, trigger: Trigger) -> None:
        """Push a trigger with its sort key: the rank of a new set, the position of other triggers."""
        key: SortKey = (trigger.position,)
        queue = ""
        if trigger.kind == NEW_JOB:
            key, queue = self._rank_of(trigger), self._queue_of(trigger)
        heapq.heappush(self._batch[trigger.kind].setdefault(queue, []), (key, trigger))

    def _put_aside(self, trigger: Trigger) -> None:
        self._aside.append(trigger)
        if trigger.kind in QUIET:
            key = (trigger.kind, trigger.name)
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key]

    def _is_unanswered(self, trigger: Trigger) -> bool:
        return trigger.kind in QUIET or self._is_due(trigger)

    def rank_first(self, queue: str, rank: SortKey) -> bool:
        """Give the first new set of a queue in the batch a lower rank; return whether that changes it."""
        heap = self._batch[NEW_JOB][queue]
        before, trigger = heap[0]
        heapq.heapreplace(heap, (rank, trigger))
        self._is_ranked_down = self._is_ranked_down or before != rank
        return before != rank

    def rank_again(self) -> None:
        """Reset the ranks that `rank_first` has lowered, which other answers may have made invalid."""
        if self._is_ranked_down:
            self.ranks_changed()

    def ranks_changed(self) -> None:
        """Refresh the ranks and queues of all new sets of the batch."""
        self._is_ranked_down = False
        new_sets, self._batch[NEW_JOB] = self._batch[NEW_JOB], {}
        for _, trigger in chain.from_iterable(new_sets.values()):
            self._push_into_batch(trigger)

    # Waiting triggers

    def __bool__(self) -> bool:
        """Return whether any trigger waits for an answer."""
        while self._later and not self._is_unanswered(self._later[0]):
            self._put_aside(heapq.heappop(self._later))
        return bool(self._later) or self.left() is not None

    @property
    def has_quiet(self) -> bool:
        """Return whether a quiet trigger waits. It may have been answered by now."""
        return bool(self._waiting)

    def waiting(self) -> list[Trigger]:
        """Return all triggers that wait for an answer, oldest first."""
        return sorted(trigger for trigger in self._all() if self._is_unanswered(trigger))

    def _all(self) -> list[Trigger]:
        return [trigger for kind in ORDER for trigger in self._of_kind(kind)] + self._later

    def _of_kind(self, kind: str) -> Iterator[Trigger]:
        return (trigger for _, trigger in chain.from_iterable(self._batch[kind].values()))

    def has_unanswered(self, kind: str, name: str) -> bool:
        """Return whether a quiet trigger of this kind and name is unanswered."""
        return (kind, name) in self._waiting

    def raise_tentatively(self, name: str) -> None:
        """Record a wake-up that a tentative event will raise once it is in the log."""
        self._tentative[name] = None

    def pending_wake_ups(self) -> Iterator[str]:
        """Yield the subjects of unanswered wake-ups, including those of tentative events."""
        yield from (name for kind, name in self._waiting if kind == WAKE_UP)
        yield from self._tentative

    # The batch

    @property
    def batch(self) -> Batch:
        return Batch(self._after, self._upto, self.left())

    def begin(self, position: int) -> None:
        """Begin a new batch of all triggers up to a position, unless a batch is unfinished."""
        if self.left() is None:
            self._bound(self._upto, position)

    def _bound(self, after: int, upto: int) -> None:
        """Set the bounds of the batch, and put aside quiet triggers up to `after`, which are answered."""
        if upto != self._upto:
            # A new batch begins only when the one before is answered.
            self._answer(ORDER)
        self._after, self._upto = after, upto
        while self._later and self._later[0].position <= upto:
            trigger = heapq.heappop(self._later)
            if not self._is_unanswered(trigger) or (trigger.is_quiet and trigger.position <= after):
                self._put_aside(trigger)
            else:
                self._push_into_batch(trigger)

    def left(self) -> str | None:
        """Return the first kind with unanswered triggers in the batch, None if the batch is answered."""
        for kind, heaps in self._batch.items():
            # Most kinds have no triggers.
            if heaps and any(self.first_in(kind, queue) is not None for queue in list(heaps)):
                return kind
        return None

    def first_in(self, kind: str, queue: str = "") -> Trigger | None:
        """Return the first unanswered trigger of a kind in the batch, of new sets that of one queue."""
        heap = self._batch[kind].get(queue, [])
        while heap and not self._is_unanswered(heap[0][1]):
            self._put_aside(heapq.heappop(heap)[1])
        if heap:
            return heap[0][1]
        self._batch[kind].pop(queue, None)
        return None

    def queues_of(self, kind: str) -> Collection[str]:
        """Return the queues with triggers of a kind in the batch."""
        return self._batch[kind].keys()

    def first(self, kind: str) -> Trigger:
        """Return the first unanswered trigger of a kind in the batch; there must be one."""
        found = self.first_in(kind)
        assert found is not None, f"the batch has no {kind}"
        return found

    def of_batch(self, kind: str) -> list[Trigger]:
        """Return the unanswered triggers of a quiet kind in the batch, in log order."""
        return sorted(self._of_kind(kind))

    def finish(self, kind: str) -> None:
        """Mark a quiet kind of the batch as answered, because it leads to no more decisions."""
        assert kind in QUIET, "the log records the answers of the other kinds"
        self._answer((kind,))

    def _answer(self, kinds: tuple[str, ...]) -> None:
        """Put aside the quiet triggers of these kinds in the batch."""
        for kind in kinds:
            if self._batch[kind] and kind in QUIET:
                for trigger in self._of_kind(kind):
                    self._put_aside(trigger)
                self._batch[kind].clear()

    # Outcome of decisions

    def confirm(self) -> None:
        """Make the present state of the batch final: the decisions are in the log, or there were none."""
        self._set_bounds(self._after if self.left() else self._upto, self._upto)

    def rollback(self) -> None:
        """Queue the triggers again: the decisions are not in the log."""
        again = self._all() + self._aside
        self._after, self._upto = self._in_log
        self._aside, self._later = [], []
        self._batch = {kind: {} for kind in ORDER}
        self._waiting.clear()
        self._tentative.clear()
        for trigger in again:
            self.push(trigger)

    # Batches in the log

    def resume(self, batch: Batch) -> None:
        """Advance past a commit that has recorded its batch."""
        self._bound(batch.after, batch.upto)
        self._answer(ORDER if batch.left is None else ORDER[: ORDER.index(batch.left)])
        self._set_bounds(batch.after if batch.left else batch.upto, batch.upto)

    def catch_up(self, batch: Batch) -> None:
        """Advance to just before a commit that has recorded its batch: earlier triggers had no result."""
        if (batch.after, batch.upto) != (self._after, self._upto):
            self._answer(ORDER)
            self._bound(batch.after, batch.after)
            self._set_bounds(batch.after, batch.after)

    def restore(self, batch: Batch) -> None:
        """Restore the bounds of a batch; its triggers are pushed next."""
        self._set_bounds(batch.after, batch.upto)

    def _set_bounds(self, after: int, upto: int) -> None:
        self._after, self._upto = self._in_log = (after, upto)
        self._aside.clear()
        self._tentative.clear()

    def answered_before(self, position: int) -> None:
        """Mark quiet triggers before a position as answered, for decisions before policy version 5."""
        kept = []
        while self._later and self._later[0].position < position:
            trigger = heapq.heappop(self._later)
            if not trigger.is_quiet and self._is_due(trigger):
                kept.append(trigger)
            else:
                self._put_aside(trigger)
        for trigger in kept:
            heapq.heappush(self._later, trigger)
        self._aside.clear()
