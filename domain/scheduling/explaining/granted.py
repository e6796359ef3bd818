"""Why a recipe got its system and no other did: the decision is made again up to that grant (design 8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, takewhile
from typing import Final

from domain.priority import Priority
from domain.recipe.events import RecipeScheduled
from domain.recipe.state import Recipe
from domain.scheduling.choice import choices
from domain.scheduling.decide import decisions
from domain.scheduling.draft import Decision
from domain.scheduling.explaining.places import Places, why_before
from domain.scheduling.heads import Rank
from domain.scheduling.partition import Partition
from domain.scheduling.question import in_order
from domain.scheduling.reasons import ITS_SET_IS_IN_LAB, SET_INCOMPLETE, UNSAFE
from domain.scheduling.triggers import NEW_JOB, PENDING_SYSTEM
from domain.scheduling.wanted import hopeless

MOST_TOLD: Final = 5


@dataclass(frozen=True)
class Rival:
    """Another recipe that the system was viable for; `why` it came before or behind, or was passed over."""

    recipe_id: int
    priority: str
    effective_priority: str
    why: str


@dataclass(frozen=True)
class Choice:
    """An idle system that the recipe could have had, by what decides between them (design 5.5)."""

    fqdn: str
    pool: str | None
    own: bool
    takers: int


@dataclass(frozen=True)
class Granted:
    """`passed_over` stood before it, `behind` next after it; both where a system asked who would take it.

    `choices` are the systems that a new job could have had, the first as it would rather have them.
    """

    summary: str
    system: str
    cause: str
    effective_priority: str
    passed_over: tuple[Rival, ...]
    behind: tuple[Rival, ...]
    choices: tuple[Choice, ...]


def why_granted(partition: Partition, recipe_id: int, now: datetime, most: int) -> Granted | None:
    """Of a partition at the basis of the decision, which it makes again; None where that is not among the
    first `most` decisions.
    """
    partition.suppose_at(now)
    made = list(enumerate(islice(decisions(partition), most)))
    partition.refused()
    for number, decision in made:
        system = _granted(decision, recipe_id)
        if system is not None:
            partition.suppose_at(now)
            before = decisions(partition)
            list(islice(before, number))
            told = _told(partition, decision, partition.sets.recipes[recipe_id], system)
            partition.refused()
            return told
    return None


def _granted(decision: Decision, recipe_id: int) -> str | None:
    for subject, event in decision.events:
        if subject == f"recipe/{recipe_id}" and isinstance(event, RecipeScheduled):
            return event.system
    return None


def _told(partition: Partition, decision: Decision, host: Recipe, fqdn: str) -> Granted:
    trigger, number = decision.trigger, partition.labs.number(fqdn)
    mine = Places(partition, host).effective_priority(number)
    is_new = trigger.kind == NEW_JOB
    passed_over, behind = ((), ()) if is_new else _rivals(partition, host, fqdn, mine)
    return Granted(
        _SUMMARIES.get(trigger.kind, _EASED).format(fqdn),
        fqdn,
        trigger.cause,
        Priority(mine).name,
        passed_over,
        behind,
        tuple(islice(_choices(partition, host, trigger.cause), MOST_TOLD)) if is_new else (),
    )


_EASED: Final = "{} was idle, something eased, and it was the first in order that might have it"
_SUMMARIES: Final = {
    NEW_JOB: "it was new, and {} was idle",
    PENDING_SYSTEM: "{} had come free, and it was the first in order that might have it",
}


def _rivals(
    partition: Partition, host: Recipe, fqdn: str, mine: int
) -> tuple[tuple[Rival, ...], tuple[Rival, ...]]:
    """Who stood before it, and the first of those behind."""
    number, rank = partition.labs.number(fqdn), partition.sets.rank(host)
    order = in_order(partition, partition.systems[fqdn])
    before = [_passed_over(partition, number, other) for other in takewhile(lambda other: other != rank, order)]
    behind = [_behind(partition, number, host, mine, other) for other in islice(order, MOST_TOLD)]
    return tuple(before), tuple(behind)


def _passed_over(partition: Partition, number: int, rank: Rank) -> Rival:
    recipe = partition.sets.recipes[rank[-1]]
    lab_controller = partition.system(number).lab_controller
    is_hopeless = hopeless(partition, recipe.recipe_set_id, lab_controller)
    return _rival(partition, number, recipe, SET_INCOMPLETE if is_hopeless else UNSAFE)


def _behind(partition: Partition, number: int, host: Recipe, mine: int, rank: Rank) -> Rival:
    recipe = partition.sets.recipes[rank[-1]]
    if host.state == "assigned" and recipe.state != "assigned":
        return _rival(partition, number, recipe, ITS_SET_IS_IN_LAB)
    theirs = Places(partition, recipe).effective_priority(number)
    return _rival(partition, number, recipe, why_before(rank, partition.sets.rank(host), theirs, mine))


def _rival(partition: Partition, number: int, recipe: Recipe, why: str) -> Rival:
    nominal = partition.sets.sets[recipe.recipe_set_id].priority
    effective = Places(partition, recipe).effective_priority(number)
    return Rival(recipe.recipe_id, nominal.name, Priority(effective).name, why)


def _choices(partition: Partition, host: Recipe, cause: str) -> Iterator[Choice]:
    own = partition.labs.owner[host.owner]
    takers = partition.filters.takers_counted()
    for number in choices(partition, host, partition.idle(host), cause):
        pools = (name for name in host.autopick_pools if partition.labs.pool[name] >> number & 1)
        yield Choice(
            partition.labs.names[number],
            next(pools, None),
            bool(own >> number & 1),
            takers.value(number),
        )
