"""Whether any lab could ever serve a set at once, and why not (design section 4.1).

Every registered system counts, whatever its condition: what is broken may be repaired.
"""

from __future__ import annotations

from datetime import datetime

from domain.recipe.state import Recipe
from domain.requirements.distro import DISTRO
from domain.requirements.host import HOST
from domain.scheduling.matching import match
from domain.scheduling.partition import Partition
from domain.scheduling.reasons import (
    ABOUT_TREES,
    FIT_IN_DIFFERENT_LABS,
    NO_ACCESS,
    NO_DISTRO_TREE,
    NO_LAB_FOR_ALL,
    NO_LAB_HAS_ALL_TREES,
    NO_SYSTEM_MATCHES,
    SIBLING_IMPOSSIBLE,
    SIBLING_TREE_AWAY,
    TREE_AWAY,
)
from domain.scheduling.rules import why_none
from domain.scheduling.unknown_names import unknown_names
from domain.scheduling.whereabouts import called, where, where_of_each, which_fits_where


def why_never(partition: Partition, recipe_set_id: int) -> dict[int, str]:
    """The reason for each recipe of the set, guests too; empty if some lab could serve all of them."""
    hosts = partition.sets.hosts(recipe_set_id)
    entitled = [partition.entitled(host) for host in hosts]
    if all(entitled) and (len(hosts) == 1 or _some_lab_serves(partition, entitled)):
        return {}
    own = {
        host.recipe_id: _why_none(partition, host)
        for host, any_ in zip(hosts, entitled, strict=True)
        if not any_
    }
    otherwise = SIBLING_IMPOSSIBLE if own else _why_not_together(partition, recipe_set_id)
    return {
        recipe.recipe_id: own.get(recipe.host_recipe_id or recipe.recipe_id, otherwise)
        for recipe in partition.sets.members(recipe_set_id)
    }


def why_not_yet(partition: Partition, recipe_set_id: int) -> dict[int, str]:
    """Return the reason for each host of a set that only lacks distro trees which are away for a moment.

    Empty if the set could never run even with these trees in some lab, or needs none of them.
    """
    hosts = partition.sets.hosts(recipe_set_id)
    at = partition.sets.sets[recipe_set_id].submitted_at
    away = {host.recipe_id: tree for host in hosts if at and (tree := _tree_away(partition, host, at))}
    if not away or any(host.recipe_id not in away and not partition.entitled(host) for host in hosts):
        return {}
    own = {recipe_id: f"{TREE_AWAY}: {called(partition, tree)}" for recipe_id, tree in away.items()}
    return {host.recipe_id: own.get(host.recipe_id, SIBLING_TREE_AWAY) for host in hosts}


def _tree_away(partition: Partition, host: Recipe, at: datetime) -> int | None:
    """Return a tree of the recipe or of its guests that is away, or None."""
    tree_ids = partition.sets.key(host).tree_ids
    if None in tree_ids:
        return None
    return next((tree_id for tree_id in tree_ids if partition.trees_away.is_away(tree_id, at)), None)


def _some_lab_serves(partition: Partition, entitled: list[int]) -> bool:
    return any(match([each & lab for each in entitled]) is not None for _, lab in partition.labs.each())


def _why_not_together(partition: Partition, recipe_set_id: int) -> str:
    """Of a set whose recipes could each run alone."""
    members = partition.sets.members(recipe_set_id)
    labs = [set(partition.labs.labs_with(each.distro_tree_id)) for each in members if each.distro is None]
    told = where_of_each(partition, members)
    if labs and not set.intersection(*labs):
        return f"{NO_LAB_HAS_ALL_TREES}: {told}"
    fitting = {host.recipe_id: _labs_of(partition, host) for host in partition.sets.hosts(recipe_set_id)}
    if not set.intersection(*map(set, fitting.values())):
        return f"{FIT_IN_DIFFERENT_LABS}: {which_fits_where(fitting)}"
    return f"{NO_LAB_FOR_ALL}: {told}" if told else NO_LAB_FOR_ALL


def _labs_of(partition: Partition, host: Recipe) -> tuple[str, ...]:
    """Those with a system for it."""
    entitled = partition.entitled(host)
    return tuple(sorted(name for name, lab in partition.labs.each() if entitled & lab))


def _why_none(partition: Partition, host: Recipe) -> str:
    key = partition.sets.key(host)
    if None in key.tree_ids:
        return _with(NO_DISTRO_TREE, _unknown_of_trees(partition, host))
    known = ~partition.visible.hidden_from(host.owner)
    if partition.filters.viable(key) & known:
        return NO_ACCESS
    reason = why_none(partition.labs, key, known)
    if reason == NO_SYSTEM_MATCHES:
        return _with(reason, unknown_names(partition, HOST, host.host_requires, host.owner))
    return _with(reason, where(partition, key.tree_ids) if reason in ABOUT_TREES else "")


def _unknown_of_trees(partition: Partition, host: Recipe) -> str:
    """Return the names unknown in the distro requirements of the recipe and of its guests."""
    members = partition.sets.members(host.recipe_set_id)
    own = [each for each in members if host.recipe_id in (each.recipe_id, each.host_recipe_id)]
    told = (
        unknown_names(partition, DISTRO, each.distro_requires, host.owner)
        for each in own
        if each.distro_requires
    )
    return "; ".join(dict.fromkeys(filter(None, told)))


def _with(reason: str, details: str) -> str:
    return f"{reason}: {details}" if details else reason
