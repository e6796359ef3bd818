"""Names of the labs, systems and recipe sets that an event affects, for the rules of triggers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from domain.admission.dependencies import JOB
from domain.events import Event
from domain.recipe.state import Recipe
from domain.scheduling.admitting.room_limits import COUNTING_HOSTS
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


# These functions are called for each event, so they are no generators.


def own_name(happened: Happened, _: Partition) -> Iterable[str]:
    return (happened.subject.partition("/")[2],)


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


def lab_of_pool_system(happened: Happened, partition: Partition) -> Iterable[str]:
    return _labs_here(partition, (happened.event.system,))  # type: ignore[attr-defined]


def labs_of_pool(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return each lab with systems of the pool once; a pool may have thousands of systems."""
    return _labs_here(partition, partition.directory.systems_of(happened.subject.partition("/")[2]))


def _labs_here(partition: Partition, fqdns: Iterable[str]) -> Iterable[str]:
    """Return the labs of those systems that belong to the partition, each once."""
    systems = (partition.systems[fqdn] for fqdn in fqdns if fqdn in partition.systems)
    return [lab for lab in dict.fromkeys(each.lab_controller for each in systems) if partition.has_lab(lab)]


def labs_with_tree(happened: Happened, _: Partition) -> Iterator[str]:
    urls = happened.event.urls  # type: ignore[attr-defined]
    return (name for name in urls if urls[name])


def all_labs(_: Happened, partition: Partition) -> Iterator[str]:
    return (name for name, _ in partition.directory.items("lab-controller") if partition.has_lab(name))


def all_labs_if_group_counts(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return all labs if an access class names the group, otherwise none."""
    group = happened.subject.partition("/")[2]
    return all_labs(happened, partition) if partition.labs.access.names_group(group) else ()


def lab_of_lost_system(happened: Happened, _: Partition) -> Iterator[str]:
    """Yield the lab of a recipe that had a system, but had not started, before the event."""
    before: Recipe = happened.before
    if before.holds_early and before.lab_controller is not None:
        yield before.lab_controller


def lab_of_bound_set(happened: Happened, _: Partition) -> Iterable[str]:
    """Return the lab to which the set of a recipe is bound, if it is."""
    after: Recipe = happened.after
    return () if after.lab_controller is None else (after.lab_controller,)


def lab_of_large_set(happened: Happened, partition: Partition) -> Iterable[str]:
    after: Recipe = happened.after
    if after.lab_controller is None or partition.sets.is_single(after.recipe_set_id):
        return ()
    return (after.lab_controller,) if len(partition.sets.hosts(after.recipe_set_id)) > 1 else ()


# Names of systems and recipe sets


def system_if_forced(happened: Happened, _: Partition) -> Iterable[str]:
    """Return the system if it is not Automated: then only recipes that force it may have it."""
    return () if is_automated(happened.after.condition) else (happened.after.fqdn,)


def set_that_lost(happened: Happened, _: Partition) -> Iterator[str]:
    """Yield the set of a recipe that lost a system before its start or by preemption, or is bound no more."""
    before: Recipe = happened.before
    is_back = happened.after.state == "queued" and before.state not in ("new", "queued")
    if before.holds_early or is_back:
        yield str(before.recipe_set_id)


# Names of partitions whose sets may get their locks


def partition_if_waiting(_: Happened, partition: Partition) -> Iterator[str]:
    """Yield the partition if some set waits for its locks."""
    if partition.locks.waiting:
        yield partition.identity.name


def partition_if_freed(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return the partition if a recipe gave up locks or its wait for them, while another set waits."""
    if not partition.locks.waiting:
        return ()
    before, after = happened.before, happened.after
    is_freed = not after.started and (before.started or before.awaits_locks) and not before.is_guest
    return (partition.identity.name,) if is_freed else ()


def partition_if_awaited(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return the partition if the recipe waits for its locks now."""
    return (partition.identity.name,) if happened.after.awaits_locks else ()


def freed_dependents(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return the sets that depend on a set or job which the event has ended, and that may go on."""
    admission = partition.sets.admission
    if not admission.has_dependents:
        return ()
    ended = admission.ended_with(happened.after)
    dependents = chain.from_iterable(admission.dependents(*subject) for subject in ended)
    return [str(number) for number in dependents if number not in admission.held_back]


def freed_dependents_of_job(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return the sets that depend on the closed job of the event, and that may go on."""
    if not any(ended_job(happened, partition)):
        return ()
    admission = partition.sets.admission
    dependents = admission.dependents(JOB, int(happened.subject.partition("/")[2]))
    return [str(number) for number in dependents if number not in admission.held_back]


# Subjects of admission triggers


def ended_job(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return the closed job of the event if it has ended and other sets depend on it."""
    admission, job_id = partition.sets.admission, int(happened.subject.partition("/")[2])
    has_dependents = admission.has_dependents and any(admission.dependents(JOB, job_id))
    return (happened.subject,) if has_dependents and admission.final_state(JOB, job_id) is not None else ()


def ended_subjects(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return the set and the job that the event has ended, if other sets depend on them."""
    admission = partition.sets.admission
    if not admission.has_dependents:
        return ()
    return [f"{kind}/{number}" for kind, number in admission.ended_with(happened.after)]


def ending_set(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return the set of the event if admission ends it."""
    recipe_set_id: int = happened.after.recipe_set_id
    return (f"recipe-set/{recipe_set_id}",) if recipe_set_id in partition.sets.admission.ending else ()


def own_subject(happened: Happened, _: Partition) -> Iterator[str]:
    yield happened.subject


# Names of partitions whose sets may get room


def partition_if_limited(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return the partition if the set of a recipe or the set itself needs room under some limit."""
    is_limited = happened.after.recipe_set_id in partition.sets.classes.limited
    return (partition.identity.name,) if is_limited else ()


def partition_if_needs_changed(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return the partition if a changed set needs room, or left the limit of a job filter."""
    applying = partition.sets.admission.applying
    if applying(happened.before) is not applying(happened.after):
        return (partition.identity.name,)
    return partition_if_limited(happened, partition)


def partition_if_room_is_kept(_: Happened, partition: Partition) -> Iterator[str]:
    """Yield the partition if room may be kept for a set that the event may make impossible."""
    if partition.sets.rooms.may_keep_room:
        yield partition.identity.name


def partition_if_otherwise_limited(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return the partition if room may be kept, and a set with another limit got its first system.

    Other limits count sets or jobs. A set that lacks room under one of them gets no room kept.
    """
    before: Recipe = happened.before
    if not partition.sets.rooms.may_keep_room or before.is_guest or before.state == "assigned":
        return ()
    of_set, of_job = partition.sets.classes.needs_of(before.recipe_set_id)
    is_limited = any(limit.kind not in COUNTING_HOSTS for limit, _ in (*of_set, *of_job))
    return (partition.identity.name,) if is_limited else ()


def own_name_if_here(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return the name of the lab of the event if it belongs to the partition."""
    return [name for name in own_name(happened, partition) if partition.has_lab(name)]


def own_partition(_: Happened, partition: Partition) -> Iterator[str]:
    yield partition.identity.name
