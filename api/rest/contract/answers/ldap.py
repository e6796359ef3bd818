"""Answers about the LDAP sync."""

from __future__ import annotations

from api.rest.contract.answers.common import Answer, AnswerPart
from api.rest.contract.values import Time


class MembershipsChanged(AnswerPart):
    """The users that join and leave a group."""

    group: str
    added: list[str]
    removed: list[str]


class LdapSynced(Answer):
    """The changes of a sync, or with `dry_run` those that it would make.

    `registered` are new users, `found` are users that LDAP has now, and `left` those that it has no longer.
    `kept` have left, too, but without them no admin could log in. `refused` cannot be users here, or not now.
    `missing_groups` of the group table do not exist here, `absent_groups` not in LDAP, or are empty there:
    memberships stay.
    """

    dry_run: bool
    registered: list[str]
    found: list[str]
    left: list[str]
    kept: list[str]
    refused: list[str]
    memberships: list[MembershipsChanged]
    missing_groups: list[str]
    absent_groups: list[str]


class LdapCounts(AnswerPart):
    """The number of users that the last successful sync registered and found, that left, and of groups."""

    registered: int = 0
    found: int = 0
    left: int = 0
    groups: int = 0


class LdapSyncShown(Answer):
    """The last sync; `fault` says why it did not succeed. `running`: one is running now.

    `configured`: the service has settings of LDAP.
    """

    configured: bool
    running: bool
    finished_at: Time | None
    succeeded_at: Time | None
    fault: str | None
    changed: LdapCounts
