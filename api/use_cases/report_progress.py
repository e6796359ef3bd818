"""Reports of a lab controller on recipes and commands, one or many at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import orjson

from api.use_cases.commit import MAX_RETRY_SECONDS, append, append_for
from api.use_cases.idempotency import item_request, items_done_before, require_same
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.report_drafts import CommandItem, RecipeItem, ReportDraft, of_commands, of_recipes
from api.use_cases.submit_job import submitted_numbers
from domain.errors import LabledgerError, Refused
from store.requests import AppendRequest, Committed, Conflict, require_committed

Answer = Committed | LabledgerError | None
"""The commit of an item, the error that refused it, or None if it changed nothing."""


async def report_progress(
    parts: WriteParts,
    request: RequestContext,
    lab_controller: str | None,
    items: Sequence[RecipeItem | CommandItem],
    numbers: Sequence[int] | None = None,
) -> list[Answer]:
    """Process reports in the given order, each with its own answer: a refused one does not stop the others.

    `lab_controller` is the reporting one, None for an admin. Reports on one recipe set, or one command, are
    committed together; all reports are one commit unless some conflict with a concurrent change. Under an
    Idempotency-Key, a commit has the key of its first report's number in the message; without `numbers` the
    request is a single report.
    """
    message = _Message(parts, request, lab_controller, items, numbers)
    answers: dict[int, Answer] = {}
    deadline = time.monotonic() + MAX_RETRY_SECONDS
    is_first = True
    while len(answers) < len(items):
        if time.monotonic() > deadline:
            raise Conflict("concurrent requests kept changing the reported recipes and commands")
        waiting = [place for place in range(len(items)) if place not in answers]
        drafts = await asyncio.to_thread(message.decide, waiting)
        # After the decision: an earlier commit of the same message is found here, a later one is a conflict.
        answers |= await message.done_before(waiting)
        drafts = [draft for draft in drafts if answers.keys().isdisjoint(draft.places)]
        new = [draft for draft in drafts if draft.decided]
        for draft in drafts:
            if not draft.decided:
                answers |= {place: draft.refused.get(place) for place in draft.places}
        # A conflict only delays the reports on the changed subjects.
        groups = [new] if is_first and new else [[draft] for draft in new]
        for answered in await asyncio.gather(*map(message.commit, groups)):
            answers |= answered
        is_first = False
    return [answers[place] for place in range(len(items))]


def earlier_answers(done: Mapping[int, Committed]) -> dict[int, Answer]:
    """Return the earlier answers to items of a repeated message, by their numbers."""
    earlier: dict[int, Answer] = {}
    for number, commit in done.items():
        reasons: dict[str, str | None] = {str(number): None}
        if commit.answer and submitted_numbers(commit) is None:
            reasons = orjson.loads(commit.answer)
        earlier |= {
            int(item): commit if reason is None else Refused(reason) for item, reason in reasons.items()
        }
    return earlier


@dataclass(frozen=True)
class _Message:
    parts: WriteParts
    request: RequestContext
    lab_controller: str | None
    items: Sequence[RecipeItem | CommandItem]
    numbers: Sequence[int] | None

    def decide(self, waiting: Iterable[int]) -> list[ReportDraft]:
        """Return the drafts of the items at these places, on fresh state. Blocking."""
        recipes: dict[int, RecipeItem] = {}
        commands: dict[int, CommandItem] = {}
        for place in waiting:
            item = self.items[place]
            if isinstance(item, RecipeItem):
                recipes[place] = item
            else:
                commands[place] = item
        drafts = of_commands(self.parts.log, commands) if commands else []
        if recipes:
            directory = self.parts.feed.directory
            drafts += of_recipes(self.parts.aggregates, directory, self.lab_controller, recipes)
        return drafts

    async def done_before(self, waiting: Iterable[int]) -> dict[int, Answer]:
        """Return earlier answers to items, which may be in the commit of another item, by place."""
        if self.numbers is None:
            return {}
        earlier = earlier_answers(await items_done_before(self.parts.log, self.request, self.numbers))
        return {place: earlier[number] for place in waiting if (number := self.numbers[place]) in earlier}

    async def commit(self, drafts: Sequence[ReportDraft]) -> dict[int, Answer]:
        """Append all drafts in one commit; return the answers by place, none after a conflict."""
        request = await self._appended(drafts)
        outcome = await append(self.parts, request)
        if isinstance(outcome, Conflict):
            return {}
        taken = require_committed(outcome)
        if not taken.repeated or self.numbers is None or self.request.command_id is None:
            # Without a key, a repeated commit is that of this append, whose first answer got lost.
            return {place: draft.refused.get(place, taken) for draft in drafts for place in draft.places}
        # A concurrent request with the same message has committed first, with all or some of these items.
        require_same(self.request, taken)
        earlier = earlier_answers({self.numbers[_first(drafts)]: taken})
        places = [place for draft in drafts for place in draft.places]
        return {place: earlier[self.numbers[place]] for place in places if self.numbers[place] in earlier}

    async def _appended(self, drafts: Sequence[ReportDraft]) -> AppendRequest:
        """Return the append, decided in a thread if it reads the log for the partitions of commands."""
        subjects = [subject for draft in drafts for subject, _ in draft.decided]
        if len(self.parts.feed.directory.partition_names) == 1 or not _are_commands(subjects):
            return self._append_for(drafts)
        return await asyncio.to_thread(self._append_for, drafts)

    def _append_for(self, drafts: Sequence[ReportDraft]) -> AppendRequest:
        """Return the append; its stored answer is {number: null, or the reason of the refusal}."""
        request, answer = self.request, None
        if request.command_id is not None and self.numbers is not None:
            request = item_request(request, self.numbers[_first(drafts)])
            reasons = {
                str(self.numbers[place]): draft.refusal(place) for draft in drafts for place in draft.places
            }
            answer = orjson.dumps(reasons)
        # Drafts are in the order of the message, so the log has the order in which the lab acted.
        decided = [change for draft in drafts for change in draft.decided]
        versions = {subject: version for draft in drafts for subject, version in draft.versions.items()}
        return append_for(self.parts, request, decided, versions, answer)


def _are_commands(subjects: Sequence[str]) -> bool:
    return all(subject.startswith("command/") for subject in subjects)


def _first(drafts: Sequence[ReportDraft]) -> int:
    return min(draft.places[0] for draft in drafts)
