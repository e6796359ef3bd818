"""A lab controller reports on recipes, one or many at a time."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from api.services import Request, Services
from api.store.aggregates import after
from api.store.requests import Append, Committed, Conflict, Outcome, new_command_id
from domain.errors import LabledgerError, NotPermitted, Refused, Unknown
from domain.events import Change
from domain.recipe.reports import Report, report
from domain.recipe.state import Recipe
from domain.system.state import System

ATTEMPTS = 20


@dataclass(frozen=True)
class Item:
    recipe_id: int
    report: Report


Answer = int | LabledgerError
"""The log position that reflects an item, or why it was not taken."""


async def report_progress(
    services: Services, request: Request, lab_controller: str | None, items: Sequence[Item]
) -> list[Answer]:
    """Take reports in the order given; each recipe's reports are one commit with its system's events.

    `lab_controller` is the one that reports, None for an admin. Every item gets its own answer: a report that
    is refused does not hold up the others.
    """
    answers: dict[int, Answer] = {}
    waiting: dict[int, list[int]] = defaultdict(list)
    for number, item in enumerate(items):
        waiting[item.recipe_id].append(number)
    for _ in range(ATTEMPTS):
        drafts = await asyncio.to_thread(_decide, services, request, lab_controller, items, waiting)
        outcomes = await asyncio.gather(*(_append(services, draft) for draft in drafts))
        for draft, outcome in zip(drafts, outcomes, strict=True):
            if not isinstance(outcome, Conflict):
                answers.update(draft.answered(outcome))
                del waiting[draft.recipe_id]
        if not waiting:
            return [answers[number] for number in range(len(items))]
    raise Conflict(f"recipes {', '.join(map(str, waiting))} kept changing")


@dataclass
class _Draft:
    """What the reports on one recipe come to: an append, if anything is new, and an answer for each item."""

    recipe_id: int
    answers: dict[int, LabledgerError | None]
    position: int
    append: Append | None = None

    def answered(self, outcome: Outcome | None) -> dict[int, Answer]:
        if isinstance(outcome, Committed):
            position: Answer = outcome.position
        else:
            position = self.position if outcome is None else outcome
        return {number: position if error is None else error for number, error in self.answers.items()}


async def _append(services: Services, draft: _Draft) -> Outcome | None:
    return None if draft.append is None else await services.append(draft.append)


def _decide(
    services: Services,
    request: Request,
    lab_controller: str | None,
    items: Sequence[Item],
    waiting: dict[int, list[int]],
) -> list[_Draft]:
    """One draft per recipe, on fresh state: two queries, however many recipes."""
    load = services.aggregates.load
    end = services.feed.position
    recipes = load(f"recipe/{recipe_id}" for recipe_id in waiting)
    fqdns = [recipe.system for recipe in recipes.values() if isinstance(recipe, Recipe) and recipe.system]
    systems = load(f"system/{fqdn}" for fqdn in fqdns)
    drafts = []
    for recipe_id, numbers in waiting.items():
        recipe = recipes.get(f"recipe/{recipe_id}")
        error = _not_theirs(recipe_id, recipe, lab_controller)
        if error is not None or not isinstance(recipe, Recipe):
            drafts.append(_Draft(recipe_id, dict.fromkeys(numbers, error), end))
            continue
        system = systems[f"system/{recipe.system}"]
        assert isinstance(system, System)
        reports = {number: items[number].report for number in numbers}
        drafts.append(_draft(services, request, recipe, system, reports, end))
    return drafts


def _not_theirs(recipe_id: int, recipe: object, lab_controller: str | None) -> LabledgerError | None:
    if not isinstance(recipe, Recipe):
        return Unknown(f"recipe {recipe_id}")
    if recipe.system is None:
        return Refused(f"{recipe.subject} is {recipe.state}: it has no system")
    if lab_controller not in (None, recipe.lab_controller):
        return NotPermitted(f"{recipe.subject} is in the lab of {recipe.lab_controller}")
    return None


def _draft(
    services: Services,
    request: Request,
    recipe: Recipe,
    system: System,
    reports: dict[int, Report],
    end: int,
) -> _Draft:
    draft = _Draft(recipe.recipe_id, {}, end)
    expected = {recipe.subject: recipe.version, system.subject: system.version}
    changes: list[Change] = []
    stamp = services.stamp(request)
    for number, message in reports.items():
        try:
            decided = report(recipe, system, message)
        except Refused as error:
            draft.answers[number] = error
            continue
        draft.answers[number] = None
        for subject, event in decided:
            changes.append(Change(subject, event, stamp))
            if subject == recipe.subject:
                moved = after(subject, recipe, event, recipe.version + 1, recipe.submission)
                assert isinstance(moved, Recipe)
                recipe = moved
            else:
                usage = after(subject, system, event, system.version + 1, system.since)
                assert isinstance(usage, System)
                system = usage
    if changes:
        touched = {change.subject for change in changes}
        draft.append = Append(
            command_id=new_command_id(),
            changes=tuple(changes),
            expected={subject: version for subject, version in expected.items() if subject in touched},
        )
    return draft
