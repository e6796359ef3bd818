"""The estimate of the time until a recipe starts, with its basis in words (docs/decisions/0040).

Waits are compared per place in the queue: a wait is divided by the place that the recipe had when it began.
So the estimate follows a queue that grows, or empties after a burst, before such waits are over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from domain.estimates.kinds import RecipeKind
from domain.estimates.product_limit import Observation, TimeLeft, is_comparable, time_left

MIN_RECIPES: Final = 30
"""The number of comparable recipes below which a wider kind is used."""

STARTED, ENDED, WAITS = "started", "ended", "waits"
_OUTCOMES: Final = {STARTED: "started", ENDED: "ended without a start", WAITS: "still waiting"}


class ObservedWaits(NamedTuple):
    """Waits of recipes of a kind, in seconds per place.

    `outcome`: they `started`, they `ended` without a start, they still have to `wait`, or None for the part
    of a wait before its priority or requirement changed. `since`: when the first of them began, or the
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


def comparable_recipes(waits: Sequence[ObservedWaits], wait: Wait) -> int:
    """Return the number of recipes that waited as long."""
    return sum(_outcomes(waits, wait).values())


def estimate(kind: RecipeKind, waits: Sequence[ObservedWaits], wait: Wait) -> dict[str, Any]:
    """Return the time left, as in the HTTP API, for a recipe of a kind with these waits."""
    left = _time_left(waits, wait)
    basis = _basis(kind, waits, wait)
    has_both = left.p50 is not None and left.p90 is not None
    return {
        "waited_seconds": wait.seconds,
        "ahead": wait.ahead,
        "p50_seconds": left.p50,
        "p90_seconds": left.p90,
        "more_than_seconds": None if has_both or not basis["recipes"] else left.longest,
        "basis": basis,
    }


def _time_left(waits: Sequence[ObservedWaits], wait: Wait) -> TimeLeft:
    observed = [Observation(each.begin, each.end, each.outcome == STARTED, each.recipes) for each in waits]
    p50, p90, longest = time_left(observed, wait.seconds_per_place)
    return TimeLeft(p50 and p50 * wait.place, p90 and p90 * wait.place, longest * wait.place)


def _basis(kind: RecipeKind, waits: Sequence[ObservedWaits], wait: Wait) -> dict[str, Any]:
    outcomes = _outcomes(waits, wait)
    recipes = sum(outcomes.values())
    since = min((each.since for each in waits if _counts(each, wait)), default=None)
    return {
        "kind": kind.name,
        "recipes": recipes,
        "started": outcomes[STARTED],
        "waiting": outcomes[WAITS],
        "since": since,
        "words": _words(kind, outcomes, since, wait),
    }


def _words(kind: RecipeKind, outcomes: Counter[str], since: datetime | None, wait: Wait) -> str:
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


def _outcomes(waits: Sequence[ObservedWaits], wait: Wait) -> Counter[str]:
    counts = Counter[str]()
    for each in waits:
        if each.outcome is not None and _counts(each, wait):
            counts[each.outcome] += each.recipes
    return counts


def _counts(waits: ObservedWaits, wait: Wait) -> bool:
    return is_comparable(Observation(waits.begin, waits.end, False), wait.seconds_per_place)
