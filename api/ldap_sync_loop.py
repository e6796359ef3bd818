"""The loop of a serving process that syncs with LDAP in its turns."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from api.use_cases.ldap_sync import LdapParts, sync
from api.use_cases.ports import RequestContext
from domain.directory.actors import LDAP_SYNC
from domain.directory.ldap_sync import LdapFault, SyncPlan
from domain.errors import LabledgerError, Refused, listed

POLL_SECONDS: Final = 5.0
REQUEST: Final = RequestContext(LDAP_SYNC, "ldap-sync", is_admin=True)

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
        (plan.refused, "cannot be registered: invalid names, removed users, or users in other case"),
        (plan.missing_groups, "groups of the group table that do not exist here"),
        (plan.absent_groups, "groups of the group table that LDAP does not have, whose members stay"),
    ):
        if names:
            logger.warning("LDAP sync: %s: %s", text, listed(names))


class LdapSyncLoop:
    """The loop, which begins at `open`. It does nothing without LDAP. Processes take turns."""

    def __init__(self, parts: LdapParts, poll_seconds: float = POLL_SECONDS) -> None:
        self._parts = parts
        self._poll_seconds = poll_seconds
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        if self._parts.ldap is not None:
            self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            try:
                plan = await sync(self._parts, REQUEST, force=False, is_asked=False)
                if plan is not None:
                    report(plan)
            except (LdapFault, Refused) as error:
                logger.error("LDAP sync: %s", error)
            except LabledgerError as error:
                logger.debug("LDAP sync: %s", error)
            except Exception:
                # The task must not end, because people who leave would keep their rights.
                logger.exception("LDAP sync failed; retrying")
            await asyncio.sleep(self._poll_seconds)
