"""Generated groups, pools and access policies for the systems of a generated lab."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, cycle
from random import Random
from typing import Any

from replay.workload.generated_lab import PEOPLE, SEEDS

Document = dict[str, Any]

# Maximum priorities of Everybody in a policy that gives one group a higher one.
EVERYBODY = ("Low", "Medium", "Normal", "High")
# Percent of systems with a policy of their own and no pool; percent of policies with a second group, whose
# maximum is between that of Everybody and that of the first group.
OWN_PERCENT, SECOND_PERCENT = 10, 30
MAX_POOLS = 2


def with_access(lab: Document, seed: int, pools: int, groups: int, policies: float) -> Document:
    """Return a lab with its systems in `pools` pools, owned by `groups` groups.

    `policies` is the share (0 to 1) of systems with a policy, their own or that of a pool, which limits the
    priority of all jobs but those of one group. The other systems are in pools without a policy.
    """
    chance, site = Random(f"access/{seed}"), f"s{seed % SEEDS}"
    teams = [_team(f"{site}-team-{number:02}", members) for number, members in _people(groups)]
    names = [team["name"] for team in teams]
    with_policy_count = round(pools * policies)
    pool_documents = [_pool(f"{site}-pool-{number:02}", number, names) for number in range(pools)]
    pool_documents[:with_policy_count] = [
        {**pool, "access_policy": _policy(pool["owner_group"], names, chance)}
        for pool in pool_documents[:with_policy_count]
    ]
    pool_names = [pool["name"] for pool in pool_documents]
    order = chance.sample(range(len(lab["systems"])), len(lab["systems"]))
    with_policy = frozenset(order[: round(len(order) * policies)])
    systems = [
        _system(system, pool_names[:with_policy_count], names, chance)
        if number in with_policy
        else {**system, "pools": _some(pool_names[with_policy_count:], 0, chance)}
        for number, system in enumerate(lab["systems"])
    ]
    return {**lab, "groups": teams, "pools": pool_documents, "systems": systems}


def without_policies(lab: Document) -> Document:
    bare = [{name: value for name, value in pool.items() if name != "access_policy"} for pool in lab["pools"]]
    return {**lab, "pools": bare}


def _people(groups: int) -> Sequence[tuple[int, tuple[str, ...]]]:
    every = [team for size in (1, 2) for team in combinations(PEOPLE, size)]
    return list(zip(range(groups), cycle(every), strict=False))


def _team(name: str, members: tuple[str, ...]) -> Document:
    return {"name": name, "owners": [members[0]], "members": list(members)}


def _pool(name: str, number: int, groups: Sequence[str]) -> Document:
    return {"name": name, "owner_group": groups[number % len(groups)] if groups else None}


def _system(system: Document, pools: Sequence[str], groups: Sequence[str], chance: Random) -> Document:
    if pools and chance.random() * 100 >= OWN_PERCENT:
        return {**system, "pools": _some(pools, 1, chance)}
    first = chance.choice(groups) if groups else None
    return {**system, "pools": [], "access_policy": _policy(first, groups, chance)}


def _some(pools: Sequence[str], minimum: int, chance: Random) -> list[str]:
    return chance.sample(pools, min(len(pools), chance.randint(minimum, MAX_POOLS)))


def _policy(first: str | None, groups: Sequence[str], chance: Random) -> list[Document]:
    """Return a policy that excludes nobody: every job that could run without policies can run with it."""
    everybody = chance.choice(EVERYBODY)
    entries = [_entry(everybody, everybody=True)]
    if first is not None:
        entries.append(_entry("Urgent", group=first))
    second = [name for name in groups if name != first]
    if second and chance.random() * 100 < SECOND_PERCENT:
        between = (*EVERYBODY[EVERYBODY.index(everybody) :], "Urgent")
        entries.append(_entry(chance.choice(between), group=chance.choice(second)))
    return entries


def _entry(maximum: str, **whom: Any) -> Document:
    return {"permission": "submit", **whom, "maximum_effective_priority": maximum}
