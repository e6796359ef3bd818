"""Demanded systems: idle ones that unplaced recipes could take. New sets get them only after the wake-up."""

from __future__ import annotations

from itertools import chain

from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.decisions.system_order import lines_of_lab
from domain.scheduling.safety.matching import match
from domain.scheduling.world.partition import Partition


def demanded_systems(partition: Partition, systems: int) -> int:
    """Return idle ones of `systems` that unplaced recipes could take, in labs that can serve their sets."""
    systems &= partition.available.idle(forced=True)
    if not systems:
        return 0
    labs = ((name, systems & of_lab) for name, of_lab in partition.labs.each())
    return union(_demanded_in_lab(partition, name, of_lab) for name, of_lab in labs if of_lab)


def _demanded_in_lab(partition: Partition, lab_controller: str, candidates: int) -> int:
    demanded = 0
    idle = {forced: partition.available.idle(forced=forced) & candidates for forced in (False, True)}
    for line in lines_of_lab(partition, lab_controller):
        for entry, by_submitter in partition.filters.filters_in(line):
            fitting = (entry.fitting or 0) & idle[entry.key.forced is not None]
            # Recipes are not examined if earlier filters demand the same systems, as is frequent.
            for submitter, groups in by_submitter.items() if fitting & ~demanded else ():
                systems = fitting & partition.labs.access.allowed(partition.filters.submitter(submitter))
                ranks = chain.from_iterable(groups)
                sets = (partition.sets.recipes[rank.recipe_id].recipe_set_id for rank in ranks)
                if systems & ~demanded and not all(
                    is_hopeless(partition, each, lab_controller) for each in sets
                ):
                    demanded |= systems
    return demanded


def without_hopeless_labs(partition: Partition, host: Recipe, systems: int) -> int:
    """Return those of `systems` whose labs are not hopeless for the set of `host`."""
    return systems & union(
        lab
        for name, lab in partition.labs.each()
        if systems & lab and not is_hopeless(partition, host.recipe_set_id, name)
    )


def is_hopeless(partition: Partition, recipe_set_id: int, lab_controller: str) -> bool:
    """Return whether a lab could not serve the rest of a set, even if all its usable systems came free.

    The result is False for a set that lacks at most one system, because callers have a candidate for it. It
    is cached until the usable systems or the recipes of the set change.
    """
    if partition.sets.is_single(recipe_set_id):
        return False
    cached = partition.holders.hopeless.setdefault(recipe_set_id, {})
    if lab_controller not in cached:
        cached[lab_controller] = _lacks_systems(partition, recipe_set_id, lab_controller)
    return cached[lab_controller]


def _lacks_systems(partition: Partition, recipe_set_id: int, lab_controller: str) -> bool:
    missing = partition.sets.missing(recipe_set_id)
    of_lab = partition.labs.lab_controller[lab_controller]
    return len(missing) > 1 and match([partition.usable(host) & of_lab for host in missing]) is None
