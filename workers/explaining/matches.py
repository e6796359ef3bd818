"""Matches of unsubmitted recipes with the systems of a partition, and why no lab could ever run one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count
from typing import Any

from domain.recipe.state import Recipe
from domain.scheduling.decisions.impossible import why_never_served
from domain.scheduling.decisions.judged_set import JudgedSet
from domain.scheduling.explaining.refusals import Refusal, of_system, refusals, refused_by_filter
from domain.scheduling.supply.filter_key import Demand, filter_key
from domain.scheduling.supply.labs import Labs
from domain.scheduling.world.partition import Partition
from workers.explaining.follower import Follower

Document = Mapping[str, Any]


def matches(follower: Follower, host_requires: str, hidden: list[str]) -> dict[str, Any]:
    """Return for each system of the partition whether it matches a host requirement, or why not.

    `hidden` systems are omitted.
    """
    partition = follower.at_end()
    refused = refused_by_filter(partition.labs, host_requires)
    systems = _systems(partition.labs, _visible(partition, hidden), refused)
    return {"position": partition.position, "recipes": [systems]}


def job_matches(
    follower: Follower, recipe_sets: list[list[Document]], hidden: list[str], now: str
) -> dict[str, Any]:
    """Return for each system of the partition whether it is viable for unsubmitted recipes, or why not.

    `why_never` has for each recipe the reason with which the scheduler of the partition would abort it, None
    if it would not. A recipe has its owner, group, requirements, distro tree and guests, as `_members` reads
    them; a set is submitted at `now`. `hidden` systems are omitted.
    """
    partition = follower.at_end()
    sets = [_judged(partition, recipes, datetime.fromisoformat(now)) for recipes in recipe_sets]
    visible = _visible(partition, hidden)
    return {
        "position": partition.position,
        "recipes": [
            _systems(partition.labs, visible, refusals(partition.labs, judged.demand(host)))
            for judged in sets
            for host in judged.hosts
        ],
        "why_never": [reason for judged in sets for reason in _why_never(partition, judged)],
    }


def _why_never(partition: Partition, judged: JudgedSet) -> Iterator[str | None]:
    reasons = why_never_served(partition, judged)
    return (reasons.get(host.recipe_id) for host in judged.hosts)


def _judged(partition: Partition, recipes: Iterable[Document], now: datetime) -> JudgedSet:
    """Return a set as if it were submitted now. Its recipes are numbered from 1, guests after their hosts."""
    numbers = count(1)
    members: list[Recipe] = []
    demands: dict[int, Demand] = {}
    for document in recipes:
        host, *guests = _members(document, numbers)
        members += [host, *guests]
        submitter = partition.submitter(host.owner, host.group)
        demands[host.recipe_id] = Demand(filter_key(host, guests), submitter)
    return JudgedSet(tuple(members), demands, now)


def _members(document: Document, numbers: Iterator[int]) -> Iterator[Recipe]:
    host_recipe_id: int | None = None
    for each in (document, *document["guests"]):
        recipe_id, tree_id = next(numbers), each["distro_tree_id"]
        yield Recipe(
            recipe_id=recipe_id,
            version=0,
            job_id=0,
            recipe_set_id=0,
            owner=document["owner"],
            group=document["group"],
            submission=0,
            host_requires=each["host_requires"],
            distro_tree_id=tree_id,
            tasks=(),
            host_recipe_id=host_recipe_id,
            distro=each["distro"],
            distro_requires=each["distro_requires"] if tree_id is None else "",
        )
        host_recipe_id = host_recipe_id or recipe_id


def _visible(partition: Partition, hidden: Iterable[str]) -> list[str]:
    own = (fqdn for fqdn, system in partition.systems.items() if partition.has_lab(system.lab_controller))
    return sorted(set(own).difference(hidden))


def _systems(labs: Labs, visible: Sequence[str], refused: tuple[Refusal, ...]) -> list[dict[str, Any]]:
    systems = []
    for fqdn in visible:
        reasons = [refusal.reason for refusal in of_system(refused, labs.number(fqdn))]
        systems.append({"fqdn": fqdn, "viable": not reasons, "reasons": reasons})
    return systems
