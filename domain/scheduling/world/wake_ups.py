"""The events that raise wake-ups and let-go triggers, and the systems or labs to ask.

A wake-up asks idle systems for a recipe again (design section 2). Its subject names these systems: `system/F`
one system; `lab-controller/L` all idle systems of the lab; `recipe-set/N` the systems that are viable for the
recipes of the set. A let-go trigger names the lab whose holders are to be checked.

A rule ignores what is idle or held when its event is folded: the next commit in the log may be a decision
that did not know the event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from domain.directory import events as directory_events
from domain.events import Event
from domain.recipe import events as recipe_events
from domain.recipe.state import Recipe
from domain.recipe_set import events as recipe_set_events
from domain.system import events as system_events
from domain.system.state import System
from domain.system.usage import is_automated

if TYPE_CHECKING:
    from domain.scheduling.world.partition import Partition


class Happened(NamedTuple):
    """An event, with the state of its recipe, set or system before and after; None for other subjects."""

    subject: str
    event: Event
    before: Any = None
    after: Any = None


@dataclass(frozen=True)
class TriggerRule:
    """The events of one cause, and the targets that they trigger: subjects for a wake-up, labs for let-go."""

    name: str
    events: tuple[type[Event], ...]
    targets: Callable[[Happened, Partition], Iterable[str]]


def _lab_after(happened: Happened, _: Partition) -> Iterator[str]:
    """Yield the lab: other recipes may want the system now, and other grants may be safe there."""
    yield happened.after.lab_controller


def _labs_before_and_after(happened: Happened, _: Partition) -> Iterator[str]:
    for state in (happened.before, happened.after):
        if state is not None:
            yield state.lab_controller


def _lab_if_automated(happened: Happened, partition: Partition) -> Iterator[str]:
    """Yield the lab of an Automated system: the system itself is pending, but it makes other grants safe."""
    if is_automated(happened.after.condition):
        yield from _lab_after(happened, partition)


def _lab_if_not_automated(happened: Happened, partition: Partition) -> Iterator[str]:
    """Yield the lab of a system that is for forced recipes only: their siblings want other systems."""
    if not is_automated(happened.after.condition):
        yield from _lab_after(happened, partition)


def _lab_if_no_longer_removed(happened: Happened, partition: Partition) -> Iterator[str]:
    """Yield that lab if the system was Removed; no recipe may have a Removed system, even by force."""
    if happened.before.condition == "Removed":
        yield from _lab_if_not_automated(happened, partition)


def _lab_of_pool_system(happened: Happened, partition: Partition) -> Iterator[str]:
    yield partition.systems[happened.event.system].lab_controller  # type: ignore[attr-defined]


def _labs_of_pool(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return each lab with systems of a pool once; a pool may have thousands of systems."""
    pool = happened.subject.partition("/")[2]
    systems = partition.directory.systems_of(pool)
    return dict.fromkeys(partition.systems[fqdn].lab_controller for fqdn in systems)


def _labs_for_group(happened: Happened, partition: Partition) -> Iterable[str]:
    """Yield all labs if a policy names the group, since its present and former members may have recipes in
    each.
    """
    group = happened.subject.partition("/")[2]
    return _all_labs(happened, partition) if partition.labs.access.names_group(group) else ()


def _all_labs(_: Happened, partition: Partition) -> Iterator[str]:
    return (name for name, _ in partition.directory.items("lab-controller"))


def _labs_with_tree(happened: Happened, _: Partition) -> Iterator[str]:
    urls = happened.event.urls  # type: ignore[attr-defined]
    return (name for name in urls if urls[name])


def _lab_itself(happened: Happened, _: Partition) -> Iterator[str]:
    yield happened.subject.partition("/")[2]


def _lab_of_ended_holder(happened: Happened, _: Partition) -> Iterator[str]:
    """Yield the lab of the system that the recipe held, and that others may have waited for."""
    before: Recipe = happened.before
    if before.state == "scheduled" and before.lab_controller is not None:
        yield before.lab_controller


def _lab_of_granted_set(happened: Happened, partition: Partition) -> Iterator[str]:
    """Yield the lab of a set with several hosts: one more system may let it start, or get the others."""
    after: Recipe = happened.after
    if after.lab_controller is not None and len(partition.sets.hosts(after.recipe_set_id)) > 1:
        yield after.lab_controller


def _lab_of_withdrawn_system(happened: Happened, _: Partition) -> Iterator[str]:
    """Yield the lab of a set that lost a system, may not get another one for it, and holds other systems."""
    if happened.before.state == "scheduled":
        yield happened.after.lab_controller


def _lab_subjects(
    labs: Callable[[Happened, Partition], Iterable[str]],
) -> Callable[[Happened, Partition], Iterator[str]]:
    """Return a function that yields the labs of `labs` as subjects of wake-ups."""
    return lambda happened, partition: (f"lab-controller/{name}" for name in labs(happened, partition))


def _system_if_not_automated(happened: Happened, _: Partition) -> Iterator[str]:
    """Yield a system that is not Automated, which only recipes that force it may have."""
    changed: System = happened.after
    if not is_automated(changed.condition):
        yield changed.subject


def _set_that_lost(happened: Happened, _: Partition) -> Iterator[str]:
    """Yield the set of a recipe that had a system, or at least a lab, and wants one again."""
    before: Recipe = happened.before
    if before.state == "scheduled" or (before.state == "assigned" and happened.after.state == "queued"):
        yield f"recipe-set/{before.recipe_set_id}"


def _subject(happened: Happened, _: Partition) -> Iterator[str]:
    yield happened.subject


GROUP = (directory_events.GroupRegistered, directory_events.GroupChanged, directory_events.GroupRemoved)

