"""Which idle systems somebody who waits could take: a wake-up asks them, and a new job leaves them alone."""

from __future__ import annotations

from domain.scheduling.bitmaps import union
from domain.scheduling.filters import QUEUED
from domain.scheduling.matching import match
from domain.scheduling.partition import Partition

# Of sets that came and went while nothing changed.
MOST_KEPT = 100_000


def wanted(partition: Partition, asked: int) -> int:
    """Those of the asked systems that are idle and viable for a waiting recipe that is not hopeless there."""
    asked &= partition.available.idle(forced=True)
    if not asked:
        return 0
    labs = ((name, asked & of_lab) for name, of_lab in partition.labs.each())
    return union(_wanted_in(partition, name, of_lab) for name, of_lab in labs if of_lab)


def _wanted_in(partition: Partition, lab_controller: str, asked: int) -> int:
    found = 0
    for line in (lab_controller, QUEUED):
        for entry, by_who in partition.filters.wanting(line):
            idle = partition.available.idle(forced=entry.key.forced is not None)
            fitting = (entry.viable or 0) & idle & asked
            # Mostly others want them as well: then nobody need be looked at.
            for who, recipes in by_who.items() if fitting & ~found else ():
                systems = fitting & partition.labs.access.may(partition.filters.who(who))
                sets = (partition.sets.recipes[rank[-1]].recipe_set_id for rank in recipes)
                if systems & ~found and not all(hopeless(partition, each, lab_controller) for each in sets):
                    found |= systems
    return found


def hopeless(partition: Partition, recipe_set_id: int, lab_controller: str) -> bool:
    """Whether a lab could not serve what a set still wants, even if all its usable systems came free.

    Asked again and again, of sets that wait for a system to be repaired: the answer is kept until what is
    usable changes.
    """
    missing = partition.sets.missing(recipe_set_id)
    if len(missing) < 2:
        # Whoever asks has a system for it.
        return False
    question = (lab_controller, *(host.recipe_id for host in missing))
    if question not in partition.hopeless:
        if len(partition.hopeless) >= MOST_KEPT:
            partition.hopeless.clear()
        of_lab = partition.labs.lab_controller[lab_controller]
        partition.hopeless[question] = match([partition.usable(host) & of_lab for host in missing]) is None
    return partition.hopeless[question]
