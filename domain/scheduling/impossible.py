"""Whether any lab could ever serve a set at once, and why not (design section 4.1).

Every registered system counts, whatever its condition: what is broken may be repaired.
"""

from __future__ import annotations

from domain.recipe.state import Recipe
from domain.scheduling.matching import match
from domain.scheduling.partition import Partition
from domain.scheduling.reasons import (
    ABOUT_TREES,
    NO_DISTRO_TREE,
    NO_LAB_FOR_ALL,
    NO_LAB_HAS_ALL_TREES,
    SIBLING_IMPOSSIBLE,
)
from domain.scheduling.rules import why_none
from domain.scheduling.whereabouts import where, where_of_each


def why_never(partition: Partition, recipe_set_id: int) -> dict[int, str]:
    """The reason for each recipe of the set, guests too; empty if some lab could serve all of them."""
    hosts = partition.sets.hosts(recipe_set_id)
    viable = [partition.viable(host) for host in hosts]
    if all(viable) and (len(hosts) == 1 or _some_lab_serves(partition, viable)):
        return {}
    own = {
        host.recipe_id: _why_none(partition, host)
        for host, any_ in zip(hosts, viable, strict=True)
        if not any_
    }
    otherwise = SIBLING_IMPOSSIBLE if own else _why_not_together(partition, recipe_set_id)
    return {
        recipe.recipe_id: own.get(recipe.host_recipe_id or recipe.recipe_id, otherwise)
        for recipe in partition.sets.members(recipe_set_id)
    }


def _some_lab_serves(partition: Partition, viable: list[int]) -> bool:
    return any(match([each & lab for each in viable]) is not None for _, lab in partition.labs.each())


def _why_not_together(partition: Partition, recipe_set_id: int) -> str:
    """Of a set whose recipes could each run alone."""
    members = partition.sets.members(recipe_set_id)
    labs = [set(partition.labs.labs_with(each.distro_tree_id)) for each in members if each.distro is None]
    in_one = not labs or set.intersection(*labs)
    told = where_of_each(partition, members)
    reason = NO_LAB_FOR_ALL if in_one else NO_LAB_HAS_ALL_TREES
    return f"{reason}: {told}" if told else reason


def _why_none(partition: Partition, host: Recipe) -> str:
    key = partition.sets.key(host)
    if None in key.tree_ids:
        return NO_DISTRO_TREE
    reason = why_none(partition.labs, key)
    told = where(partition, key.tree_ids) if reason in ABOUT_TREES else ""
    return f"{reason}: {told}" if told else reason
