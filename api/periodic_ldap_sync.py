"""The periodic LDAP sync, by one of the serving processes."""

from __future__ import annotations

import logging
from typing import Final

from api.ldap.errors import LdapFault
from api.use_cases.ldap_sync import LdapParts, sync
from api.use_cases.ports import RequestContext
from domain.directory.actors import LDAP_SYNC
from domain.directory.ldap_sync_plan import SyncPlan
from domain.errors import Refused, listed

POLL_SECONDS: Final = 5.0
REQUEST: Final = RequestContext(LDAP_SYNC, "ldap-sync", is_admin=True)

REFUSED: Final = (
    "not registered, or not restored: the name is invalid, of a removed user, equal to another but for upper "
    "and lower case, or in a queue or placement rule"
)

logger = logging.getLogger(__name__)


def report(plan: SyncPlan) -> None:
    """Log the changes of a sync, and a warning for each thing that an admin has to put right."""
    if plan.has_changes:
        logger.info(
            "LDAP sync: registered %d, found %d, left %d, changed %d groups",
            *(len(plan.registered), len(plan.found), len(plan.left), len(plan.memberships)),
        )
    for names, text in (
        (plan.kept, "no longer in LDAP, but no other admin could log in, so these keep their rights"),
        (plan.refused, REFUSED),
        (plan.missing_groups, "groups of the group table that do not exist here"),
        (
            plan.absent_groups,
            "groups of the group table that LDAP does not have, or without members, whose members stay",
        ),
    ):
        if names:
            logger.warning("LDAP sync: %s: %s", text, listed(names))


async def sync_if_due(parts: LdapParts) -> None:
    """Sync if the next sync is due, and no other process syncs; without LDAP none is due.

    The log has a fault of LDAP, and a sync that is refused because too many people would lose rights.
    """
    if parts.ldap is None:
        return
    try:
        plan = await sync(parts, REQUEST, force=False, is_asked=False)
    except (LdapFault, Refused) as error:
        logger.error("LDAP sync: %s", error)
        return
    if plan is not None:
        report(plan)
