"""The partition of new jobs, and the faults of jobs that would span several (design 6)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from api.use_cases.choose_trees import distro_trees
from api.use_cases.ports import NameParts
from domain.contention.locks import LEVELS, Locks
from domain.directory.partition_labs import labs_in
from domain.directory.partition_states import state_of
from domain.directory.partitions import (
    KIND,
    identities,
    identity_of,
    lab_of,
    max_placed_recipes,
    number_of_lab,
    partition_document,
)
from domain.directory.state import Directory
from domain.errors import Fault, FaultyInput, display_name, unknown_name
from domain.intake_states import ACTIVE
from domain.job.spec import JobSpec
from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity
from store.aggregates import Aggregates

_SYSTEM_LEVEL = LEVELS.index("system")


class Placement(NamedTuple):
    """The partition of the jobs of one submission, and the distro trees of the recipes of each job.

    The warning says that the jobs are in another partition than `default` only because of its state.
    """

    partition: PartitionIdentity
    trees: list[list[int | None]]
    warning: Fault | None = None


async def place(parts: NameParts, specs: Sequence[JobSpec], submitter: str) -> Placement:
    """Return the partition that the jobs name, or the first active one where some lab could serve each set.

    Without such a lab it is the named one or `default`, whose scheduler aborts what no lab could ever serve;
    this is decided at the end of the log. Raises FaultyInput for jobs that name several partitions, and the
    errors of `distro_trees`.
    """
    named = _named(specs)
    if named is not None and identity_of(parts.feed.directory, named) is None:
        # It may have been created a moment ago.
        await parts.feed.catch_up()
    is_served, placement = await _place(parts, specs, submitter, named)
    if not is_served:
        await parts.feed.catch_up()
        _, placement = await _place(parts, specs, submitter, named)
    return placement


async def _place(
    parts: NameParts, specs: Sequence[JobSpec], submitter: str, named: str | None
) -> tuple[bool, Placement]:
    """Return the first candidate that could serve all jobs, otherwise the named partition or `default`.

    The flag says whether it could serve them.
    """
    directory = parts.feed.directory
    last = DEFAULT_PARTITION if named is None else _existing(directory, named)
    # `default` is chosen in any case, also while it takes no jobs: that is what the submitter has to know.
    candidates = [last, *(each for each in _active(directory) if each != last)] if named is None else [last]
    placements: list[Placement] = []
    diversion: str | None = None
    for partition in candidates:
        chosen = [await distro_trees(parts, spec, submitter, partition.number) for spec in specs]
        placements.append(Placement(partition, [trees.tree_ids for trees in chosen]))
        if any(trees.hopeless for trees in chosen):
            continue
        if named is not None or _is_active(directory, partition):
            return True, placements[-1]._replace(warning=_warning(partition, diversion))
        # Only `default` is a candidate that is not active.
        diversion = f"{display_name(KIND, partition.name)} is {_state(directory, partition)}"
    return False, placements[0]


def _warning(partition: PartitionIdentity, diversion: str | None) -> Fault | None:
    if diversion is None:
        return None
    return Fault("partition", f"the job is put into {partition.name}: it names no partition, and {diversion}")


def _named(specs: Sequence[JobSpec]) -> str | None:
    names = list(dict.fromkeys(spec.partition for spec in specs if spec.partition is not None))
    if len(names) > 1:
        listed = ", ".join(names)
        raise FaultyInput([Fault("jobs", f"name several partitions ({listed}); submit them separately")])
    return names[0] if names else None


def _existing(directory: Directory, name: str) -> PartitionIdentity:
    identity = identity_of(directory, name)
    if identity is None:
        raise FaultyInput([Fault("partition", unknown_name(KIND, name))])
    return identity


def _active(directory: Directory) -> list[PartitionIdentity]:
    return [identity for identity in identities(directory) if _is_active(directory, identity)]


def _is_active(directory: Directory, partition: PartitionIdentity) -> bool:
    return _state(directory, partition) == ACTIVE


def _state(directory: Directory, partition: PartitionIdentity) -> str:
    return state_of(partition_document(directory, partition.name))


async def require_one_partition(
    aggregates: Aggregates, directory: Directory, specs: Sequence[JobSpec], partition: PartitionIdentity
) -> None:
    """Raise FaultyInput for references to other partitions, and for jobs that the partition could never run.

    Other partitions are those of jobs and sets that the jobs depend on, and of systems that they lock. A
    partition that the jobs name has to have a lab, and room for each of their sets.
    """
    # Without other partitions everything is in one, and the sets have been checked.
    if len(directory.partition_names) == 1:
        return
    of_jobs = [dependency for spec in specs for dependency in spec.depends_on]
    of_sets = [each for spec in specs for recipe_set in spec.recipe_sets for each in recipe_set.depends_on]
    depends_on = {f"{each.kind}/{each.number}" for each in (*of_jobs, *of_sets) if each.number > 0}
    numbers = await asyncio.to_thread(aggregates.partitions, sorted(depends_on)) if depends_on else {}
    faults = [
        Fault(
            "depends_on", f"{display_name(*subject.split('/'))} is in another partition than {partition.name}"
        )
        for subject, number in numbers.items()
        if number != partition.number
    ]
    faults += [
        *_without_labs(directory, specs, partition),
        *_locked_elsewhere(directory, specs, partition),
        *_too_large(directory, specs, partition),
    ]
    if faults:
        raise FaultyInput(faults)


def _without_labs(
    directory: Directory, specs: Sequence[JobSpec], partition: PartitionIdentity
) -> Iterator[Fault]:
    """Yield a fault for a partition without labs that jobs name. `place` has read the log to its end."""
    if _named(specs) is not None and not labs_in(directory, partition.number):
        yield Fault("partition", f"{partition.name} has no labs, so no job can run there")


def _locked_elsewhere(
    directory: Directory, specs: Sequence[JobSpec], partition: PartitionIdentity
) -> Iterator[Fault]:
    """Yield a fault for each system in another partition that a recipe locks by name."""
    hosts = [host for spec in specs for recipe_set in spec.recipe_sets for host in recipe_set.recipes]
    locks = [recipe.locks for host in hosts for recipe in (host, *host.guests)]
    for fqdn in sorted({name for each in locks for name in _locked_systems(each)}):
        lab = lab_of(directory, fqdn)
        if lab is not None and number_of_lab(directory, lab) != partition.number:
            yield Fault("locks", f"system {fqdn} is in another partition than {partition.name}")


def _locked_systems(locks: Locks) -> Iterator[str]:
    for part in locks.levels[_SYSTEM_LEVEL]:
        if isinstance(part, tuple):
            yield from part


def _too_large(
    directory: Directory, specs: Sequence[JobSpec], partition: PartitionIdentity
) -> Iterator[Fault]:
    maximum = max_placed_recipes(directory, partition.name)
    if maximum is None:
        return
    for job, spec in enumerate(specs):
        for index, recipe_set in enumerate(spec.recipe_sets):
            where = f"jobs[{job}].recipe_sets[{index}]" if len(specs) > 1 else f"recipe_sets[{index}]"
            if (size := len(recipe_set.recipes)) > maximum:
                limit = f"the maximum of placed recipes (limits.placed_recipes) is {maximum}"
                yield Fault(where, f"needs {size} systems; {limit} in partition {partition.name}")
