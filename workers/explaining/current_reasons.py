"""The answers about the current reasons of many recipes, and their counts in the whole queue."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from domain.recipe.lifecycle import UNPLACED
from domain.recipe.state import Recipe
from domain.scheduling.explaining.current_reasons import (
    current_reasons,
    lab_of_set,
    systems_named,
    unplaced_hosts,
)
from domain.scheduling.supply.filter_key import Demand
from domain.scheduling.world.partition import Partition
from workers.explaining.follower import Follower


def reasons(
    follower: Follower, recipe_ids: list[int], at: int | None, now: str, unknown: list[str]
) -> dict[str, Any]:
    """Return the current reasons of recipes, in the given order; None for recipes that do not wait.

    `unknown` systems are not counted. The room that is kept under limits is that of `now`.
    """
    partition = follower.at_end() if at is None else follower.at(at)
    partition.weigh_at(datetime.fromisoformat(now))
    recipes = map(partition.sets.recipes.get, recipe_ids)
    hosts = [each for each in recipes if each is not None and each.state in UNPLACED]
    found = _reasons_of(partition, hosts, unknown)
    return {"position": partition.position, "reasons": list(map(found.get, recipe_ids))}


def _reasons_of(
    partition: Partition, hosts: Sequence[Recipe], unknown: Collection[str]
) -> dict[int, dict[str, str]]:
    found = current_reasons(partition, hosts, systems_named(partition, unknown))
    return {host.recipe_id: asdict(reason) for host, reason in zip(hosts, found, strict=True)}


def reason_counts(
    follower: Follower, at: int | None, now: str, unknown: list[str], min_position: int
) -> dict[str, Any]:
    """Return the numbers of unplaced recipes by reason and priority, and by lab that could run them.

    Counts of the present queue may be some seconds old if it is long, but reflect `min_position`.
    """
    excluded = frozenset(unknown)
    if at is not None:
        return _counts(follower.at(at), now, excluded)
    end = follower.end()
    return follower.recent_counts.find_or_count(
        excluded, min_position, end, lambda: _counts(follower.at(end, is_end=True), now, excluded)
    )


def _counts(partition: Partition, now: str, unknown: frozenset[str]) -> dict[str, Any]:
    partition.weigh_at(datetime.fromisoformat(now))
    hosts, sets = unplaced_hosts(partition), partition.sets.sets
    excluded = systems_named(partition, unknown)
    found = current_reasons(partition, hosts, excluded)
    by_reason = Counter[tuple[str, str]](
        (reason.code, sets[host.recipe_set_id].priority.name)
        for host, reason in zip(hosts, found, strict=True)
    )
    return {
        "position": partition.position,
        "reasons": [
            {"code": code, "priority": priority, "recipes": count}
            for (code, priority), count in by_reason.items()
        ],
        "lab_controllers": dict(_by_lab(partition, hosts, excluded)),
    }


def _by_lab(partition: Partition, hosts: Sequence[Recipe], excluded: int) -> Counter[str]:
    """Count the recipes for which each lab has viable systems, of a bound set only in its own lab."""
    groups = defaultdict[tuple[Demand, str | None], list[Recipe]](list)
    for host in hosts:
        groups[partition.sets.index.demand(host), host.lab_controller].append(host)
    counts = Counter[str]()
    for first, *others in groups.values():
        viable = partition.viable(first) & lab_of_set(partition, first) & ~excluded
        for name, of_lab in partition.labs.each():
            if viable & of_lab:
                counts[name] += 1 + len(others)
    return counts
