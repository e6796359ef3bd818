"""The queues with unfinished sets, the systems that each has, and whose turn it is (design 6.2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from domain.queues.order import Contender, FirstSet, Keyed, QueueKey, QueueOrder, QueueTurn, WaitingQueues
from domain.queues.tree import WITHOUT_CONFIGURATION, QueueTree, parent_of, paths_upward
from domain.recipe_set.state import RecipeSet
from domain.scheduling.demand.order import Place
from domain.scheduling.demand.room_places import RoomPlace
from domain.scheduling.ranked import Ranked

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

ONE_LINE = ""
"""The queue of all recipes while they stand in one line."""


class Standing(NamedTuple):
    """The queue of a set and its place in the order of room."""

    queue: str
    place: RoomPlace

    @property
    def contender(self) -> Contender:
        return Contender(self.queue, -self.place.negative_priority)


class QueueTurns:
    """The turns of queues. Mutable: `add` and `drop` each set, `place` and `displace` each of its hosts.

    While queues have turns, also `wait` for a set with a recipe that waits for a system, and `stop_waiting`.

    With `is_one_line` the queues have no turns. With `is_assigned_first`, assigned and owed recipes of all
    queues come before, in one line (`order.assigned_first`). `used` has the number of systems that recipes
    hold in each queue and the queues below it, `shares` the same by what is guaranteed, `of_job` that of each
    job.
    """

    def __init__(self) -> None:
        self.is_one_line = True
        self.is_assigned_first = False
        self.used: dict[str, int] = {}
        self.shares: dict[str, int] = {}
        self.of_job: dict[int, int] = {}
        self._order = QueueOrder(WITHOUT_CONFIGURATION)
        # The number of unfinished sets of each queue.
        self._sets: dict[str, int] = {}
        # The first sets of leaves; those of other queues are computed when they are asked for.
        self._waiting: dict[str, Ranked[FirstSet]] = {}
        self._first_sets: dict[str, FirstSet] = {}
        # The queues below each queue, with the number of queues that have sets there and below.
        self._children: dict[str, dict[str, int]] = {}
        # The queues of the last call of `ordered_among`, which mostly has the same ones again.
        self._among = frozenset[str]()
        self._children_among: dict[str, dict[str, None]] = {}

    def changes_lines(self, tree: QueueTree, *, is_assigned_first: bool) -> bool:
        """Return whether `configure` would change in which lines recipes stand, or their order there."""
        before, after = self._order, QueueOrder(tree)
        if before.is_one_line or after.is_one_line:
            return before.is_one_line != after.is_one_line
        is_other_leaf = (before.is_fair(queue) != after.is_fair(queue) for queue in self._sets)
        return self.is_assigned_first != is_assigned_first or any(is_other_leaf)

    def configure(self, tree: QueueTree, *, is_assigned_first: bool) -> None:
        self._order = QueueOrder(tree)
        self.is_one_line = self._order.is_one_line
        self.is_assigned_first = is_assigned_first
        self.shares.update((path, self._order.share(path, used)) for path, used in self.used.items())

    # Sets and systems

    def add(self, recipe_set: RecipeSet) -> None:
        queue = recipe_set.submitted.queue
        _add(self._sets, queue, 1)
        if self._sets[queue] == 1:
            for path in paths_upward(queue):
                _add(self._children.setdefault(parent_of(path), {}), path, 1)

    def drop(self, recipe_set: RecipeSet) -> None:
        queue = recipe_set.submitted.queue
        _add(self._sets, queue, -1)
        if queue not in self._sets:
            for path in paths_upward(queue):
                children = self._children[parent_of(path)]
                _add(children, path, -1)
                if not children:
                    del self._children[parent_of(path)]

    def place(self, recipe_set: RecipeSet) -> None:
        """Count a host that has got a system."""
        self._use(recipe_set, 1)

    def displace(self, recipe_set: RecipeSet) -> None:
        """Stop counting a host that has lost its system."""
        self._use(recipe_set, -1)

    def _use(self, recipe_set: RecipeSet, step: int) -> None:
        for path in paths_upward(recipe_set.submitted.queue):
            _add(self.used, path, step)
            if path in self.used:
                self.shares[path] = self._order.share(path, self.used[path])
            else:
                del self.shares[path]
        _add(self.of_job, recipe_set.job_id, step)

    def queues_with_sets(self) -> Collection[str]:
        """Return the queues that have unfinished sets of their own."""
        return self._sets.keys()

    def systems_of_job(self, job_id: int) -> int:
        return self.of_job.get(job_id, 0)

    def wait(self, recipe_set: RecipeSet) -> None:
        """Count a set with a recipe that waits for a system, unless it is counted."""
        queue, place = recipe_set.submitted.queue, _place_of(recipe_set)
        if queue not in self._waiting:
            self._waiting[queue] = Ranked()
        self._waiting[queue].add(place)
        for path in paths_upward(queue):
            first = self._first_sets.get(path)
            if first is not None and (not first or place < first):
                self._first_sets[path] = place

    def stop_waiting(self, recipe_set: RecipeSet) -> None:
        """Stop counting a set, if it is counted."""
        queue, place = recipe_set.submitted.queue, _place_of(recipe_set)
        ranked = self._waiting.get(queue)
        if ranked is not None:
            ranked.discard(place)
            if not len(ranked):
                del self._waiting[queue]
            for path in paths_upward(queue):
                if self._first_sets.get(path) == place:
                    del self._first_sets[path]

    def only_wait(self, recipe_sets: Iterable[RecipeSet]) -> None:
        """Count these sets, and no others."""
        places: dict[str, list[FirstSet]] = {}
        for each in recipe_sets:
            places.setdefault(each.submitted.queue, []).append(_place_of(each))
        self._waiting = {queue: Ranked(of_queue) for queue, of_queue in places.items()}
        self._first_sets.clear()

    # Questions

    def first_set(self, queue: str) -> FirstSet:
        """Return the place of the first set that waits in a queue or below, an empty one without any."""
        found = self._first_sets.get(queue)
        if found is None:
            below = map(self.first_set, self._children.get(queue, ()))
            ranked = self._waiting.get(queue)
            own = (None if ranked is None else ranked.first()) or ()
            found = self._first_sets[queue] = min(filter(None, (own, *below)), default=())
        return found

    def queue_of(self, recipe_set: RecipeSet) -> str:
        """Return the queue in whose line the queued recipes of a set stand."""
        return ONE_LINE if self.is_one_line else recipe_set.submitted.queue

    @property
    def queues(self) -> Collection[str]:
        """Return the queues with unfinished sets, whose recipes stand in lines of their own."""
        return (ONE_LINE,) if self.is_one_line else self._sets

    @property
    def is_alike_everywhere(self) -> bool:
        """Return whether queues have the same turns on all systems, or none."""
        return self.is_one_line or self._order.is_alike_everywhere

    def is_fair(self, queue: str) -> bool:
        """Return whether the recipes in the line of a queue rank by the number of systems of their jobs."""
        return queue != ONE_LINE and self._order.is_fair(queue)

    @property
    def _queues(self) -> WaitingQueues:
        return WaitingQueues(self._sets, self._children, self.shares, self.first_set)

    def ordered(self, items_of: Callable[[str], Iterator[Keyed[T]]]) -> Iterator[Keyed[T]]:
        """Yield the items of all queues in the order of a system, from those of each queue in order."""
        if self.is_one_line:
            return items_of(ONE_LINE)
        return self._order.ordered(self._queues, items_of)

    def ordered_among(
        self, queues: Collection[str], items_of: Callable[[str], Iterator[Keyed[T]]]
    ) -> Iterator[Keyed[T]]:
        """Yield the items of a few queues, as `ordered` does."""
        if self.is_one_line:
            return items_of(ONE_LINE)
        if self._among != frozenset(queues):
            self._among, self._children_among = frozenset(queues), _children(queues)
        waiting = self._queues._replace(leaves=self._among, children=self._children_among)
        return self._order.ordered(waiting, items_of)

    def is_before(self, one: Standing, other: Standing) -> bool:
        """Return whether a set comes before another one in the order of room.

        The queue where their paths part decides; in one line their places do. Only a leaf compares jobs.
        """
        turn = self.compare(one.contender, other.contender)
        if turn or one.queue == other.queue:
            return turn < 0 or (turn == 0 and one.place < other.place)
        return one.place._replace(systems=0) < other.place._replace(systems=0)

    def is_settled(self, one: str, other: str) -> bool:
        """Return whether one queue has its turn before another one whatever sets wait in both."""
        return one == other or self._order.is_settled(one, other)

    def turns(self, one: Contender, other: Contender) -> tuple[QueueTurn, QueueTurn] | None:
        """Return the turns of two sets where their paths part, None in one line or if a path ends there."""
        return None if one.queue == other.queue else self._order.turns(self._queues, one, other)

    def guaranteed(self, queue: str) -> int | None:
        return self._order.guaranteed(queue)

    def compare(self, one: Contender, other: Contender) -> int:
        """Return whose turn is earlier, as `QueueOrder.compare`; 0 for sets in one line."""
        return 0 if one.queue == other.queue else self._order.compare(self._queues, one, other)


def key_among_queues(place: Place) -> QueueKey:
    """Return the sort key of a recipe among those of other queues; only a leaf compares jobs."""
    return place.negative_effective, place.negative_priority, place.is_queued, place.weight, *place.rank


def _children(leaves: Iterable[str]) -> dict[str, dict[str, None]]:
    """Return the queues below each queue that lead to a leaf."""
    found: dict[str, dict[str, None]] = {}
    for leaf in leaves:
        for path in paths_upward(leaf):
            found.setdefault(parent_of(path), {})[path] = None
    return found


def _place_of(recipe_set: RecipeSet) -> FirstSet:
    return -recipe_set.priority, recipe_set.submission


def _add(counts: dict[K, int], key: K, step: int) -> None:
    count = counts.get(key, 0) + step
    if count:
        counts[key] = count
    else:
        del counts[key]
