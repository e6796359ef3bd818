"""Commits of use cases: load, decide, append, and retry after a conflict."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress

from api.feed import NotReady
from api.use_cases.owning_partition import Owner, owner_of
from api.use_cases.ports import RequestContext, WriteParts
from domain.errors import FaultyInput, Refused, Stale, display_subject
from domain.events import Change, Decided, Stamp
from domain.job.submission import Original
from domain.read_set import ReadSet
from store.requests import AppendRequest, Committed, Conflict, Outcome, new_command_id, require_committed

MAX_RETRY_SECONDS = 10.0


def append_for(
    parts: WriteParts,
    request: RequestContext,
    decided: Decided,
    versions: Mapping[str, int],
    answer: bytes | None = None,
    original: Original | None = None,
    partition: int | None = None,
) -> AppendRequest:
    """Return the append of decided changes.

    `versions` are those of the aggregates that the decision used. A changed aggregate without a version is
    new. The command id is that of the request, otherwise a new one. New jobs need their `partition`; that of
    other changes is found here. May block. Raises TooOften if the actor has reached the quota of log bytes
    for the day.
    """
    if request.has_quota:
        parts.quotas.require_log_bytes(request.actor)
    subjects = [subject for subject, _ in decided]
    if partition is None:
        owner = owner_of(parts.aggregates, parts.feed.directory, decided)
    else:
        owner = Owner(partition)
    stamp = Stamp(parts.clock(), request.actor, f"request/{request.request_id}", token_id=request.token_id)
    return AppendRequest(
        command_id=request.command_id or new_command_id(),
        changes=tuple(Change(subject, event, stamp) for subject, event in decided),
        expected={**dict.fromkeys(subjects, 0), **owner.versions, **versions},
        digest=request.digest,
        answer=answer,
        original=original,
        partition=owner.partition,
        caller=request.caller,
        address=request.address,
    )


async def append(parts: WriteParts, request: AppendRequest) -> Outcome:
    """Append, and store the counts that the commit returns in the quotas."""
    outcome = await parts.commits.submit(request)
    parts.quotas.store_counts(request, outcome)
    return outcome


def require_expected(request: RequestContext, subject: str, version: int) -> None:
    """Raise Stale if the version of the subject is not one of those in the request's If-Match."""
    if request.expected is not None and version not in request.expected:
        raise Stale(f"{display_subject(subject)} is now at version {version}")


async def commit(
    parts: WriteParts, decide: Callable[[], Awaitable[AppendRequest | None]]
) -> Committed | None:
    """Append a decision on fresh state; retry conflicts for MAX_RETRY_SECONDS, at least once.

    Returns None if nothing changes.
    """
    request = await decide()
    outcome = None if request is None else await append(parts, request)
    # From the first conflict on: a decision on thousands of systems may take longer itself.
    deadline = time.monotonic() + MAX_RETRY_SECONDS
    if request is not None and isinstance(outcome, Conflict):
        # Retries of a caller run one at a time: of concurrent ones on one subject, only one would succeed.
        async with parts.retries.hold(request.caller, is_bounded=False):
            # Also after a wait of that time, each request is retried once.
            is_first = True
            while isinstance(outcome, Conflict) and (is_first or time.monotonic() < deadline):
                is_first = False
                await parts.feed.catch_up()
                request = await decide()
                outcome = None if request is None else await append(parts, request)
    if isinstance(outcome, Conflict):
        raise Conflict(f"concurrent requests kept changing the same objects: {outcome}")
    return None if outcome is None else require_committed(outcome)


async def commit_aggregates(
    parts: WriteParts,
    request: RequestContext,
    subjects: Iterable[str],
    decide: Callable[[ReadSet], Decided],
    also_read: Callable[[ReadSet], Iterable[str]] = lambda _: (),
) -> Committed | None:
    """Commit a decision on jobs, recipes, recipe sets and systems.

    The first subject is that of the request, to which If-Match applies. The append checks the versions of the
    whole read set: if two concurrent decisions each change a subject that the other only reads, one of them
    has to retry. `also_read` yields the directory entries whose versions are checked, too.
    """
    subject_list = tuple(subjects)

    def attempt() -> AppendRequest | None:
        gathered = parts.aggregates.gather(subject_list)
        # Read before the decision, so that a later change is a conflict.
        versions = {subject: parts.feed.directory.version(subject) for subject in also_read(gathered)}
        try:
            decided = decide(gathered)
        except (FaultyInput, Refused):
            # Stale takes precedence over these errors, but not over Unknown and NotPermitted.
            _require_expected(request, subject_list[0], gathered)
            raise
        _require_expected(request, subject_list[0], gathered)
        return append_for(parts, request, decided, {**gathered.versions, **versions}) if decided else None

    return await commit(parts, lambda: asyncio.to_thread(attempt))


def _require_expected(request: RequestContext, subject: str, gathered: ReadSet) -> None:
    version = gathered.versions.get(subject)
    if version is not None:
        require_expected(request, subject, version)


async def commit_directory(
    parts: WriteParts, request: RequestContext, subject: str, decide: Callable[[], AppendRequest | None]
) -> Committed | None:
    """Commit a decision on the directory and wait until it is reflected. If-Match applies to `subject`."""
    directory = parts.feed.directory
    if request.expected is not None:
        # The directory must be current: neither an old version nor a missing new entry may match.
        await parts.feed.catch_up()

    def check_and_decide() -> AppendRequest | None:
        kind, _, name = subject.partition("/")
        entry = directory.get(kind, name)
        require_expected(request, subject, entry.version if entry else 0)
        return decide()

    async def decide_on_current() -> AppendRequest | None:
        append_request = check_and_decide()
        if append_request is None:
            # Without an append nothing checks the versions, so decide again on the current directory.
            await parts.feed.catch_up()
            append_request = check_and_decide()
        return append_request

    return await wait_until_reflected(parts, await commit(parts, decide_on_current))


async def wait_until_reflected(parts: WriteParts, done: Committed | None) -> Committed | None:
    """Wait until the directory reflects a commit; return the commit."""
    if done is not None:
        await parts.feed.reach(done.position)
    return done


async def reflected_if_soon(parts: WriteParts, done: Committed | None) -> Committed | None:
    """Wait as `wait_until_reflected`; return the commit also if this process takes too long to read it.

    For one of several commits of a request: the answer must say that it has succeeded.
    """
    with suppress(NotReady):
        await wait_until_reflected(parts, done)
    return done
