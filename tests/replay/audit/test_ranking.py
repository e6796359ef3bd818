"""Ranks on a system and its eligible recipes equal those of a full search that uses other code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from domain.access.policy import Policy, policy_of
from domain.access.submit_rights import SubmitRights, Submitter, submit_rights
from domain.priority import Priority
from replay.audit.ranking import eligible_recipes, rank_on
from replay.audit.record import EventRecord
from replay.audit.safety import could_take_safely
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from replay.audit.values import Recipe, System
from tests.replay.audit.people_histories import lived

SEEDS = range(8)
EVERY = 15


class LatestRecords:
    """The latest access records of a log."""

    def __init__(self) -> None:
        self.own: dict[str, Policy] = {}
        self.pools: dict[str, Policy] = {}
        self.owner: dict[str, str] = {}
        self.borrower: dict[str, str] = {}
        self.jobs: dict[int, tuple[str, str | None]] = {}
        self.group_changes: list[tuple[str, list[str] | None]] = []

    def apply(self, record: EventRecord) -> None:
        name, data = record.name, record.data
        match record.topic:
            case "system.registered" | "system.owner-changed":
                self.owner[name] = data["owner"]
            case "system.loaned":
                self.borrower[name] = data["user"]
            case "system.loan-ended":
                self.borrower.pop(name, None)
            case "system.access-policy-changed":
                self.own[name] = policy_of(data["entries"])
            case "pool.access-policy-changed":
                self.pools[name] = policy_of(data["entries"])
            case "pool.removed":
                self.pools.pop(name, None)
            case "group.changed":
                self.group_changes.append((name, [*data["owners"], *data["members"]]))
            case "group.removed":
                self.group_changes.append((name, None))
            case "recipe.new":
                self.jobs[int(name)] = data["owner"], data["group"]

    def submit_rights(self, fqdn: str, pools: tuple[str, ...]) -> SubmitRights:
        of_pools = [self.pools[pool] for pool in pools if pool in self.pools]
        return submit_rights(self.own.get(fqdn), of_pools, self.owner[fqdn], self.borrower.get(fqdn))

    def who(self, recipe_id: int) -> Submitter:
        user, group = self.jobs[recipe_id]
        return Submitter(user, group if group is not None and self._counts(user, group) else None)

    def _counts(self, user: str, group: str) -> bool:
        """Return False if the group is removed, or if the last change that concerned the user took them
        out.
        """
        was_in = [user in (people or ()) for name, people in self.group_changes if name == group]
        is_gone = [people is None for name, people in self.group_changes if name == group][-1:] == [True]
        return not is_gone and not (any(was_in) and not was_in[-1])


class Checkpoint(NamedTuple):
    view: SchedulerView
    matcher: SystemMatcher
    latest: LatestRecords


def moments() -> Iterator[Checkpoint]:
    for seed in SEEDS:
        view, latest = SchedulerView(), LatestRecords()
        matcher = SystemMatcher(view)
        for number, commit in enumerate(lived(seed)):
            for record in commit.records:
                view.apply(record)
                latest.apply(record)
            if number % EVERY == 0:
                yield Checkpoint(view, matcher, latest)


def waiting(view: SchedulerView) -> list[Recipe]:
    return [
        recipe
        for recipe in view.recipes.values()
        if recipe.state in ("queued", "assigned") and not recipe.is_guest
    ]


def allowed(moment: Checkpoint, recipe: Recipe, system: System) -> Priority | None:
    """Return the maximum effective priority of a recipe on a system."""
    rights = moment.latest.submit_rights(system.fqdn, moment.view.pools.get(system.fqdn, ()))
    who = moment.latest.who(recipe.recipe_id)
    return None if rights.is_lent_away(who) else rights.maximum(who)


def place(moment: Checkpoint, recipe: Recipe, system: System, bound_first: bool) -> tuple[Any, ...] | None:
    """Return the rank of a recipe on a system, None if the system is closed to the recipe."""
    highest = allowed(moment, recipe, system)
    if highest is None or (recipe.lab is not None and recipe.lab != system.lab):
        return None
    recipe_set = moment.view.sets[recipe.set_id]
    nominal = Priority[recipe_set.priority]
    is_queued, priorities = recipe.state != "assigned", (-min(nominal, highest), -nominal)
    first = (is_queued, *priorities) if bound_first else (*priorities, is_queued)
    return *first, recipe_set.submission


def test_highest_priority__any_submitter_and_system__follows_from_policies_and_loans() -> None:
    answers = Counter[str]()
    for moment in moments():
        view, matcher, _ = moment
        for recipe in waiting(view):
            for system in view.systems.values():
                highest = allowed(moment, recipe, system)
                said = matcher.highest_priority(view.representative(recipe.submitter), system)
                assert said == (None if highest is None else Priority.Urgent - highest)
                answers[str(highest)] += 1
    assert len(answers) == 1 + len(Priority) and min(answers.values()) > 20, "too little happens"


@pytest.mark.parametrize("bound_first", [False, True])
def test_eligible_recipes__before_anybody__are_found_if_there_are_any(bound_first: bool) -> None:
    found = Counter[bool]()
    for moment in moments():
        view, matcher, _ = moment
        for system in view.systems.values():
            places = {each.recipe_id: place(moment, each, system, bound_first) for each in waiting(view)}
            takes = {
                recipe.recipe_id
                for recipe in waiting(view)
                if places[recipe.recipe_id] and could_take_safely(view, matcher, recipe, system)
            }
            for recipe in waiting(view):
                its = places[recipe.recipe_id]
                if its is None:
                    continue
                before = {other for other in takes if (theirs := places[other]) and theirs < its}
                there = rank_on(view, matcher, recipe, system, bound_first=bound_first)
                said = {other.recipe_id for other in eligible_recipes(view, matcher, system, there)}
                assert said <= before
                assert bool(said) == bool(before)
                found[bool(before)] += 1
            assert bool(takes) == any(True for _ in eligible_recipes(view, matcher, system))
    assert min(found.values()) > 20 and len(found) == 2, "too little happens"
