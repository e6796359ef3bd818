"""The reasons why a recipe waits: all rules, all systems that could run it, and its rank on each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice

from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bitmaps import numbers_in
from domain.scheduling.explaining.candidates import NEVER, NOT_ALLOWED, NOT_NOW, Candidate, Candidates
from domain.scheduling.explaining.current_reasons import (
    CurrentReason,
    current_reasons,
    lab_of_set,
    systems_named,
)
from domain.scheduling.explaining.departed import departed_matches
from domain.scheduling.explaining.held_back import HeldBackBy, held_back_by
from domain.scheduling.explaining.preemption_waits import preemption_of
from domain.scheduling.explaining.refusals import Refusal, refusals, refused_only_by, viable_systems
from domain.scheduling.explaining.shown_weights import weight_of
from domain.scheduling.supply.reasons import SET_INCOMPLETE
from domain.scheduling.supply.rules import ACCESS, LOAN
from domain.scheduling.supply.waiting_reasons import PARTITION_STOPPED, TREE_AWAY
from domain.scheduling.supply.waiting_reasons import SET_INCOMPLETE as INCOMPLETE
from domain.scheduling.world.lab_moves import NO_LAB
from domain.scheduling.world.partition import Partition


@dataclass(frozen=True)
class RuleCount:
    """A rule with the numbers of systems that pass it, and that pass it and all earlier rules (`left`)."""

    name: str
    reason: str
    passes: int
    left: int


@dataclass(frozen=True)
class Counted:
    """Numbers of systems: `usable` ones, idle or busy; `first_in_order` ones, where no recipe ranks ahead.

    Of a set that is bound to a lab, only systems of this lab are usable.
    """

    registered: int
    viable: int
    usable: int
    idle: int
    not_allowed: int
    lent: int
    first_in_order: int


@dataclass(frozen=True)
class Overtaken:
    """The count of overtakings of a set, and the count at which the set is owed; None without a bound."""

    count: int
    bound: int | None


@dataclass(frozen=True)
class Waiting:
    """The explanation of an unplaced recipe: the first `systems` of its `systems_count` candidates.

    `reason` is the main reason, about which the `summary` says more. While rows of admission hold the set
    back (`held_back`), no system is asked for it. `weight` is None if weights are off. `preemption` says when
    the set preempts others, or why nobody gives way, if its queue is below its guarantee.
    """

    reason: CurrentReason
    summary: str
    held_back: tuple[HeldBackBy, ...]
    preemption: str | None
    weight: float | None
    overtaken: Overtaken
    rules: tuple[RuleCount, ...]
    counted: Counted
    systems: tuple[Candidate, ...]
    systems_count: int


@dataclass(frozen=True)
class WaitingOptions:
    """The options of an explanation: the maximum number of systems, or the one system to show (`only`).

    `hidden` systems, which the user may not see, are not shown; the `unknown` ones of them are not counted.
    Recipes are weighed at `now`, by default at the time of the last event.
    """

    limit: int
    only: str | None = None
    hidden: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()
    now: datetime | None = None


def why_it_waits(partition: Partition, host: Recipe, options: WaitingOptions) -> Waiting:
    """Return why a recipe that is not a guest has no system."""
    if options.now is not None:
        partition.weigh_at(options.now)
    # A system that has left the partition counts as little as one that the reader may not know.
    unknown = systems_named(partition, options.unknown) | partition.labs.lab_controller[NO_LAB]
    seen = ~systems_named(partition, options.hidden)
    refused = _without(unknown, refusals(partition.labs, partition.sets.index.demand(host)))
    candidates = Candidates(partition, host, refused)
    viable = viable_systems(partition.labs, refused) & ~unknown
    lent = refused_only_by(refused, LOAN.name)
    not_allowed = refused_only_by(refused, ACCESS.name, LOAN.name) & ~lent
    ordered = candidates.ordered(viable & seen, options.limit)
    all_systems, of_lab = partition.labs.columns.all_numbers & ~unknown, lab_of_set(partition, host)
    counted = Counted(
        registered=all_systems.bit_count(),
        viable=viable.bit_count(),
        usable=(partition.usable(host) & of_lab & ~unknown).bit_count(),
        idle=(partition.idle(host) & of_lab & ~unknown).bit_count(),
        not_allowed=not_allowed.bit_count(),
        lent=lent.bit_count(),
        first_in_order=candidates.first_in_order(unknown | all_systems & ~of_lab),
    )
    shown: Iterable[Candidate]
    count = ((viable | lent | not_allowed) & seen).bit_count() if options.only is None else 1
    if options.only is None:
        shown = chain(
            map(candidates.viable, ordered),
            (candidates.refused(number, NOT_NOW) for number in numbers_in(lent & seen)),
            (candidates.refused(number, NOT_ALLOWED) for number in numbers_in(not_allowed & seen)),
        )
    else:
        shown = [_one(candidates, partition.labs.number(options.only), viable, lent, not_allowed)]
    rules = _rules(all_systems, refused)
    held_back = held_back_by(partition, host)
    (reason,) = current_reasons(partition, [host], unknown)
    summary = reason.text
    if not held_back and reason.code not in (PARTITION_STOPPED, TREE_AWAY):
        departed = departed_matches(partition, host, seen)
        summary = _summary(counted, rules, departed, set_waits=reason.code == INCOMPLETE)
    weight, overtaken = weight_of(partition, host), _overtaken(partition, host)
    systems = tuple(islice(shown, options.limit))
    preemption = None if options.now is None or held_back else preemption_of(partition, host, options.now)
    return Waiting(reason, summary, held_back, preemption, weight, overtaken, rules, counted, systems, count)


def _overtaken(partition: Partition, host: Recipe) -> Overtaken:
    overtakings = partition.sets.overtakings
    return Overtaken(overtakings.count(host.recipe_set_id), overtakings.maximum)


def _without(unknown: int, refused: Iterable[Refusal]) -> tuple[Refusal, ...]:
    return tuple(Refusal(rule, reason, systems & ~unknown) for rule, reason, systems in refused)


def _one(candidates: Candidates, number: int, viable: int, lent: int, not_allowed: int) -> Candidate:
    if viable >> number & 1:
        return candidates.viable(number)
    if lent >> number & 1:
        return candidates.refused(number, NOT_NOW)
    return candidates.refused(number, NOT_ALLOWED if not_allowed >> number & 1 else NEVER)


def _rules(all_systems: int, refused: Iterable[Refusal]) -> tuple[RuleCount, ...]:
    left = all_systems
    counts = []
    for rule, reason, systems in refused:
        left &= ~systems
        counts.append(RuleCount(rule, reason, (all_systems & ~systems).bit_count(), left.bit_count()))
    return tuple(counts)


def _summary(counted: Counted, rules: Iterable[RuleCount], departed: str, *, set_waits: bool) -> str:
    """Return a sentence about the usable systems; without any, about the viable, lent or forbidden ones.

    `departed` is added if there are none of these, either.
    """
    viable, lent, not_allowed = counted.viable, counted.lent, counted.not_allowed
    if set_waits:
        return f"{_systems(viable)} could run it, but {SET_INCOMPLETE}"
    if counted.usable:
        when = "usable now or when free" if viable == 1 else f"{counted.usable} of them now or when free"
        return f"{_systems(viable)} could run it, {when}; {_where_first(counted)}"
    if viable:
        which = "which is not usable now" if viable == 1 else "and none of them is usable now"
        return f"{_systems(viable)} could run it, {which}"
    if lent:
        which = "which is on loan to somebody else" if lent == 1 else "and all of them are on loan to others"
        return f"{_systems(lent)} could run it, {which}"
    if not_allowed:
        where = "there" if not_allowed == 1 else "to any of them"
        return f"{_systems(not_allowed)} would do, and it may not be submitted {where}"
    last = next(rule for rule in rules if not rule.left)
    excluded = f"no system could run it: the rule {last.name} excludes all that remained"
    return f"{excluded}; {departed}" if departed else excluded


def _where_first(counted: Counted) -> str:
    first, usable = counted.first_in_order, counted.usable
    if usable == 1:
        return "it comes first there" if first else "others come before it there"
    return f"it comes first on {first} of these" if first else "others come before it on all of these"


def _systems(count: int) -> str:
    return "1 system" if count == 1 else f"{count} systems"
