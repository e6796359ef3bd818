"""A lab controller reports on recipes, one or many at a time."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from api.services import Request, Services
from api.store.requests import Append, Committed, Conflict, Outcome, committed
from api.use_cases.commit import PATIENCE_SECONDS, append_of
from api.use_cases.rights import require_own_lab
from domain.errors import LabledgerError, NotPermitted, Refused, Unknown
from domain.events import Decided
from domain.gathered import Gathered, members_after
from domain.recipe_set.messages import Report
from domain.recipe_set.reports import report


@dataclass(frozen=True)
class Item:
    recipe_id: int
    report: Report


Answer = Committed | LabledgerError | None
"""What an item changed, why it was not taken, or None for one that says what is known already."""


async def report_progress(
    services: Services, request: Request, lab_controller: str | None, items: Sequence[Item]
) -> list[Answer]:
    """Take reports in the order given; those on one recipe set are one commit with its systems' events.

    `lab_controller` is the one that reports, None for an admin. Every item gets its own answer: a report that
    is refused does not hold up the others. A request with an Idempotency-Key brings one item.
    """
    answers: dict[int, Answer] = {}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(answers) < len(items):
        if time.monotonic() > deadline:
            raise Conflict("what was reported on kept changing")
        waiting = [number for number in range(len(items)) if number not in answers]
        drafts = await asyncio.to_thread(_decide, services, request, lab_controller, items, waiting)
        outcomes = await asyncio.gather(*(_append(services, draft) for draft in drafts))
        for draft, outcome in zip(drafts, outcomes, strict=True):
            if not isinstance(outcome, Conflict):
                answers.update(draft.answered(outcome))
    return [answers[number] for number in range(len(items))]


@dataclass
class _Draft:
    """What the reports on one set come to: why some are refused, an append of what is new in the others."""

    numbers: tuple[int, ...]
    refused: dict[int, LabledgerError] = field(default_factory=dict)
    append: Append | None = None

    def answered(self, outcome: Outcome | None) -> dict[int, Answer]:
        taken = None if outcome is None else committed(outcome)
        return {number: self.refused.get(number, taken) for number in self.numbers}


async def _append(services: Services, draft: _Draft) -> Outcome | None:
    return None if draft.append is None else await services.append(draft.append)


def _decide(
    services: Services,
    request: Request,
    lab_controller: str | None,
    items: Sequence[Item],
    waiting: Iterable[int],
) -> list[_Draft]:
    """One draft for each set, on fresh state, and one for each report on nothing of theirs."""
    wanted = {number: items[number] for number in waiting}
    gathered = services.aggregates.gather(f"recipe/{item.recipe_id}" for item in wanted.values())
    drafts: list[_Draft] = []
    of_set: dict[int, dict[int, Item]] = defaultdict(dict)
    for number, item in wanted.items():
        recipe = gathered.recipe(item.recipe_id)
        try:
            if recipe is None:
                raise Unknown(f"recipe {item.recipe_id}")
            if recipe.system is not None:
                require_own_lab(lab_controller, recipe.subject, recipe.lab_controller)
            of_set[recipe.recipe_set_id][number] = item
        except (Unknown, NotPermitted) as error:
            drafts.append(_Draft((number,), {number: error}))
    drafts += [_draft(services, request, gathered, set_id, reports) for set_id, reports in of_set.items()]
    return drafts


def _draft(
    services: Services, request: Request, gathered: Gathered, recipe_set_id: int, reports: dict[int, Item]
) -> _Draft:
    draft = _Draft(tuple(reports))
    members = gathered.members(recipe_set_id)
    decided: Decided = []
    for number, item in reports.items():
        try:
            follows = report(members, members.recipe(item.recipe_id), item.report)
        except Refused as error:
            draft.refused[number] = error
            continue
        members = members_after(members, follows)
        decided += follows
    if decided:
        # Only what it changes: reports on recipes of one set would otherwise hold each other up. Nothing is
        # lost by it: who starts a set, takes a system from it or ends a host writes an event of every
        # unfinished recipe that a report could be decided on, and those that have finished never change.
        touched = {subject: gathered.versions[subject] for subject, _ in decided}
        draft.append = append_of(services, request, decided, touched)
    return draft
