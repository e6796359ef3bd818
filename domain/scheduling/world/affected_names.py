"""Names of the labs, systems and recipe sets that an event affects, for the rules of triggers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from domain.events import Event
from domain.recipe.state import Recipe
from domain.system.usage import is_automated

if TYPE_CHECKING:
    from domain.scheduling.world.partition import Partition


class Happened(NamedTuple):
    """An event, with the state of its recipe, set or system before and after; None for other subjects."""

    subject: str
    event: Event
    before: Any = None
    after: Any = None


Names = Callable[[Happened, "Partition"], Iterable[str]]
"""A function that returns the names of labs, systems or recipe sets that an event affects."""


def own_name(happened: Happened, _: Partition) -> Iterator[str]:
    yield happened.subject.partition("/")[2]


# Names of labs


def lab_of_system(happened: Happened, _: Partition) -> Iterator[str]:
    yield happened.after.lab_controller


def old_and_new_lab(happened: Happened, _: Partition) -> Iterator[str]:
    for state in (happened.before, happened.after):
        if state is not None:
            yield state.lab_controller


def lab_if_in_use(happened: Happened, _: Partition) -> Iterator[str]:
    """Yield the lab of a system that is Automated, or that is no longer Removed and may be forced again."""
    before = happened.before
    if is_automated(happened.after.condition) or (before is not None and before.condition == "Removed"):
        yield happened.after.lab_controller


def lab_of_pool_system(happened: Happened, partition: Partition) -> Iterator[str]:
    yield partition.systems[happened.event.system].lab_controller  # type: ignore[attr-defined]


def labs_of_pool(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return each lab with systems of the pool once; a pool may have thousands of systems."""
    systems = partition.directory.systems_of(happened.subject.partition("/")[2])
    return dict.fromkeys(partition.systems[fqdn].lab_controller for fqdn in systems)


def labs_with_tree(happened: Happened, _: Partition) -> Iterator[str]:
    urls = happened.event.urls  # type: ignore[attr-defined]
    return (name for name in urls if urls[name])


def all_labs(_: Happened, partition: Partition) -> Iterator[str]:
    return (name for name, _ in partition.directory.items("lab-controller"))


def all_labs_if_group_counts(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return all labs if an access class names the group, otherwise none."""
    group = happened.subject.partition("/")[2]
    return all_labs(happened, partition) if partition.labs.access.names_group(group) else ()


def lab_of_lost_system(happened: Happened, _: Partition) -> Iterator[str]:
    """Yield the lab of a recipe that was scheduled before the event."""
    before: Recipe = happened.before
    if before.state == "scheduled" and before.lab_controller is not None:
        yield before.lab_controller


def lab_of_large_set(happened: Happened, partition: Partition) -> Iterator[str]:
    after: Recipe = happened.after
    if after.lab_controller is not None and len(partition.sets.hosts(after.recipe_set_id)) > 1:
        yield after.lab_controller


# Names of systems and recipe sets


def system_if_forced(happened: Happened, _: Partition) -> Iterator[str]:
    """Yield the system if it is not Automated: then only recipes that force it may have it."""
    if not is_automated(happened.after.condition):
        yield happened.after.fqdn


def set_that_lost(happened: Happened, _: Partition) -> Iterator[str]:
    """Yield the set of a recipe that was scheduled, or that was assigned and is queued now."""
    before: Recipe = happened.before
    if before.state == "scheduled" or (before.state == "assigned" and happened.after.state == "queued"):
        yield str(before.recipe_set_id)
