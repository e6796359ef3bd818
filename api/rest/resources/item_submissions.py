"""Submission of jobs one by one: those of a list, or of a part of a stream. Each has its own answer."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import orjson

from api.caller_slots import SlotTaken
from api.headers import RETRY_AFTER_SECONDS
from api.intake.list_members import content_of
from api.rest.context import Principal
from api.rest.ports import SubmissionParts
from api.rest.problems import problem_of, retry_seconds_of
from api.rest.resources.submissions import ValidSubmission, submit_valid, validate_submission
from api.use_cases.idempotency import commit_unless_done, item_request, require_same
from api.use_cases.ports import RequestContext
from domain.errors import LabledgerError
from domain.job.submission import Ids, Original, counts
from store.requests import Committed


class JobItem(NamedTuple):
    """The bytes of a job in a list or stream, an object or a string in JSON, and its number there."""

    number: int
    member: bytes


ITEM: Final = "a member of a list or stream"

T = TypeVar("T")

logger = logging.getLogger(__name__)

Outcome = Committed | LabledgerError


class ItemFailed(LabledgerError):
    """The service failed."""


async def submit_items(
    parts: SubmissionParts,
    principal: Principal,
    request: RequestContext,
    items: Sequence[JobItem],
    *,
    strict: bool,
) -> list[Outcome]:
    """Submit each job in a commit of its own, and return its commit or its error, in the order of the items.

    The ids of the jobs that one call submits ascend in this order, except those of jobs that had to wait and
    those that a new job filter concerns. A repeated request with a key submits only the jobs that it has not
    submitted; their ids are higher than those of the others. Raises DatabaseAway if the commits of earlier
    requests cannot be read.
    """
    given = [ItemSubmission(parts, principal, _request_of(request, item), item, strict) for item in items]
    keys = [each.request.command_id for each in given if each.request.command_id is not None]
    before = await asyncio.to_thread(parts.log.commits_of, keys) if keys else {}
    outcomes = await _run_each([partial(each.commit_or_valid, before) for each in given])
    await _submit_valid_ones(parts, given, outcomes)
    for index, outcome in enumerate(outcomes):
        # A long choice of distro trees is refused while another one of the submitter runs. One repetition, so
        # that no item waits for ever.
        if isinstance(outcome, SlotTaken):
            outcomes[index] = await _outcome(partial(given[index].commit, before))
    return [_outcome_of(item, outcome) for item, outcome in zip(items, outcomes, strict=True)]


@dataclass(frozen=True)
class ItemSubmission:
    """The submission of one item, with a request of its own."""

    parts: SubmissionParts
    principal: Principal
    request: RequestContext
    item: JobItem
    strict: bool

    async def commit_or_valid(self, before: Mapping[str, Committed]) -> Committed | ValidSubmission:
        """Return the commit of an earlier request, by its command id, or else the valid job.

        Raises the errors of `require_same` and `validate_submission`.
        """
        done = before.get(self.request.command_id or "")
        if done is not None:
            require_same(self.request, done)
            return done
        content = Original(*content_of(self.item.member))
        return await validate_submission(
            self.parts, self.principal, content, strict=self.strict, one_job=ITEM
        )

    async def submit(self, submission: ValidSubmission, ids: Ids | None = None) -> Committed:
        submit = partial(submit_valid, self.parts, self.principal, self.request, submission, ids)
        done = await commit_unless_done(self.parts.log, self.request, submit)
        assert done is not None, "a submission is always something new"
        return done

    async def commit(self, before: Mapping[str, Committed]) -> Committed:
        """Validate the job again and submit it: the submitter may have lost a right meanwhile."""
        found = await self.commit_or_valid(before)
        return found if isinstance(found, Committed) else await self.submit(found)


async def _submit_valid_ones(
    parts: SubmissionParts,
    given: Sequence[ItemSubmission],
    outcomes: list[Committed | ValidSubmission | Exception],
) -> None:
    """Submit the valid jobs among the outcomes with ascending ids, and replace them by their outcomes."""
    valid = {index: each for index, each in enumerate(outcomes) if isinstance(each, ValidSubmission)}
    if not valid:
        return
    try:
        ids = await parts.numbers.take_all([counts(each.jobs[0].spec) for each in valid.values()])
    except Exception as error:
        for index in valid:
            outcomes[index] = error
        return
    calls = [
        partial(given[index].submit, submission, job_ids)
        for (index, submission), job_ids in zip(valid.items(), ids, strict=True)
    ]
    for index, outcome in zip(valid, await _run_each(calls), strict=True):
        outcomes[index] = outcome


async def _run_each(calls: Sequence[Callable[[], Awaitable[T]]]) -> list[T | Exception]:
    """Run the calls concurrently, and return the result or the error of each."""
    tasks: list[asyncio.Task[T | Exception]] = []
    async with asyncio.TaskGroup() as group:
        for call in calls:
            tasks.append(group.create_task(_outcome(call)))
            # Each begins in a turn of its own of the event loop, so other requests have turns in between.
            await asyncio.sleep(0)
    return [task.result() for task in tasks]


async def _outcome(call: Callable[[], Awaitable[T]]) -> T | Exception:
    try:
        return await call()
    except Exception as error:
        return error


def _outcome_of(item: JobItem, outcome: Committed | ValidSubmission | Exception) -> Outcome:
    """Return the outcome for the client. Log an error that is a fault of the service."""
    if isinstance(outcome, (Committed, LabledgerError)):
        return outcome
    assert isinstance(outcome, Exception), "each valid job was submitted, or its submission failed"
    # The other items are submitted, and their clients need the answers.
    logger.error("item %d failed", item.number, exc_info=outcome)
    return ItemFailed("see the log of the service")


def item_answer(outcome: Outcome, place: str = "") -> dict[str, Any]:
    """Return the answer for an item: status 201 with its ids, or the problem.

    The locations of errors begin with `place`. A temporary problem has `retry_after_seconds`.
    """
    if isinstance(outcome, LabledgerError):
        answered = problem_of(outcome)
        if (seconds := retry_seconds_of(outcome)) is not None:
            answered[RETRY_AFTER_SECONDS] = seconds
        for error in answered.get("errors", ()):
            error["where"] = f"{place}{error['where']}"
        return answered
    answer: Mapping[str, Any] = orjson.loads(outcome.answer or b"{}")
    return {"status": 201, "position": outcome.position, **answer}


def _request_of(request: RequestContext, item: JobItem) -> RequestContext:
    """Return the request for an item. Its digest is that of its bytes."""
    own = item_request(request, item.number)
    if own.command_id is None:
        return own
    return replace(own, digest=hashlib.sha256(item.member).digest())
