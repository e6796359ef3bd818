"""Requirements that a given system, or distro tree, certainly meets."""

from __future__ import annotations

from random import Random

from replay.workload.generated_conditions import CONDITIONS, Document, leaf

MAX_CONDITIONS = 3
# Percent of conditions that are written in a more complicated form.
REWRITTEN_PERCENT = 15


def distro_requires(tree: Document) -> Document:
    return {"and": [leaf("distro_name", "=", tree["name"]), leaf("distro_arch", "=", tree["arch"])]}


def host_requires(system: Document, chance: Random) -> Document:
    """Return a requirement of the system's arch and up to three other conditions that it satisfies."""
    asked = [leaf("arch", "=", system["arches"][0])]
    wanted = 1 + chance.randint(0, MAX_CONDITIONS)
    for condition in chance.sample(CONDITIONS, len(CONDITIONS)):
        made = condition(system, chance) if len(asked) < wanted else None
        if made is not None:
            asked.append(_rewritten(made, system, chance))
    return {"and": asked}


def _rewritten(made: Document, system: Document, chance: Random) -> Document:
    """Return a condition unchanged, or sometimes in an equivalent or weaker form."""
    if chance.random() * 100 >= REWRITTEN_PERCENT:
        return made
    other = leaf("memory", ">", system["memory_mb"] * 4)
    return chance.choice(({"not": [{"not": [made]}]}, {"or": [made, other]}, {"and": [made, {"or": []}]}))
