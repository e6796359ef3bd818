"""What makes the scheduler ask again: one row for each thing that eases, or that may leave holders stuck.

A wake-up asks idle systems the question of a pending system once more (design section 2). A subject names
whom it asks: `system/F` that one; `lab-controller/L` all idle ones of the lab; `recipe-set/N` those that are
viable for its recipes.

A row says what to ask, whatever is idle or held when its event is read: a decision that did not know the
event may stand right behind it in the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from domain.directory import events as directory
from domain.events import Event
from domain.recipe import events as recipe
from domain.recipe.state import Recipe
from domain.recipe_set import events as recipe_set
from domain.system import events as system
from domain.system.state import System
from domain.system.usage import is_automated

if TYPE_CHECKING:
    from domain.scheduling.world.partition import Partition


class Happened(NamedTuple):
    """An event, and what its recipe, set or system was before and is after; None for other subjects."""

    subject: str
    event: Event
    before: Any = None
    after: Any = None


@dataclass(frozen=True)
class TriggerRule:
    """One cause: the events that may be it, and what it asks (subjects, or lab controllers)."""

    name: str
    events: tuple[type[Event], ...]
    targets: Callable[[Happened, Partition], Iterable[str]]


def _lab_of(happened: Happened, _: Partition) -> Iterator[str]:
    """Its own takers may be others now, and so may be what is safe in its lab."""
    yield f"lab-controller/{happened.after.lab_controller}"


def _usable_again(happened: Happened, partition: Partition) -> Iterator[str]:
    """Itself it is pending; what is safe in its lab changes with it."""
    if is_automated(happened.after.condition):
        yield from _lab_of(happened, partition)


def _usable_for_forced(happened: Happened, partition: Partition) -> Iterator[str]:
    """It is not pending, and only recipes that force it may have it; but their siblings want others, too."""
    if not is_automated(happened.after.condition):
        yield from _lab_of(happened, partition)


def _back_for_forced(happened: Happened, partition: Partition) -> Iterator[str]:
    """Who forces a system may have it in any condition but Removed."""
    if happened.before.condition == "Removed":
        yield from _usable_for_forced(happened, partition)


def _free_for_forced(happened: Happened, _: Partition) -> Iterator[str]:
    """Nobody asks a system that is not Automated, but for the recipes that force it."""
    changed: System = happened.after
    if not is_automated(changed.condition):
        yield changed.subject


def _pool_of_system(happened: Happened, partition: Partition) -> Iterator[str]:
    changed = partition.systems[happened.event.system]  # type: ignore[attr-defined]
    return _lab_of(Happened(changed.subject, happened.event, after=changed), partition)


def _labs_of_pool(happened: Happened, partition: Partition) -> Iterator[str]:
    """A policy of thousands of systems asks each of their labs once."""
    return (f"lab-controller/{name}" for name in _labs_with_systems_of_pool(happened, partition))


def _all_labs(happened: Happened, partition: Partition) -> Iterator[str]:
    return (f"lab-controller/{name}" for name in _labs_for_group(happened, partition))


def _labs_of_tree(happened: Happened, _: Partition) -> Iterator[str]:
    urls = happened.event.urls  # type: ignore[attr-defined]
    return (f"lab-controller/{name}" for name in urls if urls[name])


def _lab(happened: Happened, _: Partition) -> Iterator[str]:
    yield happened.subject


def _lost(happened: Happened, _: Partition) -> Iterator[str]:
    """It had a system, or a lab at least, and wants one again."""
    before: Recipe = happened.before
    if before.state == "scheduled" or (before.state == "assigned" and happened.after.state == "queued"):
        yield f"recipe-set/{before.recipe_set_id}"


def _gave_back(happened: Happened, _: Partition) -> Iterator[str]:
    """It held a system that others may have waited for."""
    before: Recipe = happened.before
    if before.state == "scheduled" and before.lab_controller is not None:
        yield f"lab-controller/{before.lab_controller}"


def _granted(happened: Happened, partition: Partition) -> Iterator[str]:
    """With one system more a set may be able to take its others, or to start, and is in nobody's way then."""
    after: Recipe = happened.after
    if after.lab_controller is not None and len(partition.sets.hosts(after.recipe_set_id)) > 1:
        yield f"lab-controller/{after.lab_controller}"


def _labs_with_systems_of_pool(happened: Happened, partition: Partition) -> Iterable[str]:
    pool = happened.subject.partition("/")[2]
    systems = partition.directory.systems_of(pool)
    return dict.fromkeys(partition.systems[fqdn].lab_controller for fqdn in systems)


def _labs_for_group(happened: Happened, partition: Partition) -> Iterable[str]:
    """Those that are in it, or not any more, may have recipes in all of them; most groups no policy names."""
    group = happened.subject.partition("/")[2]
    if not partition.labs.access.names_group(group):
        return ()
    return (name for name, _ in partition.directory.items("lab-controller"))


def _of_set(happened: Happened, _: Partition) -> Iterator[str]:
    yield happened.subject


GROUP = (directory.GroupRegistered, directory.GroupChanged, directory.GroupRemoved)

