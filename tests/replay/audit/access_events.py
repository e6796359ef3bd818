"""Events of access in stories: policies, groups, loans and reservations."""

from __future__ import annotations

from collections.abc import Sequence

from domain.access.policy import Form
from domain.directory import events as directory_events
from domain.events import Event
from domain.system import events as system_events
from tests.replay.audit.moves import Pair


def pool_policy(pool: str, *entries: Form) -> Pair:
    return f"pool/{pool}", directory_events.PoolAccessPolicyChanged(entries=list(entries))


def own_policy(fqdn: str, *entries: Form) -> Pair:
    return f"system/{fqdn}", system_events.SystemAccessPolicyChanged(entries=list(entries), active_pool=None)


def into_pool(pool: str, fqdn: str) -> Pair:
    return f"pool/{pool}", directory_events.PoolSystemAdded(system=fqdn)


def out_of_pool(pool: str, fqdn: str) -> Pair:
    return f"pool/{pool}", directory_events.PoolSystemRemoved(system=fqdn)


def pool_removed(pool: str) -> Pair:
    return f"pool/{pool}", directory_events.PoolRemoved()


def group_made(name: str, *members: str) -> Pair:
    return f"group/{name}", directory_events.GroupRegistered(owners=[], members=list(members))


def group_is_now(name: str, *members: str, owners: Sequence[str] = ()) -> Pair:
    return f"group/{name}", directory_events.GroupChanged(owners=owners, members=list(members))


def group_removed(name: str) -> Pair:
    return f"group/{name}", directory_events.GroupRemoved()


def lent(fqdn: str, user: str) -> Pair:
    return f"system/{fqdn}", system_events.SystemLoaned(user=user, until=None)


def given_back(fqdn: str) -> Pair:
    return f"system/{fqdn}", system_events.SystemLoanEnded(reason="returned")


def owned_by(fqdn: str, user: str) -> Pair:
    return f"system/{fqdn}", system_events.SystemOwnerChanged(owner=user)


def reserved(fqdn: str, user: str = "ada") -> list[Pair]:
    begun: Event = system_events.SystemReservationBegun(user=user, until=None, distro_tree_id=None)
    return [(f"system/{fqdn}", begun), (f"system/{fqdn}", system_events.SystemRunning(recipe_id=None))]


def returned(fqdn: str) -> Pair:
    return f"system/{fqdn}", system_events.SystemReservationEnded(reason="returned")
