"""Membership of systems in pools, and former members of groups, who no longer count for their group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from domain.directory import events as directory_events
from domain.events import Event


class PoolSystems:
    """Mutable: `apply` the events of pools in order."""

    def __init__(self) -> None:
        self._systems: dict[str, dict[str, None]] = {}
        self._pools: dict[str, dict[str, None]] = {}

    def apply(self, pool: str, event: Event) -> None:
        if isinstance(event, directory_events.PoolSystemAdded):
            self._systems.setdefault(pool, {})[event.system] = None
            self._pools.setdefault(event.system, {})[pool] = None
        elif isinstance(event, directory_events.PoolSystemRemoved):
            self._systems.get(pool, {}).pop(event.system, None)
            self._pools.get(event.system, {}).pop(pool, None)

    def forget(self, pool: str) -> None:
        self._systems.pop(pool, None)

    def systems_of(self, pool: str) -> tuple[str, ...]:
        return tuple(self._systems.get(pool, ()))

    def pools_of(self, system: str) -> tuple[str, ...]:
        return tuple(self._pools.get(system, ()))

    def has(self, pool: str, system: str) -> bool:
        return system in self._systems.get(pool, {})

    def plain(self) -> dict[str, Any]:
        return {
            "systems": {pool: list(systems) for pool, systems in self._systems.items()},
            "pools": {system: list(pools) for system, pools in self._pools.items()},
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        self._systems = {pool: dict.fromkeys(systems) for pool, systems in values["systems"].items()}
        self._pools = {system: dict.fromkeys(pools) for system, pools in values["pools"].items()}


class FormerMembers:
    """The former members of each group, without users who came back. Mutable."""

    def __init__(self) -> None:
        self._former: dict[str, dict[str, None]] = {}

    def changed(self, group: str, before: Iterable[str], after: Iterable[str]) -> None:
        """Record a change of the users in a group."""
        former = {**self._former.pop(group, {}), **dict.fromkeys(before)}
        for user in after:
            former.pop(user, None)
        if former:
            self._former[group] = former

    def forget(self, group: str, user: str) -> None:
        former = self._former.get(group, {})
        former.pop(user, None)
        if not former:
            self._former.pop(group, None)

    def has_left(self, group: str, user: str) -> bool:
        return user in self._former.get(group, ())

    def plain(self) -> dict[str, Any]:
        return {group: list(users) for group, users in self._former.items()}

    def restore(self, values: Mapping[str, Any]) -> None:
        self._former = {group: dict.fromkeys(users) for group, users in values.items()}
