"""Which idle systems somebody who waits could take: a wake-up asks them, and a new job leaves them alone."""

from __future__ import annotations

from domain.recipe.state import Recipe
from domain.scheduling.bitmaps import union
from domain.scheduling.filters import QUEUED
from domain.scheduling.lines import newly_of
from domain.scheduling.matching import match
from domain.scheduling.partition import Partition


def wanted(partition: Partition, asked: int) -> int:
    """Those of the asked systems that are idle and viable for a waiting recipe that is not hopeless there."""
    asked &= partition.available.idle(forced=True)
    if not asked:
        return 0
    labs = ((name, asked & of_lab) for name, of_lab in partition.labs.each())
    return union(_wanted_in(partition, name, of_lab) for name, of_lab in labs if of_lab)


def _wanted_in(partition: Partition, lab_controller: str, asked: int) -> int:
    found = 0
    idle = {forced: partition.available.idle(forced=forced) & asked for forced in (False, True)}
    for line in (lab_controller, QUEUED, newly_of(lab_controller)):
        for entry, by_who in partition.filters.wanting(line):
            fitting = (entry.viable or 0) & idle[entry.key.forced is not None]
            # Mostly others want them as well: then nobody need be looked at.
            for who, recipes in by_who.items() if fitting & ~found else ():
                systems = fitting & partition.labs.access.may(partition.filters.who(who))
                sets = (partition.sets.recipes[rank[-1]].recipe_set_id for rank in recipes)
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
    """Whether a lab could not serve what a set still wants, even if all its usable systems came free.

    Asked again and again, of sets that wait for a system to be repaired, or that only another lab can serve:
    the answer is kept until what is usable changes, or who of the set waits.
    """
    if partition.sets.is_single(recipe_set_id):
        # The caller has a system for it.
        return False
    known = partition.holders.hopeless.setdefault(recipe_set_id, {})
    if lab_controller not in known:
        known[lab_controller] = _is_hopeless(partition, recipe_set_id, lab_controller)
    return known[lab_controller]


def _is_hopeless(partition: Partition, recipe_set_id: int, lab_controller: str) -> bool:
    missing = partition.sets.missing(recipe_set_id)
    of_lab = partition.labs.lab_controller[lab_controller]
    return len(missing) > 1 and match([partition.usable(host) & of_lab for host in missing]) is None
