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
    conditions = [leaf("arch", "=", system["arches"][0])]
    count = 1 + chance.randint(0, MAX_CONDITIONS)
    for generate in chance.sample(CONDITIONS, len(CONDITIONS)):
        condition = generate(system, chance) if len(conditions) < count else None
        if condition is not None:
            conditions.append(_rewritten(condition, system, chance))
    return {"and": conditions}


def _rewritten(condition: Document, system: Document, chance: Random) -> Document:
    """Return a condition unchanged, or sometimes in an equivalent or weaker form."""
    if chance.random() * 100 >= REWRITTEN_PERCENT:
        return condition
    other = leaf("memory", ">", system["memory_mb"] * 4)
    same, weaker = {"not": [{"not": [condition]}]}, {"or": [condition, other]}
    return chance.choice((same, weaker, {"and": [condition, {"or": []}]}))
