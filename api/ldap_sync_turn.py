"""The LDAP sync of one serving process, in its turns."""

from __future__ import annotations

import logging
from typing import Final

from api.use_cases.external_groups import LDAP_SYNC
from api.use_cases.ldap_sync import LdapParts, sync
from api.use_cases.ports import RequestContext
from domain.directory.ldap_sync import LdapFault
from domain.errors import Refused

POLL_SECONDS: Final = 5.0
REQUEST: Final = RequestContext(LDAP_SYNC, "ldap-sync", is_admin=True)

logger = logging.getLogger(__name__)


async def take_turn(parts: LdapParts) -> None:
    """Sync if it is the turn of this process; without LDAP it never is.

    The log has a fault of LDAP, and a sync that is refused because too many people would lose rights.
    """
    if parts.ldap is None:
        return
    try:
        plan = await sync(parts, REQUEST, force=False, is_asked=False)
    except (LdapFault, Refused) as error:
        logger.error("LDAP sync: %s", error)
        return
    if plan is not None and plan.has_changes:
        logger.info(
            "LDAP sync: registered %d, found %d, left %d, changed %d groups",
            *(len(plan.registered), len(plan.found), len(plan.left), len(plan.memberships)),
        )
