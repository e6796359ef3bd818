"""Sets whose distro tree has left every lab: the consistency loop aborts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache

from domain.recipe.lifecycle import UNPLACED
from domain.recipe.state import Recipe
from domain.recipe_set.ending import abort_set
from domain.scheduling.decisions.draft import Decision, Draft
from domain.scheduling.decisions.tree_locations import tree_label
from domain.scheduling.supply.reasons import DISTRO_LEFT, SIBLING_IMPOSSIBLE
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import TIMER, Trigger


def abort_without_tree(partition: Partition, now: datetime) -> Iterator[Decision]:
    """Abort each unplaced set with a recipe whose distro tree no lab has had for 600 s."""
    for recipe_set_id in _sets_without_tree(partition, now):
        members = partition.members(recipe_set_id)
        if any(recipe.state not in UNPLACED for recipe in members.recipes):
            continue
        gone = [r for r in members.recipes if _is_gone(partition, r.distro_tree_id, now)]
        trigger = Trigger(partition.position, TIMER, f"distro-tree/{gone[0].distro_tree_id}")
        draft = Draft(partition, trigger)
        own = {r.recipe_id: f"{DISTRO_LEFT}: {tree_label(partition, r.distro_tree_id)}" for r in gone}
        reasons = {r.recipe_id: own.get(r.recipe_id, SIBLING_IMPOSSIBLE) for r in members.recipes}
        draft.depend_on(_registered_trees(partition, gone))
        draft.add(abort_set(members, reasons))
        yield draft.decision()


def _sets_without_tree(partition: Partition, now: datetime) -> list[int]:
    """Return the sets with a queued or assigned recipe whose distro tree is gone.

    A new set is not included: the decision on it aborts it if necessary.
    """
    sets: dict[int, None] = {}
    # Thousands of filters name few trees.
    is_gone = cache(lambda tree_id: _is_gone(partition, tree_id, now))
    for entry in partition.filters.in_use():
        if any(map(is_gone, entry.key.tree_ids)):
            ranks = partition.filters.ranks_of(entry)
            sets.update((partition.sets.recipes[rank.recipe_id].recipe_set_id, None) for rank in ranks)
    # Sets that are held back are in no line.
    for recipe_set_id in partition.sets.admission.held_back:
        hosts = (host for host in partition.sets.hosts(recipe_set_id) if host.state == "queued")
        trees = (tree_id for host in hosts for tree_id in partition.sets.index.key(host).tree_ids)
        if any(map(is_gone, trees)):
            sets[recipe_set_id] = None
    return sorted(sets)


def _registered_trees(partition: Partition, recipes: Iterable[Recipe]) -> list[str]:
    """Return the subjects of the recipes' trees, so that a tree's return before the commit is a conflict."""
    subjects = {f"distro-tree/{recipe.distro_tree_id}": None for recipe in recipes}
    return [subject for subject in subjects if partition.directory.version(subject)]


def _is_gone(partition: Partition, tree_id: int | None, now: datetime) -> bool:
    if tree_id is None or partition.labs.labs_with(tree_id):
        return False
    return not partition.absent_trees.is_recently_absent(tree_id, now)
