"""The table of events that raise wake-ups or let-go triggers, with the case for each.

A wake-up searches the queue again for idle systems (design section 2). Its subject names these systems:
`system/F` one system; `lab-controller/L` all systems of the lab; `recipe-set/N` the systems that are viable
for the recipes of the set. A let-go trigger names the lab whose holders are checked.

A rule must not depend on the systems that are idle or held when its event is folded: the next commit in the
log may be a decision that was made before the scheduler read the event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from domain.directory import events as directory_events
from domain.events import Event
from domain.recipe import events as recipe_events
from domain.recipe.state import Recipe
from domain.recipe_set import events as recipe_set_events
from domain.system import events as system_events
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


class Wakes(NamedTuple):
    """The subjects of wake-ups: those of one kind with these names."""

    kind: str
    names: Names


class TriggerRule(NamedTuple):
    """Events with the same wake-ups and labs that may let go; `story` is the case for the rule."""

    name: str
    events: tuple[type[Event], ...]
    wakes: tuple[Wakes, ...]
    may_let_go: Names | None
    story: str

    def subjects(self, happened: Happened, partition: Partition) -> Iterator[str]:
        for kind, names in self.wakes:
            for name in names(happened, partition):
                yield f"{kind}/{name}"


# Names of labs


def _lab(happened: Happened, _: Partition) -> Iterator[str]:
    yield happened.subject.partition("/")[2]


def _lab_of_system(happened: Happened, _: Partition) -> Iterator[str]:
    yield happened.after.lab_controller


def _old_and_new_lab(happened: Happened, _: Partition) -> Iterator[str]:
    for state in (happened.before, happened.after):
        if state is not None:
            yield state.lab_controller


def _lab_if_in_use(happened: Happened, _: Partition) -> Iterator[str]:
    """Yield the lab of a system that is Automated, or that is no longer Removed and may be forced again."""
    before = happened.before
    if is_automated(happened.after.condition) or (before is not None and before.condition == "Removed"):
        yield happened.after.lab_controller


def _lab_of_pool_system(happened: Happened, partition: Partition) -> Iterator[str]:
    yield partition.systems[happened.event.system].lab_controller  # type: ignore[attr-defined]


def _labs_of_pool(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return each lab with systems of the pool once; a pool may have thousands of systems."""
    systems = partition.directory.systems_of(happened.subject.partition("/")[2])
    return dict.fromkeys(partition.systems[fqdn].lab_controller for fqdn in systems)


def _labs_with_tree(happened: Happened, _: Partition) -> Iterator[str]:
    urls = happened.event.urls  # type: ignore[attr-defined]
    return (name for name in urls if urls[name])


def _all_labs(_: Happened, partition: Partition) -> Iterator[str]:
    return (name for name, _ in partition.directory.items("lab-controller"))


