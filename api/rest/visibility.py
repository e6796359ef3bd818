"""Visibility of systems: a hidden system does not exist for the caller (docs/decisions/0020).

The present access policy also decides whether the caller sees the past of a system.
"""

from __future__ import annotations

from typing import NamedTuple

from falcon.asgi import Request

from api.concurrency_limits import share_of
from api.feed import NotReady
from api.rest.context import Principal, principal_of, query_of
from api.rest.contract.queries import Caught
from api.rest.ports import ReadParts
from api.use_cases.ports import NameParts
from domain.directory.name_index import NameIndex
from domain.directory.roles import SEES_ALL
from domain.errors import Unknown, display_name
from projections.reader import NotYetFolded


def hidden_now(principal: Principal, parts: NameParts) -> frozenset[str]:
    """Return the systems that are hidden from the caller now, usually none."""
    if principal.role in SEES_ALL:
        return frozenset()
    return parts.feed.visibility.hidden_from(principal.user, principal.lab_controller)


def unknown_now(principal: Principal, parts: NameParts) -> frozenset[str]:
    """Return the hidden systems to which the caller may not submit either. Counts do not include them."""
    if principal.role in SEES_ALL:
        return frozenset()
    return parts.feed.visibility.unknown_to(principal.user, principal.lab_controller)


class Sight(NamedTuple):
    """The systems that are hidden from a principal, and those of them to which it may not submit either.

    Readers with the same role and sight see the same, but for what is about themselves.
    """

    hidden: frozenset[str]
    unknown: frozenset[str]


def sight_now(principal: Principal, parts: NameParts) -> Sight:
    return Sight(hidden_now(principal, parts), unknown_now(principal, parts))


def name_index(principal: Principal, parts: NameParts) -> NameIndex:
    """Return the names that jobs of the caller may use, without those that only unknown systems have."""
    unknown = unknown_now(principal, parts)
    names = parts.feed.directory.name_index()
    return parts.feed.visibility.names_without(unknown, names) if unknown else names


def visible_names(principal: Principal, parts: NameParts, usable: NameIndex) -> NameIndex:
    """Return the usable names that a message may show, without those that only hidden systems have."""
    hidden = hidden_now(principal, parts)
    if hidden == unknown_now(principal, parts):
        return usable
    return parts.feed.visibility.names_without(hidden, usable)


async def hidden_systems(req: Request, parts: ReadParts) -> frozenset[str]:
    """Return the hidden systems as of `min_position` or later. Raises NotYetFolded like `paging.read_at`."""
    position = query_of(req, Caught).min_position
    # The directory must reflect all policy changes up to `min_position`.
    if position > parts.feed.position:
        try:
            with share_of(req).waiting():
                await parts.feed.reach(position, parts.max_waits.position_wait_seconds)
        except NotReady as error:
            raise NotYetFolded(str(error)) from error
    return hidden_now(principal_of(req), parts)


async def require_visible(req: Request, parts: ReadParts, fqdn: str) -> None:
    """Raise Unknown if the system is hidden from the caller."""
    if fqdn in await hidden_systems(req, parts):
        raise Unknown(display_name("system", fqdn))
