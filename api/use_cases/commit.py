"""Load, decide, save: and again when something moved in between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping

from api.services import Request, Services
from domain.errors import FaultyInput, Refused, Stale
from domain.events import Change, Decided
from domain.gathered import Gathered
from domain.job.submission import Original
from store.requests import Append, Committed, Conflict, Outcome, committed, new_command_id

PATIENCE_SECONDS = 10.0


def append_of(
    services: Services,
    request: Request,
    decided: Decided,
    versions: Mapping[str, int],
    answer: bytes | None = None,
    original: Original | None = None,
) -> Append:
    """Build one append from decided changes; `versions` are those of the aggregates that they rest on.

    An aggregate that is changed and has no version is new. Under a request's Idempotency-Key the append is
    found again by that key, otherwise it is a command of its own. Raises TooOften when its actor has reached
    the quota of the day.
    """
    if request.has_quota:
        services.quotas.require_log_bytes(request.actor)
    stamp = services.stamp(request)
    return Append(
        command_id=request.command_id or new_command_id(),
        changes=tuple(Change(subject, event, stamp) for subject, event in decided),
        expected={**dict.fromkeys((subject for subject, _ in decided), 0), **versions},
        digest=request.digest,
        answer=answer,
        original=original,
    )


def require_expected(request: Request, subject: str, version: int) -> None:
    """Raises Stale when what the request is about has none of the versions that it names."""
    if request.expected is not None and version not in request.expected:
        raise Stale(f"{subject} has version {version} now")


async def commit(services: Services, decide: Callable[[], Awaitable[Append | None]]) -> Committed | None:
    """Decide and append until nothing moved in between; None when there was nothing to change.

    `decide` looks at fresh state each time. Raises what it raises, and Conflict when it never stands still.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    outcome = await _attempt(services, decide)
    if isinstance(outcome, Conflict):
        # One after another: of many that want the same thing at once only one would get it, each time again.
        async with services.trying_again:
            while isinstance(outcome, Conflict) and time.monotonic() < deadline:
                await services.feed.catch_up()
                outcome = await _attempt(services, decide)
    if isinstance(outcome, Conflict):
        raise Conflict(f"it kept changing: {outcome}")
    return None if outcome is None else committed(outcome)


async def _attempt(services: Services, decide: Callable[[], Awaitable[Append | None]]) -> Outcome | None:
    append = await decide()
    return None if append is None else await services.append(append)


async def commit_gathered(
    services: Services,
    request: Request,
    subjects: Iterable[str],
    decide: Callable[[Gathered], Decided],
    beside: Callable[[Gathered], Iterable[str]] = lambda _: (),
) -> Committed | None:
    """The same for a decision on jobs, recipes, sets and systems, which rests on everything it was shown.

    The first of the subjects is what the request is about. Two that each change what the other only looked
    at would both be right and together wrong: of these one has to try again. `beside` names what of the
    directory it rests on as well.
    """
    wanted = tuple(subjects)

    def attempt() -> Append | None:
        gathered = services.aggregates.gather(wanted)
        # Before it is decided: what changes from then on is noticed.
        versions = {subject: services.feed.directory.version(subject) for subject in beside(gathered)}
        try:
            decided = decide(gathered)
        except (FaultyInput, Refused):
            # Not for who is told that there is no such thing, or that it is not theirs.
            _require_expected(request, wanted[0], gathered)
            raise
        _require_expected(request, wanted[0], gathered)
        return append_of(services, request, decided, {**gathered.versions, **versions}) if decided else None

    return await commit(services, lambda: asyncio.to_thread(attempt))


def _require_expected(request: Request, subject: str, gathered: Gathered) -> None:
    version = gathered.versions.get(subject)
    if version is not None:
        require_expected(request, subject, version)


async def commit_named(
    services: Services, request: Request, about: str, decide: Callable[[], Append | None]
) -> Committed | None:
    """The same for a decision on the directory, which reflects it when this returns.

    `about` is the named thing that the request is about; of one that is not there the version is 0.
    """
    directory = services.feed.directory
    if request.expected is not None:
        # Neither may an old version be taken for the present one, nor one that is new for none.
        await services.feed.catch_up()

    def look() -> Append | None:
        kind, _, name = about.partition("/")
        entry = directory.get(kind, name)
        require_expected(request, about, entry.version if entry else 0)
        return decide()

    async def decide_again() -> Append | None:
        append = look()
        if append is None:
            # That there is nothing to do rests on nothing that the append would check.
            await services.feed.catch_up()
            append = look()
        return append

    done = await commit(services, decide_again)
    if done is not None:
        await services.feed.reach(done.position)
    return done
