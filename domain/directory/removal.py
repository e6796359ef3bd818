"""Removal of directory entries, together with references to them by name in the directory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from domain.access.policy import policy_form
from domain.access.validation import mentions, without
from domain.directory import events as directory_events
from domain.directory.admins import require_admin_without
from domain.directory.partition_labs import naming_partition
from domain.directory.partitions import number_of_lab
from domain.directory.state import Directory
from domain.directory.system_access import policy_of_pool
from domain.directory.tokens import revoked
from domain.errors import Refused, display_name, listed
from domain.events import Decided
from domain.partition_numbers import EVERYBODY
from domain.system.state import System


def remove(
    kind: str, directory: Directory, name: str, systems: Iterable[System], reason: str | None = None
) -> Decided:
    """Return the events of a removal. `systems`: all, for `NEEDED_BY_SYSTEMS`. Raises Refused if in use."""
    return _REMOVE[kind](directory, name, systems, reason)


# The kinds of entries to which systems may refer in a way that forbids the removal.
NEEDED_BY_SYSTEMS = ("user", "lab-controller")


def _user(directory: Directory, name: str, systems: Iterable[System], reason: str | None) -> Decided:
    owned = sorted(system.fqdn for system in systems if system.owner == name)
    if owned:
        raise Refused(f"{display_name('user', name)} owns {listed(owned)}; give them to another user first")
    require_admin_without(directory, name)
    tokens = revoked((token_id for token_id, _ in directory.tokens_of(name)), reason)
    return [
        *remove_references(directory, "user", name),
        *tokens,
        (f"user/{name}", directory_events.UserRemoved(reason=reason)),
    ]


def remove_references(directory: Directory, kind: str, *names: str) -> Decided:
    """Return the events that remove users from groups, groups from their pools, and both from pool policies.

    Call it at a registration too: a reference may have been added concurrently with the removal of an earlier
    user or group of the same name, and must not apply to the new one.
    """
    if kind == "user":
        groups = [
            (f"group/{group}", _without(names, entry.document["owners"], entry.document["members"]))
            for group, entry in directory.items("group")
            if not set(names).isdisjoint([*entry.document["owners"], *entry.document["members"]])
        ]
        return [*groups, *_remove_from_policies(directory, kind, names)]
    if kind == "group":
        pools = [
            (
                f"pool/{pool}",
                directory_events.PoolChanged(
                    owner_group=None, description=entry.document.get("description", "")
                ),
            )
            for pool, entry in directory.items("pool")
            if entry.document["owner_group"] in names
        ]
        return [*pools, *_remove_from_policies(directory, kind, names)]
    return []


def _remove_from_policies(directory: Directory, kind: str, names: Sequence[str]) -> Decided:
    policies = [(pool, policy_of_pool(directory, pool) or ()) for pool, _ in directory.items("pool")]
    return [
        (
            f"pool/{pool}",
            directory_events.PoolAccessPolicyChanged(entries=policy_form(without(policy, kind, *names))),
        )
        for pool, policy in policies
        if mentions(policy, kind, *names)
    ]


def _without(
    users: Sequence[str], owners: Sequence[str], members: Sequence[str]
) -> directory_events.GroupChanged:
    return directory_events.GroupChanged(
        owners=[name for name in owners if name not in users],
        members=[name for name in members if name not in users],
    )


def _group(directory: Directory, name: str, _: Iterable[System], reason: str | None) -> Decided:
    owned = sorted(pool for pool, entry in directory.items("pool") if entry.document["owner_group"] == name)
    if owned:
        raise Refused(f"{display_name('group', name)} owns {listed(owned)}; give them to another group first")
    removed = directory_events.GroupRemoved(reason=reason)
    return [*remove_references(directory, "group", name), (f"group/{name}", removed)]


def _pool(directory: Directory, name: str, _: Iterable[System], reason: str | None) -> Decided:
    """Return the removal, after one event for each system, so that readers need to handle only the latter."""
    subject = f"pool/{name}"
    leaves = [
        (subject, directory_events.PoolSystemRemoved(system=fqdn, reason=reason))
        for fqdn in directory.systems_of(name)
    ]
    return [*leaves, (subject, directory_events.PoolRemoved(reason=reason))]


def _lab_controller(
    directory: Directory, name: str, systems: Iterable[System], reason: str | None
) -> Decided:
    present = sorted(
        system.fqdn for system in systems if system.lab_controller == name and system.condition != "Removed"
    )
    if present:
        in_use = f"{display_name('lab-controller', name)} has {listed(present)}"
        raise Refused(f"{in_use}; remove them or move them to another lab first, or use force")
    require_unnamed_lab(directory, name)
    of_lab = (
        token_id for token_id, entry in directory.items("token") if entry.document["lab_controller"] == name
    )
    removed = directory_events.LabControllerRemoved(reason=reason)
    return [*revoked(of_lab, reason), (f"lab-controller/{name}", removed)]


def require_unnamed_lab(directory: Directory, name: str) -> None:
    """Raise Refused if a configuration names a lab controller, or if it is in no partition."""
    partition = naming_partition(directory, name)
    if partition is not None:
        named = f"the configuration of {display_name('partition', partition)} names"
        raise Refused(f"{named} {display_name('lab-controller', name)}; drop it there first")
    if number_of_lab(directory, name) == EVERYBODY:
        # A lab of its name would be in `default`, which does not know its systems.
        lab = display_name("lab-controller", name)
        raise Refused(
            f"{lab} is in no partition; let the configuration of default name it, and drop it again"
        )


def _distro_tree(_: Directory, name: str, __: Iterable[System], reason: str | None) -> Decided:
    """Return the removal only: the scheduler aborts the recipes that need the tree later."""
    return [(f"distro-tree/{name}", directory_events.DistroTreeRemoved(reason=reason))]


_REMOVE: dict[str, Callable[[Directory, str, Iterable[System], str | None], Decided]] = {
    "user": _user,
    "group": _group,
    "pool": _pool,
    "lab-controller": _lab_controller,
    "distro-tree": _distro_tree,
}
