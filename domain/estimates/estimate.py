"""The estimate of the time until a recipe starts, with its basis in words (docs/decisions/0040).

Waits are compared per place in the queue: a wait is divided by the place that the recipe had when it began.
So the estimate follows a queue that grows, or empties after a burst, before such waits are over.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any, Final, NamedTuple

from domain.estimates.kinds import RecipeKind
from domain.estimates.product_limit import Observation, ProductLimit

MIN_RECIPES: Final = 30
"""The number of comparable recipes below which a wider kind is used."""

STARTED, ENDED, WAITS = "started", "ended", "waits"
_OUTCOMES: Final = {STARTED: "started", ENDED: "ended without a start", WAITS: "still waiting"}


class ObservedWaits(NamedTuple):
    """Waits of recipes of a kind, in seconds per place.

    `outcome`: `started`; `ended` without a start; `waits` if the recipes still wait; None for the part of a
    wait before a change of its priority or requirement. `since`: when the first of them began, or the
    beginning of the compared time if that is later.
    """

    begin: float
    end: float
    outcome: str | None
    recipes: int
    since: datetime


class Wait(NamedTuple):
    """The wait of a recipe, which may be only beginning, with the number of recipes that were ahead then."""

    seconds: float
    ahead: int

    @property
    def place(self) -> int:
        return self.ahead + 1

    @property
    def seconds_per_place(self) -> float:
        return self.seconds / self.place


class ComparedWaits:
    """The waits of a kind of recipes, sorted once for the estimates of any number of recipes."""

    def __init__(self, kind: RecipeKind, waits: Sequence[ObservedWaits]) -> None:
        self._kind = kind
        self._limit = ProductLimit(
            [Observation(each.begin, each.end, each.outcome == STARTED, each.recipes) for each in waits]
        )
        longest_first = sorted(waits, key=lambda each: -each.end)
        self._ends = [-each.end for each in longest_first]
        # Of the waits up to each one, which are the longer ones.
        self._since = list(accumulate((each.since for each in longest_first), min))
        self._recipes = {
            outcome: list(
                accumulate(each.recipes if each.outcome == outcome else 0 for each in longest_first)
            )
            for outcome in _OUTCOMES
        }

    def recipes(self, wait: Wait) -> int:
        """Return the number of compared recipes that waited longer for each place than `wait`."""
        return sum(self._outcomes(wait).values())

    def estimate(self, wait: Wait) -> dict[str, Any]:
        """Return the time left, as in the HTTP API, for a recipe of this kind."""
        p50, p90, longest = self._limit.time_left(wait.seconds_per_place)
        basis = self._basis(wait)
        is_complete = p90 is not None or not basis["recipes"]
        return {
            "waited_seconds": wait.seconds,
            "ahead": wait.ahead,
            "p50_seconds": p50 and p50 * wait.place,
            "p90_seconds": p90 and p90 * wait.place,
            "more_than_seconds": None if is_complete else longest * wait.place,
            "basis": basis,
        }

    def _basis(self, wait: Wait) -> dict[str, Any]:
        outcomes, count = self._outcomes(wait), self._count(wait)
        since = self._since[count - 1] if count else None
        return {
            "kind": self._kind.name,
            "recipes": sum(outcomes.values()),
            "started": outcomes[STARTED],
            "waiting": outcomes[WAITS],
            "since": since,
            "words": _words(self._kind, outcomes, since, wait),
        }

    def _outcomes(self, wait: Wait) -> dict[str, int]:
        count = self._count(wait)
        return {outcome: sums[count - 1] if count else 0 for outcome, sums in self._recipes.items()}

    def _count(self, wait: Wait) -> int:
        """Return the number of waits that were longer; all of them for a recipe that has not waited yet."""
        return bisect_left(self._ends, -wait.seconds_per_place) if wait.seconds else len(self._ends)


def _words(kind: RecipeKind, outcomes: Mapping[str, int], since: datetime | None, wait: Wait) -> str:
    recipes = sum(outcomes.values())
    if since is None or not recipes:
        return (
            f"no recipe {kind.words} waited as long for its place"
            if wait.seconds
            else f"no recipe {kind.words}"
        )
    as_long = f" that waited as long for {'its' if recipes == 1 else 'their'} place" if wait.seconds else ""
    subject = f"{recipes} recipe{'' if recipes == 1 else 's'} {kind.words}{as_long}"
    parts = [f"{outcomes[outcome]} {words}" for outcome, words in _OUTCOMES.items() if outcomes[outcome]]
    return f"{subject}, since {since.astimezone(UTC):%Y-%m-%d %H:%M} UTC: {', '.join(parts)}"
