"""Begin and end of loans of systems."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from api.use_cases.commit import commit_aggregates, wait_until_reflected
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.resolve import present_system, user_and_end_faults
from api.use_cases.system_rights import (
    require_may_end_loan,
    require_may_lend,
    require_viewed,
    rights_subjects,
)
from domain.endings import with_reason
from domain.errors import FaultyInput
from domain.events import Decided
from domain.read_set import ReadSet
from domain.rfc3339 import rfc3339
from domain.system.state import Loan
from domain.system_admin import loan as upkeep
from store.requests import Committed


async def lend_system(
    parts: WriteParts, request: RequestContext, fqdn: str, user: str, until: datetime | None
) -> Committed | None:
    """Lend a system to a user; return None if the same loan exists. A loan with `until` None has no end.

    Raises FaultyInput for an unknown user and a past time, Unknown, Stale, NotPermitted, and Refused for a
    system on loan to another user, or Removed.
    """
    if user_and_end_faults(parts, user, until):
        await parts.feed.catch_up()

    def decide(gathered: ReadSet) -> Decided:
        system = present_system(gathered, fqdn)
        require_may_lend(parts.feed.directory, request, system, user)
        if faults := user_and_end_faults(parts, user, until):
            raise FaultyInput(faults)
        return upkeep.lend(system, Loan(user, until), None if until is None else rfc3339(until))

    def also_read(gathered: ReadSet) -> Iterator[str]:
        # A concurrent removal of the user has to be a conflict.
        yield f"user/{user}"
        yield from rights_subjects(parts.feed.directory, present_system(gathered, fqdn), request.actor)

    # A loan changes who may view the system.
    done = await commit_aggregates(parts, request, (f"system/{fqdn}",), decide, also_read)
    return await wait_until_reflected(parts, done)


async def end_loan(
    parts: WriteParts, request: RequestContext, fqdn: str, reason: str | None = None
) -> Committed | None:
    """End the loan of a system; return None if there is none. Raises Unknown, Stale, NotPermitted."""

    def decide(gathered: ReadSet) -> Decided:
        system = present_system(gathered, fqdn)
        require_viewed(parts.feed.directory, request, system)
        if system.loan is not None:
            require_may_end_loan(parts.feed.directory, request, system)
        return upkeep.end_loan(system, with_reason(f"ended by {request.actor}", reason))

    def also_read(gathered: ReadSet) -> Iterator[str]:
        return rights_subjects(parts.feed.directory, present_system(gathered, fqdn), request.actor)

    # A loan changes who may view the system.
    done = await commit_aggregates(parts, request, (f"system/{fqdn}",), decide, also_read)
    return await wait_until_reflected(parts, done)
