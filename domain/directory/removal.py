"""What is known by name goes; what refers to it by name has left it, or it stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from domain.access.policy import told
from domain.access.sound import names, without
from domain.directory import events as happened
from domain.directory.admins import require_admin_without
from domain.directory.standing import policy_of_pool
from domain.directory.state import Directory
from domain.directory.tokens import revoked
from domain.errors import Refused
from domain.events import Decided
from domain.names import called
from domain.system.state import System

# So many are named to a person; more would hide what to do about them.
NAMED = 10


def remove(kind: str, directory: Directory, name: str, systems: Iterable[System]) -> Decided:
    """`systems` are all there are, for kinds that systems need. Raises Refused for what is still needed."""
    return _REMOVE[kind](directory, name, systems)


# Who removes one of the others need not know of systems.
NEEDED_BY_SYSTEMS = ("user", "lab-controller")


def _user(directory: Directory, name: str, systems: Iterable[System]) -> Decided:
    owned = sorted(system.fqdn for system in systems if system.owner == name)
    if owned:
        raise Refused(f"{called('user', name)} owns {_listed(owned)}: give them to somebody else first")
    require_admin_without(directory, name)
    tokens = revoked(token_id for token_id, _ in directory.tokens_of(name))
    return [*left_behind(directory, "user", name), *tokens, (f"user/{name}", happened.UserRemoved())]


def left_behind(directory: Directory, kind: str, name: str) -> Decided:
    """What gives the place of a user in its groups, of a group with its pools, and of both in the policies of
    pools, to nobody.

    Who is registered under the name of somebody who is gone must not find themselves there: they may have
    been put there in the very moment of the removal, which that did not see.
    """
    if kind == "user":
        groups = [
            (f"group/{group}", _without(name, entry.document["owners"], entry.document["members"]))
            for group, entry in directory.items("group")
            if name in entry.document["owners"] or name in entry.document["members"]
        ]
        return [*groups, *_named_no_more(directory, kind, name)]
    if kind == "group":
        pools = [
            (
                f"pool/{pool}",
                happened.PoolChanged(owner_group=None, description=entry.document.get("description", "")),
            )
            for pool, entry in directory.items("pool")
            if entry.document["owner_group"] == name
        ]
        return [*pools, *_named_no_more(directory, kind, name)]
    return []


def _named_no_more(directory: Directory, kind: str, name: str) -> Decided:
    """In the policies of pools."""
    policies = [(pool, policy_of_pool(directory, pool) or ()) for pool, _ in directory.items("pool")]
    return [
        (f"pool/{pool}", happened.PoolAccessPolicyChanged(entries=told(without(policy, kind, name))))
        for pool, policy in policies
        if names(policy, kind, name)
    ]


def _without(user: str, owners: Sequence[str], members: Sequence[str]) -> happened.GroupChanged:
    return happened.GroupChanged(
        owners=[name for name in owners if name != user],
        members=[name for name in members if name != user],
    )


def _group(directory: Directory, name: str, _: Iterable[System]) -> Decided:
    owned = sorted(pool for pool, entry in directory.items("pool") if entry.document["owner_group"] == name)
    if owned:
        raise Refused(f"{called('group', name)} owns {_listed(owned)}: give them to another group first")
    return [*left_behind(directory, "group", name), (f"group/{name}", happened.GroupRemoved())]


def _pool(directory: Directory, name: str, _: Iterable[System]) -> Decided:
    """Each system leaves it by an event of its own: who follows that need not know of removals."""
    subject = f"pool/{name}"
    leaves = [(subject, happened.PoolSystemRemoved(system=fqdn)) for fqdn in directory.systems_of(name)]
    return [*leaves, (subject, happened.PoolRemoved())]


def _lab_controller(directory: Directory, name: str, systems: Iterable[System]) -> Decided:
    kept = sorted(
        system.fqdn for system in systems if system.lab_controller == name and system.condition != "Removed"
    )
    if kept:
        there = f"{called('lab-controller', name)} has {_listed(kept)}"
        raise Refused(f"{there}: remove them, or move them to another lab, first")
    tokens = revoked(
        token_id for token_id, entry in directory.items("token") if entry.document["lab_controller"] == name
    )
    return [*tokens, (f"lab-controller/{name}", happened.LabControllerRemoved())]


def _distro_tree(_: Directory, name: str, __: Iterable[System]) -> Decided:
    """Who waits for it is given up by the scheduler."""
    return [(f"distro-tree/{name}", happened.DistroTreeRemoved())]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


_REMOVE: dict[str, Callable[[Directory, str, Iterable[System]], Decided]] = {
    "user": _user,
    "group": _group,
    "pool": _pool,
    "lab-controller": _lab_controller,
    "distro-tree": _distro_tree,
}
