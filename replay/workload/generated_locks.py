"""Generated resource locks and buckets of the recipe sets of a generated queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from domain.contention.locks import LEVELS

Document = dict[str, Any]

NETWORK = LEVELS[-1]
# Percent of the levels with own names, and of the profiles with an exclusive lock on a network. Only one set
# at a time runs with such a lock.
OWN_PERCENT, EXCLUSIVE_PERCENT = 40, 5
MAX_NAMES = 3
# Level -> the section of the lab document with its names, and their key. Other levels have free names.
SECTIONS = {"pool": ("pools", "name"), "system": ("systems", "fqdn")}
# Exclusive locks on the own system would conflict with shared ones on named systems, and few sets could run.
OWN_NAMES = {"pool": {"Shared": ["$pools"]}, "system": {"Shared": ["$system"]}}
OWN_SYSTEM = {"Exclusive": ["$system"]}


def generate_profiles(lab: Document, seed: int, levels: int, count: int) -> list[Document]:
    """Return `count` distinct declarations, each with locks at the last `levels` levels.

    Most sets weigh neither nothing nor everything: a level is either locked by own names, which may conflict
    with other sets, or by a few of so many names that most of them are locked by few sets.
    """
    chance = Random(f"locks/{seed}")
    names = {level: _names(lab, level, count, chance) for level in LEVELS[-levels:]}
    found: dict[str, Document] = {}
    while len(found) < count:
        profile = {level: _lock(level, names[level], chance) for level in names}
        if chance.random() * 100 < EXCLUSIVE_PERCENT:
            profile[NETWORK] = {"Exclusive": [chance.choice(names[NETWORK])]}
        found.setdefault(repr(profile), profile)
    return list(found.values())


def _names(lab: Document, level: str, count: int, chance: Random) -> list[str]:
    """Return the names of a level, one for each profile if there are as many."""
    if level not in SECTIONS:
        return [f"{level}-{number:04}" for number in range(count)]
    section, key = SECTIONS[level]
    every = [item[key] for item in lab[section]]
    return chance.sample(every, min(count, len(every)))


def _lock(level: str, names: Sequence[str], chance: Random) -> Document:
    if chance.random() * 100 < OWN_PERCENT:
        return OWN_NAMES.get(level, OWN_SYSTEM)
    return {"Shared": sorted(chance.sample(names, min(len(names), chance.randint(1, MAX_NAMES))))}


def with_locks(
    sets: Iterator[Document], profiles: Sequence[Mapping[str, Any]], seed: int
) -> Iterator[Document]:
    """Yield the sets with drawn locks. All recipes of a set declare the same, so that it has that profile."""
    chance = Random(f"profiles/{seed}")
    for recipe_set in sets:
        locks = chance.choice(profiles)
        yield {**recipe_set, "recipes": [{**recipe, "locks": locks} for recipe in recipe_set["recipes"]]}


def with_buckets(sets: Iterator[Document], buckets: int, limit: int, seed: int) -> Iterator[Document]:
    """Yield the sets with a reason each, for a place in one of `buckets` buckets of `limit` places."""
    chance = Random(f"buckets/{seed}")
    for recipe_set in sets:
        yield {**recipe_set, "reasons": [f"rate-limit:{limit}:bench-{chance.randrange(buckets)}"]}
