"""Memberships that follow from the groups of a user at the identity provider."""

from __future__ import annotations

import logging
from collections.abc import Collection

from api.use_cases.commit import append_for, commit_directory
from api.use_cases.ports import NameParts, RequestContext, WriteParts
from domain.directory.external_groups import GroupMap, Memberships, memberships, missing_groups
from domain.errors import Unknown, display_name, listed
from store.requests import AppendRequest, Committed

logger = logging.getLogger(__name__)


async def set_memberships(
    parts: WriteParts,
    request: RequestContext,
    user: str,
    group_map: GroupMap,
    external_groups: Collection[str],
) -> Committed | None:
    """Make a user a member of exactly those groups of the table that its external groups map to.

    The groups change in one commit; None if they are right already. Groups are not created: a missing one is
    logged. Raises Unknown without such a user.
    """
    decided: Memberships

    def decide() -> AppendRequest | None:
        nonlocal decided
        directory = parts.feed.directory
        if directory.get("user", user) is None:
            raise Unknown(display_name("user", user))
        decided = memberships(directory, user, group_map, external_groups)
        if not decided.decided:
            return None
        versions = {subject: directory.version(subject) for subject in decided.used}
        return append_for(parts, request, decided.decided, versions)

    done = await commit_directory(parts, request, f"user/{user}", decide)
    if decided.missing:
        logger.error(
            "%s: the group table puts %s into groups that do not exist: %s",
            *(request.actor, user, listed(decided.missing)),
        )
    return done


def report_missing_groups(parts: NameParts, group_map: GroupMap) -> None:
    """Log an error if groups of a section of the group table do not exist. For the start of a service."""
    if missing := missing_groups(parts.feed.directory, group_map):
        logger.error("the group table names groups that do not exist: %s", listed(missing))
