"""Idle systems that waiting recipes could take: a wake-up asks them, and a new job must not take them."""

from __future__ import annotations

from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.demand.filters import QUEUED
from domain.scheduling.demand.lines import newly_of
from domain.scheduling.safety.matching import match
from domain.scheduling.world.partition import Partition


def demanded_systems(partition: Partition, asked: int) -> int:
    """Return the idle systems of `asked` that are viable for a waiting recipe that is not hopeless there."""
    asked &= partition.available.idle(forced=True)
    if not asked:
        return 0
    labs = ((name, asked & of_lab) for name, of_lab in partition.labs.each())
    return union(_demanded_in_lab(partition, name, of_lab) for name, of_lab in labs if of_lab)


def _demanded_in_lab(partition: Partition, lab_controller: str, asked: int) -> int:
    found = 0
    idle = {forced: partition.available.idle(forced=forced) & asked for forced in (False, True)}
    for line in (lab_controller, QUEUED, newly_of(lab_controller)):
        for entry, by_submitter in partition.filters.filters_in(line):
            fitting = (entry.fitting or 0) & idle[entry.key.forced is not None]
            # Mostly another filter wants the same systems; then no recipe is looked at.
            for submitter, recipes in by_submitter.items() if fitting & ~found else ():
                systems = fitting & partition.labs.access.may(partition.filters.submitter(submitter))
                sets = (partition.sets.recipes[rank.recipe_id].recipe_set_id for rank in recipes)
                if systems & ~found and not all(hopeless(partition, each, lab_controller) for each in sets):
                    found |= systems
    return found


def of_sufficient_labs(partition: Partition, host: Recipe, systems: int) -> int:
    """Return the systems whose lab could serve all that the set still wants, if every system came free."""
    return systems & union(
        lab
        for name, lab in partition.labs.each()
        if systems & lab and not hopeless(partition, host.recipe_set_id, name)
    )


def hopeless(partition: Partition, recipe_set_id: int, lab_controller: str) -> bool:
    """Return whether a lab could not serve the rest of a set, even if all its usable systems came free.

    The question recurs for sets that wait for a repair, or that only another lab can serve. So the result is
    cached until the usable systems or the recipes of the set change.
    """
    if partition.sets.is_single(recipe_set_id):
        # A single-recipe set is never hopeless: the caller has a candidate for it.
        return False
    cached = partition.holders.hopeless.setdefault(recipe_set_id, {})
    if lab_controller not in cached:
        cached[lab_controller] = _is_hopeless(partition, recipe_set_id, lab_controller)
    return cached[lab_controller]


def _is_hopeless(partition: Partition, recipe_set_id: int, lab_controller: str) -> bool:
    missing = partition.sets.missing(recipe_set_id)
    of_lab = partition.labs.lab_controller[lab_controller]
    return len(missing) > 1 and match([partition.usable(host) & of_lab for host in missing]) is None