def _all_labs_if_group_counts(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return all labs if an access class names the group, otherwise none."""
    group = happened.subject.partition("/")[2]
    return _all_labs(happened, partition) if partition.labs.access.names_group(group) else ()


def _lab_of_lost_system(happened: Happened, _: Partition) -> Iterator[str]:
    """Yield the lab of a recipe that was scheduled before the event."""
    before: Recipe = happened.before
    if before.state == "scheduled" and before.lab_controller is not None:
        yield before.lab_controller


def _lab_of_large_set(happened: Happened, partition: Partition) -> Iterator[str]:
    after: Recipe = happened.after
    if after.lab_controller is not None and len(partition.sets.hosts(after.recipe_set_id)) > 1:
        yield after.lab_controller


# Names of systems and recipe sets


def _system_if_forced(happened: Happened, _: Partition) -> Iterator[str]:
    """Yield the system if it is not Automated: then only recipes that force it may have it."""
    if not is_automated(happened.after.condition):
        yield happened.after.fqdn


def _set_that_lost(happened: Happened, _: Partition) -> Iterator[str]:
    """Yield the set of a recipe that was scheduled, or that was assigned and is queued now."""
    before: Recipe = happened.before
    if before.state == "scheduled" or (before.state == "assigned" and happened.after.state == "queued"):
        yield str(before.recipe_set_id)


def _set(happened: Happened, _: Partition) -> Iterator[str]:
    yield happened.subject.partition("/")[2]


def _labs(names: Names) -> tuple[Wakes, ...]:
    return (Wakes("lab-controller", names),)


_LOST_SET = Wakes("recipe-set", _set_that_lost)

TRIGGER_RULES: tuple[TriggerRule, ...] = (
    # Systems become usable, or stop being usable.
    TriggerRule(
        "system added",
        (system_events.SystemRegistered,),
        _labs(_lab_if_in_use),
        None,
        "The system itself is pending. With it more sets can be completed, so that other grants are safe.",
    ),
    TriggerRule(
        "condition changed",
        (system_events.SystemConditionChanged,),
        _labs(_lab_if_in_use),
        _old_and_new_lab,
        "A repaired system makes other grants safe; one that was Removed may be forced again. A holder may"
        " wait for a system that broke.",
    ),
    TriggerRule(
        "system drained",
        (system_events.SystemDrained,),
        (),
        _old_and_new_lab,
        "A holder may wait for the system, which takes no more recipes.",
    ),
    TriggerRule(
        "system undrained",
        (system_events.SystemUndrained,),
        _labs(_lab_of_system),
        None,
        "An Automated system is pending itself, and makes other grants safe. Of a set that forces another"
        " system, the other recipes want idle systems of the lab.",
    ),
    TriggerRule(
        "reserved by a person",
        (system_events.SystemReservationBegun,),
        (),
        _old_and_new_lab,
        "A holder may wait for a system that is not Automated, and a person was quicker.",
    ),
    TriggerRule(
        "system returned by a person",
        (system_events.SystemReservationEnded,),
        _labs(_lab_of_system),
        None,
        "The system is usable again, and makes other grants safe.",
    ),
    TriggerRule(
        "system free for forced recipes",
        (system_events.SystemIdle,),
        (Wakes("system", _system_if_forced),),
        None,
        "A system that is not Automated is never pending. A recipe that forces it may wait for it.",
    ),
    # Recipes get systems, lose them, and end.
    TriggerRule(
        "set got a system",
        (recipe_events.RecipeScheduled,),
        _labs(_lab_of_large_set),
        None,
        "One more system may let the set start, or make grants to its other recipes safe. Not in the seed.",
    ),
    TriggerRule(
        "recipe assigned",
        (recipe_events.RecipeAssigned,),
        (_LOST_SET,),
        _lab_of_lost_system,
        "A recipe that lost its system may have another one. If there is none, its set must not keep the"
        " systems of its other recipes.",
    ),
    TriggerRule(
        "recipe queued",
        (recipe_events.RecipeQueued,),
        (_LOST_SET, *_labs(_lab_of_lost_system)),
        None,
        "The recipe lost its system and may have another one, or its set let go: then other recipes may have"
        " its systems.",
    ),
    TriggerRule(
        "holder ended",
        (recipe_events.RecipeCancelled, recipe_events.RecipeAborted),
        _labs(_lab_of_lost_system),
        None,
        "Other recipes were passed over because of the systems that the set held.",
    ),
    # The properties of a system change, and with them the recipes that it fits.
    TriggerRule(
        "inventory changed",
        (system_events.SystemInventoryChanged,),
        _labs(_lab_of_system),
        _old_and_new_lab,
        "The system may fit other recipes now, and may no longer fit a set that waits for it.",
    ),
    TriggerRule(
        "pools changed",
        (directory_events.PoolSystemAdded, directory_events.PoolSystemRemoved),
        _labs(_lab_of_pool_system),
        _lab_of_pool_system,
        "Requirements name pools, and pools grant access: both may gain or lose the system for a recipe.",
    ),
    TriggerRule(
        "lab of a system changed",
        (system_events.SystemLabControllerChanged,),
        _labs(_lab_of_system),
        _old_and_new_lab,
        "In its new lab the system may complete a set; in its old lab a set may wait for it.",
    ),
    # Labs and distro trees come and go.
    TriggerRule(
        "distro tree registered",
        (directory_events.DistroTreeRegistered,),
        _labs(_labs_with_tree),
        None,
        "Recipes that install the tree may run in its labs.",
    ),
    TriggerRule(
        "distro tree changed",
        (directory_events.DistroTreeChanged,),
        _labs(_labs_with_tree),
        _all_labs,
        "The tree may have arrived in some labs, and may have left others in which a set waits.",
    ),
    TriggerRule(
        "distro tree removed",
        (directory_events.DistroTreeRemoved,),
        (),
        _all_labs,
        "No set that waits to install the tree can be completed, in any lab.",
    ),
    TriggerRule(
        "lab enabled",
        (directory_events.LabControllerEnabled,),
        _labs(_lab),
        None,
        "All systems of the lab are usable again.",
    ),
    TriggerRule(
        "lab disabled",
        (directory_events.LabControllerDisabled,),
        (),
        _lab,
        "No set can be completed in the lab.",
    ),
    TriggerRule(
        "lab heard",
        (directory_events.LabControllerHeard,),
        _labs(_lab),
        None,
        "All systems of the lab are usable again.",
    ),
    TriggerRule(
        "lab silent",
        (directory_events.LabControllerSilent,),
        (),
        _lab,
        "No set can be completed in the lab while it is silent.",
    ),
    # Access to systems changes: recipes gain systems, and sets lose those that they wait for.
    TriggerRule(
        "access policy of a pool changed",
        (directory_events.PoolAccessPolicyChanged,),
        _labs(_labs_of_pool),
        _labs_of_pool,
        "The policy decides who may submit to the systems of the pool.",
    ),
    TriggerRule(
        "access policy of a system changed",
        (system_events.SystemAccessPolicyChanged,),
        _labs(_lab_of_system),
        _old_and_new_lab,
        "The policy decides who may submit to the system, if its pools do not.",
    ),
    TriggerRule(
        "owner of a system changed",
        (system_events.SystemOwnerChanged,),
        _labs(_lab_of_system),
        _old_and_new_lab,
        "An owner may submit without an entry in a policy.",
    ),
    TriggerRule(
        "lent",
        (system_events.SystemLoaned,),
        _labs(_lab_of_system),
        _old_and_new_lab,
        "The borrower may submit without an entry in a policy, and nobody else may.",
    ),
    TriggerRule(
        "loan ended",
        (system_events.SystemLoanEnded,),
        _labs(_lab_of_system),
        _old_and_new_lab,
        "Everybody but the borrower may submit again; the borrower may have had access by the loan only.",
    ),
    TriggerRule(
        "group changed",
        (directory_events.GroupRegistered, directory_events.GroupChanged, directory_events.GroupRemoved),
        _labs(_all_labs_if_group_counts),
        _all_labs_if_group_counts,
        "Policies grant access to groups: members gain it, former members lose it.",
    ),
    # Priorities change.
    TriggerRule(
        "priority changed",
        (recipe_set_events.RecipeSetPriorityChanged,),
        (Wakes("recipe-set", _set),),
        None,
        "Eases nothing: a priority orders the queue, and no recipe in the queue can take an idle system."
        " Design 2 lists it.",
    ),
)
