"""Concurrent recipes, each with a random course through the states."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any

from domain.job.events import JobSubmitted
from domain.recipe import events as recipe_events
from domain.recipe.claim import OVER
from domain.recipe_set.events import (
    RecipeSetPriorityChanged,
    RecipeSetReviewed,
    RecipeSetSubmitted,
    RecipeSetWaived,
    RecipeSetWaiverEnded,
)
from tests.domain.recipe.samples import recipe_new
from tests.projections.happened import Happened, assigned, locked, narrowed, of, queued, scheduled, waiting

PRIORITIES = ("Low", "Medium", "Normal", "High", "Urgent")
# The submitters, in turns.
OWNERS = ("ada", "bob", "eve")
GROUPS = (None, "red", "blue", "red")
DECLARED: tuple[dict[str, Any], ...] = (
    {},
    {"system": {"Exclusive": ["$system"]}, "pool": {"Shared": ["$pools", "big"]}},
    {"network": "UnknownExclusive", "whole_lab": True},
)
HELD: tuple[dict[str, Any], ...] = (
    {},
    {"network": ["AllShared", {"Exclusive": ["n1"]}]},
    {"network": {"Shared": ["n1", "n2"]}, "whole_lab": True},
)

Commit = list[Happened]


def lives(dice: Random, recipes: int, first: int = 1, at_once: int = 8) -> Iterator[Commit]:
    """Yield the commits of recipes, each with its own set and job of the same number."""
    unborn = iter(range(first, first + recipes))
    living = {number: life(dice, number) for number in islice(unborn, at_once)}
    while living:
        number = dice.choice(sorted(living))
        commit = next(living[number], None)
        if commit is None:
            del living[number]
            living |= {number: life(dice, number) for number in islice(unborn, 1)}
        else:
            yield commit


def life(dice: Random, number: int) -> Iterator[Commit]:
    priority, fqdn = dice.choice(PRIORITIES), dice.choice("abcdef")
    yield [
        (f"job/{number}", JobSubmitted(OWNERS[number % 3], "ada", GROUPS[number % 4], "", (number,), {})),
        (f"recipe-set/{number}", RecipeSetSubmitted(number, priority, (number,))),
        (f"recipe/{number}", recipe_new(number, priority, locks=dice.choice(DECLARED))),
    ]
    yield queued(number)
    while dice.random() < 0.3:
        yield from dice.choice((_moved_up, _withdrawn, _claimed))(dice, number, fqdn)
    if dice.random() < 0.1:
        yield of("recipe", number, recipe_events.RecipeCancelled("enough"))
        return
    if dice.random() < 0.5:
        yield [*scheduled(fqdn, number), *waiting(fqdn, number, locks=None)]
        yield [locked(number, dice.choice(HELD))]
    else:
        yield [*scheduled(fqdn, number), *waiting(fqdn, number, locks=dice.choice(HELD))]
    yield of("recipe", number, recipe_events.RecipeInstalling(fqdn))
    if dice.random() < 0.3:
        yield [narrowed(number, dice.choice(HELD))]
    if dice.random() < 0.1:
        yield of("recipe", number, recipe_events.RecipeAborted("watchdog"))
        return
    yield of("recipe", number, recipe_events.RecipeRunning(fqdn), recipe_events.TaskStarted(number))
    result = recipe_events.TaskResult(number, dice.choice(("Pass", "Warn", "Fail")), "", None, [])
    yield of("recipe", number, result, recipe_events.TaskCompleted(number))
    if dice.random() < 0.2:
        yield of("recipe", number, recipe_events.RecipeReserved(fqdn, 60))
    yield of("recipe", number, recipe_events.RecipeCompleted())
    if dice.random() < 0.3:
        yield from _reviewed(dice, number)


def _reviewed(dice: Random, number: int) -> Iterator[Commit]:
    for review in dice.sample(("acknowledged", "rejected", "none"), 2):
        yield of("recipe-set", number, RecipeSetReviewed(review, "seen"))
    for ids in ((number, number), (None, None)):
        yield of("recipe-set", number, RecipeSetWaived(*ids, "known"))
        if dice.random() < 0.3:
            yield of("recipe-set", number, RecipeSetWaiverEnded(*ids, "unknown"))


def _moved_up(dice: Random, number: int, fqdn: str) -> Iterator[Commit]:
    yield of("recipe-set", number, RecipeSetPriorityChanged(dice.choice(PRIORITIES)))


def _withdrawn(dice: Random, number: int, fqdn: str) -> Iterator[Commit]:
    yield [assigned(number)]
    yield scheduled(fqdn, number)
    if dice.random() < 0.5:
        yield waiting(fqdn, number, locks=dice.choice((None, *HELD)))
    yield queued(number, reason=f"{fqdn} is Broken")


def _claimed(dice: Random, number: int, fqdn: str) -> Iterator[Commit]:
    yield of("recipe", number, recipe_events.RecipeClaimed(fqdn, dice.random() < 0.5))
    yield of("recipe", number, recipe_events.RecipeClaimEnded(fqdn, OVER))
