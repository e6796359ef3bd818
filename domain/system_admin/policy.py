"""Changes of a system's access policy: its own entries, the active pool, and removed users and groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domain.access.people import is_open_to_all
from domain.access.policy import VIEW, Policy, PolicyEntry, own_policy, policy_form, sort_key
from domain.access.validation import mentions, without
from domain.endings import with_reason
from domain.errors import Refused, display_name
from domain.events import Decided
from domain.system.events import SystemAccessPolicyChanged
from domain.system.state import System
from domain.system_admin.loan import give_back

EVERYBODY_VIEWS = PolicyEntry(VIEW)


def change_policy(
    system: System, entries: Sequence[Mapping[str, Any]], active_pool: str | None, pools: Sequence[str]
) -> Decided:
    """Return the event of a new policy and active pool, none if nothing changes.

    `entries` are a result of `domain.access.validation.normalised`, `pools` the pools of the system. Raises
    Refused for an active pool that does not have the system.
    """
    if active_pool is not None and active_pool not in pools:
        raise Refused(f"system {system.fqdn} is not in pool {active_pool}, so its policy cannot apply")
    own = None if system.access_policy is None else policy_form(system.access_policy)
    if own == list(entries) and system.active_pool == active_pool:
        return []
    return _changed(system, entries, active_pool)


def change_hidden(subject: str, own: Policy | None, active_pool: str | None, *, hidden: bool) -> Decided:
    """Return the event that hides a system from everybody (`hidden`) or lets everybody view it, if any.

    `own` is the own policy of the system, None if it never got one. To hide the system takes every permission
    that implies `view` from everybody; entries of users and groups stay.
    """
    before = own_policy(own)
    if hidden != is_open_to_all(before):
        return []
    after = (
        [entry for entry in before if not is_open_to_all((entry,))] if hidden else [EVERYBODY_VIEWS, *before]
    )
    entries = policy_form(tuple(sorted(after, key=sort_key)))
    return [(subject, SystemAccessPolicyChanged(entries=entries, active_pool=active_pool))]


def leave_pool(system: System, pool: str) -> Decided:
    """Return the event that ends the active pool of a system, none if `pool` is not the active pool."""
    if system.active_pool != pool:
        return []
    return _changed(system, policy_form(own_policy(system.access_policy)), None)


def remove_system_references(system: System, kind: str, name: str, reason: str | None = None) -> Decided:
    """Return the events that remove references to a removed user, group or pool, whose name may be reused.

    `reason` is that of the removal, None if nobody gave one.
    """
    if kind == "pool":
        return leave_pool(system, name)
    why = with_reason(f"{display_name(kind, name)} was removed", reason)
    ended = give_back(system, name, why) if kind == "user" else []
    return [*ended, *_without_entries(system, kind, name)]


def remove_users(system: System, users: Sequence[str], reason: str) -> Decided:
    """Return the events that end loans and reservations of users, and remove them from the policy."""
    ended = [event for user in users for event in give_back(system, user, f"user {user} {reason}")]
    return [*ended, *_without_entries(system, "user", *users)]


def _without_entries(system: System, kind: str, *names: str) -> Decided:
    if not mentions(system.access_policy or (), kind, *names):
        return []
    rest = without(own_policy(system.access_policy), kind, *names)
    return _changed(system, policy_form(rest), system.active_pool)


def _changed(system: System, entries: Sequence[Mapping[str, Any]], active_pool: str | None) -> Decided:
    return [(system.subject, SystemAccessPolicyChanged(entries=entries, active_pool=active_pool))]
