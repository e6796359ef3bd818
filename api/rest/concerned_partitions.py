"""The partitions that a request concerns: each has an explaining process of its own."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection
from typing import Final

from api.rest.partitions import lab_partitions
from api.rest.ports import ExplainParts
from domain.directory.partitions import LAB, identities, identity_with, lab_of, number_of_lab
from domain.errors import Fault, FaultyInput
from domain.partition_numbers import DEFAULT_NUMBER, DEFAULT_PARTITION, EVERYBODY, PartitionIdentity
from domain.system.state import System
from projections.reader import At

NO_PARTITION: Final = "the lab of this system is in no partition"


async def of_subjects(
    parts: ExplainParts, kind: str, numbers: Collection[int]
) -> dict[PartitionIdentity, list[int]]:
    """Return the numbers of recipes or recipe sets by partition, in their order; unknown ones in `default`.

    While there has been no partition but `default`, this takes no query.
    """
    if len(parts.feed.directory.partition_names) == 1:
        return {DEFAULT_PARTITION: list(numbers)} if numbers else {}
    subjects = {number: f"{kind}/{number}" for number in numbers}
    found = await asyncio.to_thread(parts.aggregates.partitions, subjects.values())
    by_number = defaultdict[int, list[int]](list)
    for number, subject in subjects.items():
        by_number[found.get(subject, DEFAULT_NUMBER)].append(number)
    return {await with_number(parts, number): members for number, members in by_number.items()}


async def of_subject(parts: ExplainParts, kind: str, number: int) -> PartitionIdentity:
    """Return the partition of a recipe or recipe set; `default` if it is unknown."""
    (identity,) = await of_subjects(parts, kind, [number])
    return identity


async def of_system(parts: ExplainParts, fqdn: str, at: At) -> PartitionIdentity:
    """Return the partition of a system: now, or at a moment of the past. An unknown one is in `default`.

    Raises FaultyInput for a system that is in no partition.
    """
    if at.moment is not None:
        number = await _number_at(parts, fqdn, at)
    else:
        if lab_of(parts.feed.directory, fqdn) is None:
            # It may have been registered a moment ago.
            await parts.feed.catch_up()
        lab = lab_of(parts.feed.directory, fqdn)
        number = DEFAULT_NUMBER if lab is None else number_of_lab(parts.feed.directory, lab)
    if number == EVERYBODY:
        raise FaultyInput([Fault("system", f"{NO_PARTITION}, so no recipe can get it")])
    return await with_number(parts, number)


async def require_in(parts: ExplainParts, fqdn: str, identity: PartitionIdentity) -> None:
    """Raise FaultyInput if a system is not in a partition now."""
    of = await of_system(parts, fqdn, At(parts.feed.position))
    if of != identity:
        message = f"is in partition {of.name}, but the recipe is in partition {identity.name}"
        raise FaultyInput([Fault("system", message)])


def with_labs(parts: ExplainParts) -> list[PartitionIdentity]:
    """Return the partitions that have labs, `default` without any lab."""
    directory = parts.feed.directory
    numbers = {number_of_lab(directory, name) for name, _ in directory.items(LAB)}
    return [each for each in identities(directory) if each.number in numbers] or [DEFAULT_PARTITION]


def systems_in_none(parts: ExplainParts) -> list[str]:
    """Return the systems whose labs are in no partition, by name."""
    directory = parts.feed.directory
    labs = {name for name, _ in directory.items(LAB) if number_of_lab(directory, name) == EVERYBODY}
    if not labs:
        return []
    items = directory.items("system")
    return sorted(fqdn for fqdn, entry in items if entry.document["lab_controller"] in labs)


async def _number_at(parts: ExplainParts, fqdn: str, at: At) -> int:
    """Return the number of the partition of a system as of a read."""
    moved = (await lab_partitions(parts, at)).moved
    if not moved:
        return DEFAULT_NUMBER
    system = await asyncio.to_thread(parts.aggregates.as_of, f"system/{fqdn}", at.position)
    return moved.get(system.lab_controller, DEFAULT_NUMBER) if isinstance(system, System) else DEFAULT_NUMBER


async def with_number(parts: ExplainParts, number: int) -> PartitionIdentity:
    """Return the partition with a number, which exists or existed."""
    if number not in parts.feed.directory.partition_names:
        # It was created a moment ago.
        await parts.feed.catch_up()
    return identity_with(parts.feed.directory, number)
