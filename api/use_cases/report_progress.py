"""A lab controller reports on recipes, one or many at a time."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from api.services import Request, Services
from api.store.requests import Append, Committed, Conflict, Outcome, committed
from api.use_cases.commit import PATIENCE_SECONDS, append_of
from api.use_cases.keyed import part, require_same
from api.use_cases.rights import require_own_lab
from domain.errors import LabledgerError, NotPermitted, Refused, Unknown
from domain.events import Decided
from domain.gathered import Gathered, members_after
from domain.names import called
from domain.recipe_set.messages import Report
from domain.recipe_set.reports import report


@dataclass(frozen=True)
class Item:
    recipe_id: int
    report: Report


Answer = Committed | LabledgerError | None
"""What an item changed, why it was not taken, or None for one that says what is known already."""


async def report_progress(
    services: Services,
    request: Request,
    lab_controller: str | None,
    items: Sequence[Item],
    numbers: Sequence[int] | None = None,
) -> list[Answer]:
    """Take reports in the order given; those on one recipe set are one commit with its systems' events.

    `lab_controller` is the one that reports, None for an admin. Every item gets its own answer: a report that
    is refused does not hold up the others. Under an Idempotency-Key the reports on one set are found again by
    the number of the first of them in its message; without `numbers` the request brings one item.
    """
    message = _Message(services, request, lab_controller, items, numbers)
    answers: dict[int, Answer] = {}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(answers) < len(items):
        if time.monotonic() > deadline:
            raise Conflict("what was reported on kept changing")
        waiting = [place for place in range(len(items)) if place not in answers]
        drafts = await asyncio.to_thread(_decide, message, waiting)
        outcomes = await asyncio.gather(*(_append(services, draft) for draft in drafts))
        for draft, outcome in zip(drafts, outcomes, strict=True):
            if not isinstance(outcome, Conflict):
                answers.update(message.answers(draft, outcome))
    return [answers[place] for place in range(len(items))]


def answers_kept(done: Mapping[int, Committed]) -> dict[int, Answer]:
    """What was answered to the items of a message, by their numbers, where commits of it are found again."""
    kept: dict[int, Answer] = {}
    for number, commit in done.items():
        told: dict[str, str | None] = orjson.loads(commit.answer) if commit.answer else {str(number): None}
        kept |= {int(one): commit if why is None else Refused(why) for one, why in told.items()}
    return kept


@dataclass(frozen=True)
class _Message:
    services: Services
    request: Request
    lab_controller: str | None
    items: Sequence[Item]
    numbers: Sequence[int] | None

    def append(self, draft: _Draft, decided: Decided, versions: Mapping[str, int]) -> Append:
        """Of the reports on one set; its answer is {number: null, or why it is refused}."""
        request, answer = self.request, None
        if request.command_id is not None and self.numbers is not None:
            request = part(request, self.numbers[draft.places[0]])
            told = {str(self.numbers[place]): draft.why(place) for place in draft.places}
            answer = orjson.dumps(told)
        return append_of(self.services, request, decided, versions, answer)

    def answers(self, draft: _Draft, outcome: Outcome | None) -> dict[int, Answer]:
        """By place among the items."""
        taken = None if outcome is None else committed(outcome)
        if taken is None or not taken.repeated or self.numbers is None:
            return {place: draft.refused.get(place, taken) for place in draft.places}
        # The same message at the same time: the other was first.
        require_same(self.request, taken)
        kept = answers_kept({self.numbers[draft.places[0]]: taken})
        return {place: kept[self.numbers[place]] for place in draft.places}


@dataclass
class _Draft:
    """What the reports on one set come to: why some are refused, an append of what is new in the others.

    `places` are those of the reports among the items.
    """

    places: tuple[int, ...]
    refused: dict[int, LabledgerError] = field(default_factory=dict)
    append: Append | None = None

    def why(self, place: int) -> str | None:
        error = self.refused.get(place)
        return None if error is None else str(error)


async def _append(services: Services, draft: _Draft) -> Outcome | None:
    return None if draft.append is None else await services.append(draft.append)


def _decide(message: _Message, waiting: Iterable[int]) -> list[_Draft]:
    """One draft for each set, on fresh state, and one for each report on nothing of theirs."""
    wanted = {place: message.items[place] for place in waiting}
    aggregates = message.services.aggregates
    gathered = aggregates.gather(f"recipe/{item.recipe_id}" for item in wanted.values())
    drafts: list[_Draft] = []
    of_set: dict[int, dict[int, Item]] = defaultdict(dict)
    for place, item in wanted.items():
        recipe = gathered.recipe(item.recipe_id)
        try:
            if recipe is None:
                raise Unknown(called("recipe", item.recipe_id))
            if recipe.system is not None:
                require_own_lab(message.lab_controller, recipe.subject, recipe.lab_controller)
            of_set[recipe.recipe_set_id][place] = item
        except (Unknown, NotPermitted) as error:
            drafts.append(_Draft((place,), {place: error}))
    drafts += [_draft(message, gathered, set_id, reports) for set_id, reports in of_set.items()]
    return drafts


def _draft(message: _Message, gathered: Gathered, recipe_set_id: int, reports: dict[int, Item]) -> _Draft:
    draft = _Draft(tuple(reports))
    members = gathered.members(recipe_set_id)
    decided: Decided = []
    for place, item in reports.items():
        try:
            follows = report(members, members.recipe(item.recipe_id), item.report)
        except Refused as error:
            draft.refused[place] = error
            continue
        members = members_after(members, follows)
        decided += follows
    if decided:
        # Only what it changes: reports on recipes of one set would otherwise hold each other up. Nothing is
        # lost by it: who starts a set, takes a system from it or ends a host writes an event of every
        # unfinished recipe that a report could be decided on, and those that have finished never change.
        touched = {subject: gathered.versions[subject] for subject, _ in decided}
        draft.append = message.append(draft, decided, touched)
    return draft
