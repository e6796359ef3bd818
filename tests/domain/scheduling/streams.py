"""Streams of recipe sets that keep coming, beside sets that wait for the same systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from domain.recipe.events import RecipeScheduled
from domain.recipe.lifecycle import FINISHED
from tests.domain.scheduling.labs import one_lab, wanting
from tests.domain.scheduling.world import World

SERVICE_TIMES = 400
# The number of sets of a stream that have not started at any time.
BACKLOG = 4


class Want(NamedTuple):
    """The systems that a recipe wants, and the service times that it runs."""

    names: tuple[str, ...]
    service_times: int = 1


@dataclass(frozen=True)
class Stream:
    """A stream whose `number`th set has the wants `set_of(number)`, and the sets that `waiting` wants."""

    systems: tuple[str, ...]
    set_of: Callable[[int], Sequence[Want]]
    priority: str
    waiting: tuple[tuple[str, ...], ...]
    waiting_priority: str = "Urgent"


SPARE = tuple(f"idle-{number}" for number in range(8))
FOUR = tuple(f"a{number}" for number in range(4))

C_AND_A = Stream(("a", "c"), lambda _: (Want(("c",)), Want(("a",), 2)), "Low", (("a",),))
A_AND_ANY = Stream(("a", *SPARE), lambda _: (Want(("a",)), Want(SPARE)), "Low", (("a",),) * 20)
ONE_OF_FOUR = Stream(
    (*FOUR, *SPARE), lambda number: (Want((FOUR[number % 4],)), Want(SPARE)), "Urgent", (FOUR,)
)


class Beside:
    """The waiting sets beside a stream. `started` maps each to its number of service times."""

    def __init__(self, stream: Stream, assigned_first: str, bound: int | None) -> None:
        self.stream = stream
        self.world = one_lab()
        self.world.configure(order={"assigned_first": assigned_first, "most_overtaken": bound})
        self.world.add_idle(*stream.systems)
        self.started: dict[tuple[int, ...], int] = {}
        self._submitted = 0
        self._service_times: dict[int, int] = {}
        self._ends: dict[int, int] = {}
        self._fill()
        self.waiting = [self._wait(wants) for wants in stream.waiting]

    def _wait(self, wants: Sequence[str]) -> tuple[int, ...]:
        return wanting(self.world, *((name,) for name in wants), priority=self.stream.waiting_priority)

    def run(self, service_times: int = SERVICE_TIMES) -> None:
        """Run the stream until all waiting sets have started, or for this many service times."""
        for now in range(1, service_times + 1):
            self._finish(now)
            for ids in self.waiting:
                if ids not in self.started and _has_started(self.world, ids):
                    self.started[ids] = now
            if len(self.started) == len(self.waiting):
                return
            self._fill()

    def _finish(self, now: int) -> None:
        for recipe in self.world.in_state("waiting"):
            recipe_id = recipe.recipe_id
            ends = self._ends.setdefault(recipe_id, now - 1 + self._service_times.get(recipe_id, 1))
            if ends <= now and self.world.recipes[recipe_id].state not in FINISHED:
                self.world.complete(recipe_id)
                self.world.settle()

    def _fill(self) -> None:
        """Submit sets until enough of the stream wait."""
        while sum(not _has_started(self.world, ids) for ids in self._latest()) < BACKLOG:
            wants = self.stream.set_of(self._submitted)
            self._submitted += 1
            ids = wanting(self.world, *(want.names for want in wants), priority=self.stream.priority)
            self._service_times.update(
                (recipe_id, want.service_times) for recipe_id, want in zip(ids, wants, strict=True)
            )

    def _latest(self) -> list[tuple[int, ...]]:
        ids = list(self._service_times)
        pairs = list(zip(ids[::2], ids[1::2], strict=True))
        return pairs[-2 * BACKLOG :]

    @property
    def overtakings(self) -> list[int]:
        """Return the number of times that each waiting set was overtaken."""
        events = (recorded.event for recorded in self.world.log)
        overtaken = [event.overtook for event in events if isinstance(event, RecipeScheduled)]
        return [sum(each in ids for each in overtaken) for ids in self.waiting]


def _has_started(world: World, ids: Sequence[int]) -> bool:
    return all(world.recipes[each].state in ("waiting", *FINISHED) for each in ids)
