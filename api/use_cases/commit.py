"""The commit of a use case: load, decide, append, and retry after a conflict."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping

from api.services import Request, Services
from domain.errors import FaultyInput, Refused, Stale
from domain.events import Change, Decided
from domain.job.submission import Original
from domain.names import display_subject
from domain.read_set import ReadSet
from store.requests import AppendRequest, Committed, Conflict, Outcome, new_command_id, require_committed

PATIENCE_SECONDS = 10.0


def append_of(
    services: Services,
    request: Request,
    decided: Decided,
    versions: Mapping[str, int],
    answer: bytes | None = None,
    original: Original | None = None,
) -> AppendRequest:
    """Build one append from decided changes.

    `versions` are those of the aggregates that the decision used. An aggregate that is changed and has no
    version is new. The command id is that of the request's Idempotency-Key, otherwise a new one. Raises
    TooOften when the actor has reached the quota of the day.
    """
    if request.has_quota:
        services.quotas.require_log_bytes(request.actor)
    stamp = services.stamp(request)
    return AppendRequest(
        command_id=request.command_id or new_command_id(),
        changes=tuple(Change(subject, event, stamp) for subject, event in decided),
        expected={**dict.fromkeys((subject for subject, _ in decided), 0), **versions},
        digest=request.digest,
        answer=answer,
        original=original,
    )


def require_expected(request: Request, subject: str, version: int) -> None:
    """Raise Stale if the subject has none of the versions in the request's If-Match."""
    if request.expected is not None and version not in request.expected:
        raise Stale(f"{display_subject(subject)} is now at version {version}")


async def commit(
    services: Services, decide: Callable[[], Awaitable[AppendRequest | None]]
) -> Committed | None:
    """Decide and append, and retry after a conflict; return None if there was nothing to change.

    `decide` loads fresh state each time. Raises its errors, and Conflict after `PATIENCE_SECONDS`.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    outcome = await _attempt(services, decide)
    if isinstance(outcome, Conflict):
        # Retries run one after another: of many concurrent ones on one thing only one would succeed.
        async with services.trying_again:
            while isinstance(outcome, Conflict) and time.monotonic() < deadline:
                await services.feed.catch_up()
                outcome = await _attempt(services, decide)
    if isinstance(outcome, Conflict):
        raise Conflict(f"others kept changing the same things: {outcome}")
    return None if outcome is None else require_committed(outcome)


async def _attempt(
    services: Services, decide: Callable[[], Awaitable[AppendRequest | None]]
) -> Outcome | None:
    append = await decide()
    return None if append is None else await services.append(append)


async def commit_gathered(
    services: Services,
    request: Request,
    subjects: Iterable[str],
    decide: Callable[[ReadSet], Decided],
    beside: Callable[[ReadSet], Iterable[str]] = lambda _: (),
) -> Committed | None:
    """Commit a decision on jobs, recipes, recipe sets and systems.

    The first of the subjects is the one that the request is about. The append checks the versions of
    everything that was gathered: of two decisions that each change what the other only read, one has to
    retry. `beside` names the directory entries whose versions are checked too.
    """
    wanted = tuple(subjects)

    def attempt() -> AppendRequest | None:
        gathered = services.aggregates.gather(wanted)
        # Read before the decision, so that a later change is a conflict.
        versions = {subject: services.feed.directory.version(subject) for subject in beside(gathered)}
        try:
            decided = decide(gathered)
        except (FaultyInput, Refused):
            # Stale comes before these errors, but after Unknown and NotPermitted.
            _require_expected(request, wanted[0], gathered)
            raise
        _require_expected(request, wanted[0], gathered)
        return append_of(services, request, decided, {**gathered.versions, **versions}) if decided else None

    return await commit(services, lambda: asyncio.to_thread(attempt))


def _require_expected(request: Request, subject: str, gathered: ReadSet) -> None:
    version = gathered.versions.get(subject)
    if version is not None:
        require_expected(request, subject, version)


async def commit_named(
    services: Services, request: Request, about: str, decide: Callable[[], AppendRequest | None]
) -> Committed | None:
    """Commit a decision on the directory, and wait until the directory reflects it.

    `about` is the subject of the request; a missing one has version 0.
    """
    directory = services.feed.directory
    if request.expected is not None:
        # The directory must be current: neither an old version nor a missing new entry may match.
        await services.feed.catch_up()

    def look() -> AppendRequest | None:
        kind, _, name = about.partition("/")
        entry = directory.get(kind, name)
        require_expected(request, about, entry.version if entry else 0)
        return decide()

    async def decide_again() -> AppendRequest | None:
        append = look()
        if append is None:
            # Without an append nothing checks the versions, so decide again on the current directory.
            await services.feed.catch_up()
            append = look()
        return append

    done = await commit(services, decide_again)
    if done is not None:
        await services.feed.reach(done.position)
    return done
