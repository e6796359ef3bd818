"""Why a recipe got its system and no other did: the decision is made again up to that grant (design 8)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, takewhile
from typing import Final

from domain.recipe.events import RecipeScheduled
from domain.recipe.state import Recipe
from domain.scheduling.choice import choices
from domain.scheduling.decide import answers
from domain.scheduling.draft import Decision
from domain.scheduling.explaining.places import effective_priority, why_before
from domain.scheduling.partition import Partition
from domain.scheduling.question import in_order
from domain.scheduling.reasons import SET_INCOMPLETE, UNSAFE
from domain.scheduling.triggers import NEW_JOB, PENDING_SYSTEM
from domain.scheduling.wanted import hopeless
from domain.system.state import System

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
    made = list(islice(answers(partition), most))
    partition.refused()
    for number, decision in enumerate(made):
        system = _granted(decision, recipe_id)
        if system is not None:
            partition.suppose_at(now)
            # The one after these has not been begun yet.
            deque(islice(answers(partition), number), maxlen=0)
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
    trigger, system = decision.trigger, partition.systems[fqdn]
    is_new = trigger.kind == NEW_JOB
    passed_over, behind = ((), ()) if is_new else _rivals(partition, host, system)
    by_chance = _BY_CHANCE if is_new and host.autopick_random else ""
    return Granted(
        f"{_SUMMARIES.get(trigger.kind, _EASED).format(fqdn)}{by_chance}",
        fqdn,
        trigger.cause,
        effective_priority(partition, host, system).name,
        passed_over,
        behind,
        tuple(islice(_choices(partition, host, trigger.cause), MOST_TOLD)) if is_new else (),
    )


_BY_CHANCE: Final = "; drawn at random, as its job asks"
_EASED: Final = "{} was idle, something eased, and it was the first in order that might have it"
_SUMMARIES: Final = {
    NEW_JOB: "it was new, and {} was idle",
    PENDING_SYSTEM: "{} had come free, and it was the first in order that might have it",
}


def _rivals(
    partition: Partition, host: Recipe, system: System
) -> tuple[tuple[Rival, ...], tuple[Rival, ...]]:
    """Who stood before it, and the first of those behind."""
    sets, rank = partition.sets, partition.sets.rank(host)
    order = in_order(partition, system)
    before = [sets.recipes[other[-1]] for other in takewhile(lambda other: other != rank, order)]
    behind = [sets.recipes[other[-1]] for other in islice(order, MOST_TOLD)]
    return (
        tuple(
            _rival(partition, system, other, _why_passed_over(partition, system, other)) for other in before
        ),
        tuple(
            _rival(partition, system, other, why_before(partition, other, host, system)) for other in behind
        ),
    )


def _why_passed_over(partition: Partition, system: System, recipe: Recipe) -> str:
    is_hopeless = hopeless(partition, recipe.recipe_set_id, system.lab_controller)
    return SET_INCOMPLETE if is_hopeless else UNSAFE


def _rival(partition: Partition, system: System, recipe: Recipe, why: str) -> Rival:
    nominal = partition.sets.sets[recipe.recipe_set_id].priority
    return Rival(recipe.recipe_id, nominal.name, effective_priority(partition, recipe, system).name, why)


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