WAKE_UPS: tuple[TriggerRule, ...] = (
    # A system became usable. Itself is pending then; with it more can be completed.
    TriggerRule("system added", (system.SystemRegistered,), _usable_again),
    TriggerRule("system repaired", (system.SystemConditionChanged,), _usable_again),
    TriggerRule("system undrained", (system.SystemUndrained,), _usable_again),
    TriggerRule("system returned by a person", (system.SystemReservationEnded,), _lab_of),
    # A system that only forced recipes may have came free, or is there again.
    TriggerRule("system free for who forces it", (system.SystemIdle,), _free_for_forced),
    TriggerRule(
        "removed system is back, for who forces it", (system.SystemConditionChanged,), _back_for_forced
    ),
    TriggerRule("undrained, for who forces it", (system.SystemUndrained,), _usable_for_forced),
    # A recipe lost its system, or its set let go: it may have another, and others what it held.
    TriggerRule("recipe lost its system", (recipe.RecipeAssigned, recipe.RecipeQueued), _lost),
    TriggerRule("set let go", (recipe.RecipeQueued,), _gave_back),
    TriggerRule("holder ended", (recipe.RecipeCancelled, recipe.RecipeAborted), _gave_back),
    # What is known of a system changed, and with it who is viable.
    TriggerRule("inventory changed", (system.SystemInventoryChanged,), _lab_of),
    TriggerRule("pools changed", (directory.PoolSystemAdded, directory.PoolSystemRemoved), _pool_of_system),
    TriggerRule("lab of a system changed", (system.SystemLabControllerChanged,), _lab_of),
    TriggerRule(
        "distro tree arrived", (directory.DistroTreeRegistered, directory.DistroTreeChanged), _labs_of_tree
    ),
    TriggerRule("lab enabled", (directory.LabControllerEnabled,), _lab),
    TriggerRule("lab heard", (directory.LabControllerHeard,), _lab),
    # Not in the seed: a grant can make safe what was not.
    TriggerRule("set got a system", (recipe.RecipeScheduled,), _granted),
    # Who may submit there, and whose it is for a while.
    TriggerRule("access policy of a pool changed", (directory.PoolAccessPolicyChanged,), _labs_of_pool),
    TriggerRule("access policy of a system changed", (system.SystemAccessPolicyChanged,), _lab_of),
    TriggerRule("owner of a system changed", (system.SystemOwnerChanged,), _lab_of),
    TriggerRule("lent", (system.SystemLoaned,), _lab_of),
    TriggerRule("loan ended", (system.SystemLoanEnded,), _lab_of),
    TriggerRule("group changed", GROUP, _all_labs),
    # Eases nothing: a priority says who comes first, and at an idle system that is nobody. Design 2 lists it.
    TriggerRule("priority changed", (recipe_set.RecipeSetPriorityChanged,), _of_set),
)


def _lab_of_system(happened: Happened, _: Partition) -> Iterator[str]:
    for state in (happened.before, happened.after):
        if state is not None:
            yield state.lab_controller


def _lab_of_pool_system(happened: Happened, partition: Partition) -> Iterator[str]:
    yield partition.systems[happened.event.system].lab_controller  # type: ignore[attr-defined]


def _every_lab(_: Happened, partition: Partition) -> Iterator[str]:
    return (name for name, _ in partition.directory.items("lab-controller"))


def _lab_itself(happened: Happened, _: Partition) -> Iterator[str]:
    yield happened.subject.partition("/")[2]


def _still_holding(happened: Happened, _: Partition) -> Iterator[str]:
    """Its set holds others, and may not find another one for it."""
    if happened.before.state == "scheduled":
        yield happened.after.lab_controller


LET_GOES: tuple[TriggerRule, ...] = (
    TriggerRule("condition changed", (system.SystemConditionChanged,), _lab_of_system),
    TriggerRule("drained", (system.SystemDrained,), _lab_of_system),
    TriggerRule("reserved by a person", (system.SystemReservationBegun,), _lab_of_system),
    TriggerRule("inventory changed", (system.SystemInventoryChanged,), _lab_of_system),
    TriggerRule("lab of a system changed", (system.SystemLabControllerChanged,), _lab_of_system),
    TriggerRule(
        "pools changed", (directory.PoolSystemAdded, directory.PoolSystemRemoved), _lab_of_pool_system
    ),
    TriggerRule(
        "distro tree changed", (directory.DistroTreeChanged, directory.DistroTreeRemoved), _every_lab
    ),
    TriggerRule("lab disabled", (directory.LabControllerDisabled,), _lab_itself),
    TriggerRule("lab silent", (directory.LabControllerSilent,), _lab_itself),
    TriggerRule("system withdrawn", (recipe.RecipeAssigned,), _still_holding),
    TriggerRule(
        "access policy of a pool changed", (directory.PoolAccessPolicyChanged,), _labs_with_systems_of_pool
    ),
    TriggerRule("access policy of a system changed", (system.SystemAccessPolicyChanged,), _lab_of_system),
    TriggerRule("owner of a system changed", (system.SystemOwnerChanged,), _lab_of_system),
    TriggerRule("lent", (system.SystemLoaned,), _lab_of_system),
    TriggerRule("loan ended", (system.SystemLoanEnded,), _lab_of_system),
    TriggerRule("group changed", GROUP, _labs_for_group),
)