WAKE_UPS: tuple[TriggerRule, ...] = (
    # A system became usable. The system itself is pending; with it more sets can be completed.
    TriggerRule("system added", (system_events.SystemRegistered,), _lab_subjects(_lab_if_automated)),
    TriggerRule("system repaired", (system_events.SystemConditionChanged,), _lab_subjects(_lab_if_automated)),
    TriggerRule("system undrained", (system_events.SystemUndrained,), _lab_subjects(_lab_if_automated)),
    TriggerRule(
        "system returned by a person", (system_events.SystemReservationEnded,), _lab_subjects(_lab_after)
    ),
    # A system that only forced recipes may have came free, or was restored.
    TriggerRule("system free for who forces it", (system_events.SystemIdle,), _system_if_not_automated),
    TriggerRule(
        "removed system is back, for who forces it",
        (system_events.SystemConditionChanged,),
        _lab_subjects(_lab_if_no_longer_removed),
    ),
    TriggerRule(
        "undrained, for who forces it", (system_events.SystemUndrained,), _lab_subjects(_lab_if_not_automated)
    ),
    # A recipe lost its system, or its set let go: the recipe may get another one, other recipes its system.
    TriggerRule(
        "recipe lost its system", (recipe_events.RecipeAssigned, recipe_events.RecipeQueued), _set_that_lost
    ),
    TriggerRule("set let go", (recipe_events.RecipeQueued,), _lab_subjects(_lab_of_ended_holder)),
    TriggerRule(
        "holder ended",
        (recipe_events.RecipeCancelled, recipe_events.RecipeAborted),
        _lab_subjects(_lab_of_ended_holder),
    ),
    # The properties of a system changed, and with them the recipes that it fits.
    TriggerRule("inventory changed", (system_events.SystemInventoryChanged,), _lab_subjects(_lab_after)),
    TriggerRule(
        "pools changed",
        (directory_events.PoolSystemAdded, directory_events.PoolSystemRemoved),
        _lab_subjects(_lab_of_pool_system),
    ),
    TriggerRule(
        "lab of a system changed", (system_events.SystemLabControllerChanged,), _lab_subjects(_lab_after)
    ),
    TriggerRule(
        "distro tree arrived",
        (directory_events.DistroTreeRegistered, directory_events.DistroTreeChanged),
        _lab_subjects(_labs_with_tree),
    ),
    TriggerRule("lab enabled", (directory_events.LabControllerEnabled,), _lab_subjects(_lab_itself)),
    TriggerRule("lab heard", (directory_events.LabControllerHeard,), _lab_subjects(_lab_itself)),
    # A grant can make other grants safe.
    TriggerRule("set got a system", (recipe_events.RecipeScheduled,), _lab_subjects(_lab_of_granted_set)),
    # Access to systems changed.
    TriggerRule(
        "access policy of a pool changed",
        (directory_events.PoolAccessPolicyChanged,),
        _lab_subjects(_labs_of_pool),
    ),
    TriggerRule(
        "access policy of a system changed",
        (system_events.SystemAccessPolicyChanged,),
        _lab_subjects(_lab_after),
    ),
    TriggerRule("owner of a system changed", (system_events.SystemOwnerChanged,), _lab_subjects(_lab_after)),
    TriggerRule("lent", (system_events.SystemLoaned,), _lab_subjects(_lab_after)),
    TriggerRule("loan ended", (system_events.SystemLoanEnded,), _lab_subjects(_lab_after)),
    TriggerRule("group changed", GROUP, _lab_subjects(_labs_for_group)),
    # Eases nothing: a priority orders the queue, and no recipe in the queue can take an idle system. Design 2
    # lists it.
    TriggerRule("priority changed", (recipe_set_events.RecipeSetPriorityChanged,), _subject),
)

LET_GOES: tuple[TriggerRule, ...] = (
    TriggerRule("condition changed", (system_events.SystemConditionChanged,), _labs_before_and_after),
    TriggerRule("drained", (system_events.SystemDrained,), _labs_before_and_after),
    TriggerRule("reserved by a person", (system_events.SystemReservationBegun,), _labs_before_and_after),
    TriggerRule("inventory changed", (system_events.SystemInventoryChanged,), _labs_before_and_after),
    TriggerRule(
        "lab of a system changed", (system_events.SystemLabControllerChanged,), _labs_before_and_after
    ),
    TriggerRule(
        "pools changed",
        (directory_events.PoolSystemAdded, directory_events.PoolSystemRemoved),
        _lab_of_pool_system,
    ),
    TriggerRule(
        "distro tree changed",
        (directory_events.DistroTreeChanged, directory_events.DistroTreeRemoved),
        _all_labs,
    ),
    TriggerRule("lab disabled", (directory_events.LabControllerDisabled,), _lab_itself),
    TriggerRule("lab silent", (directory_events.LabControllerSilent,), _lab_itself),
    TriggerRule("system withdrawn", (recipe_events.RecipeAssigned,), _lab_of_withdrawn_system),
    TriggerRule(
        "access policy of a pool changed", (directory_events.PoolAccessPolicyChanged,), _labs_of_pool
    ),
    TriggerRule(
        "access policy of a system changed",
        (system_events.SystemAccessPolicyChanged,),
        _labs_before_and_after,
    ),
    TriggerRule("owner of a system changed", (system_events.SystemOwnerChanged,), _labs_before_and_after),
    TriggerRule("lent", (system_events.SystemLoaned,), _labs_before_and_after),
    TriggerRule("loan ended", (system_events.SystemLoanEnded,), _labs_before_and_after),
    TriggerRule("group changed", GROUP, _labs_for_group),
)
