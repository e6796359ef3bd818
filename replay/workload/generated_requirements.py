"""Requirements that a given system, or distro tree, is known to meet."""

from __future__ import annotations

from random import Random

from replay.workload.generated_conditions import QUESTIONS, Document, leaf

MOST_QUESTIONS = 3
# Percent of questions that somebody asks in a roundabout way.
ROUNDABOUT_PERCENT = 15


def distro_requires(tree: Document) -> Document:
    return {"and": [leaf("distro_name", "=", tree["name"]), leaf("distro_arch", "=", tree["arch"])]}


def host_requires(system: Document, chance: Random) -> Document:
    """Its arch, and up to three more things that are true of it, of all that can be asked."""
    asked = [leaf("arch", "=", system["arches"][0])]
    wanted = 1 + chance.randint(0, MOST_QUESTIONS)
    for question in chance.sample(QUESTIONS, len(QUESTIONS)):
        made = question(system, chance) if len(asked) < wanted else None
        if made is not None:
            asked.append(_worded(made, system, chance))
    return {"and": asked}


def _worded(made: Document, system: Document, chance: Random) -> Document:
    """The same, mostly; or what is no stricter."""
    if chance.random() * 100 >= ROUNDABOUT_PERCENT:
        return made
    other = leaf("memory", ">", system["memory_mb"] * 4)
    return chance.choice(({"not": [{"not": [made]}]}, {"or": [made, other]}, {"and": [made, {"or": []}]}))
