"""The reasons why a recipe got its system, from recomputing the decision up to that grant (design 8)."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, takewhile
from typing import Final

from domain.recipe.state import Recipe
from domain.scheduling.decisions.decide import iter_decisions
from domain.scheduling.decisions.demanded_systems import is_hopeless
from domain.scheduling.explaining.claimants import places_with_claimant
from domain.scheduling.explaining.places import why_before
from domain.scheduling.explaining.shown_weights import weight_of
from domain.scheduling.supply.reasons import SET_INCOMPLETE, UNSAFE
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import NEW_JOB, PENDING_SYSTEM, Trigger
from domain.system.state import System

MAX_SHOWN: Final = 5


@dataclass(frozen=True)
class Rival:
    """Another recipe for which the system was viable; `why` is the reason why it did not get the system.

    `weight` is None if weights are off.
    """

    recipe_id: int
    priority: str
    effective_priority: str
    weight: float | None
    why: str


@dataclass(frozen=True)
class Choice:
    """An idle system that the recipe could have had, with the criteria of the choice (design 5.5).

    `takers` is the number of unplaced recipes that could use the system.
    """

    fqdn: str
    pool: str | None
    own: bool
    takers: int


@dataclass(frozen=True)
class Granted:
    """The explanation of a grant.

    `passed_over` are the recipes that ranked higher, `behind` those that ranked lower; both are empty for a
    new set. `choices` are the systems that a recipe of a new set could have had, the granted one first.
    `behind` and `choices` have at most MAX_SHOWN items; `behind_count` and `choices_count` count all.
    """

    summary: str
    system: str
    cause: str
    effective_priority: str
    weight: float | None
    passed_over: tuple[Rival, ...]
    behind: tuple[Rival, ...]
    behind_count: int
    choices: tuple[Choice, ...]
    choices_count: int


def why_granted(
    partition: Partition, recipe_id: int, now: datetime, limit: int, hidden: Container[str] = ()
) -> Granted | None:
    """Return why a recipe got its system; None if the grant is not among the first `limit` decisions.

    The partition must be at the basis of the decision, which is recomputed here. The grant is explained from
    the state just before it, with earlier grants of the same decision. `hidden` systems are left out of
    `choices`.
    """
    found: list[Granted] = []

    def observe(trigger: Trigger, host: Recipe, system: System, instead: Iterable[int]) -> None:
        if host.recipe_id == recipe_id and not found:
            found.append(_explain_grant(partition, trigger, host, system, instead, hidden))

    partition.on_grant = observe
    partition.begin_tentative(now)
    try:
        for _ in islice(iter_decisions(partition), limit):
            if found:
                break
    finally:
        partition.on_grant = None
        partition.rollback()
    return found[0] if found else None


def _explain_grant(
    partition: Partition,
    trigger: Trigger,
    host: Recipe,
    system: System,
    instead: Iterable[int],
    hidden: Container[str],
) -> Granted:
    is_new = trigger.kind == NEW_JOB
    before, behind = ((), []) if is_new else _rivals(partition, host, system)
    seen = [number for number in instead if partition.labs.names[number] not in hidden]
    choices = [partition.labs.number(system.fqdn), *seen] if is_new else []
    by_chance = _BY_CHANCE if is_new and host.autopick_random else ""
    return Granted(
        f"{_summary(trigger, host, system)}{by_chance}",
        system.fqdn,
        trigger.cause,
        partition.effective_priority(host, system).name,
        weight_of(partition, host),
        before,
        tuple(
            _rival(partition, system, other, why_before(partition, other, host, system))
            for other in behind[:MAX_SHOWN]
        ),
        len(behind),
        tuple(_choice(partition, host, number) for number in choices[:MAX_SHOWN]),
        len(choices),
    )


_BY_CHANCE: Final = "; drawn at random, as its job asks"
_CLAIMED: Final = "{} was free, and the recipe had claimed it"
_EASED: Final = "{} was idle; after a change it was the first recipe in rank order that could have it"
_SUMMARIES: Final = {
    NEW_JOB: "it was new, and {} was idle",
    PENDING_SYSTEM: "{} had come free, and it was the first recipe in rank order that could have it",
}


def _summary(trigger: Trigger, host: Recipe, system: System) -> str:
    is_claimed = host.claim is not None and host.claim.system == system.fqdn
    text = _CLAIMED if is_claimed else _SUMMARIES.get(trigger.kind, _EASED)
    return text.format(system.fqdn)


def _rivals(partition: Partition, host: Recipe, system: System) -> tuple[tuple[Rival, ...], list[Recipe]]:
    sets, rank = partition.sets, partition.sets.rank(host)
    order = (place.rank for _, place in places_with_claimant(partition, system))
    before = [sets.recipes[other.recipe_id] for other in takewhile(lambda other: other != rank, order)]
    behind = [sets.recipes[other.recipe_id] for other in order]
    return (
        tuple(
            _rival(partition, system, other, _why_passed_over(partition, system, other)) for other in before
        ),
        behind,
    )


def _why_passed_over(partition: Partition, system: System, recipe: Recipe) -> str:
    hopeless = is_hopeless(partition, recipe.recipe_set_id, system.lab_controller)
    return SET_INCOMPLETE if hopeless else UNSAFE


def _rival(partition: Partition, system: System, recipe: Recipe, why: str) -> Rival:
    nominal = partition.sets.sets[recipe.recipe_set_id].priority
    effective = partition.effective_priority(recipe, system)
    return Rival(recipe.recipe_id, nominal.name, effective.name, weight_of(partition, recipe), why)


def _choice(partition: Partition, host: Recipe, number: int) -> Choice:
    pools = (name for name in host.autopick_pools if partition.labs.pool[name] >> number & 1)
    own = partition.labs.owner[host.owner] >> number & 1
    takers = partition.filters.demand_counts().value(number)
    return Choice(partition.labs.names[number], next(pools, None), bool(own), takers)
