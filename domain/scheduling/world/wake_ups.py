"""The table of events that raise wake-ups or other quiet triggers, with the case for each.

A wake-up searches the queue again for idle systems (design section 2). Its subject names these systems:
`system/F` one system; `lab-controller/L` all systems of the lab; `recipe-set/N` the systems that are viable
for the recipes of the set. A let-go trigger names the lab whose holders are checked. An admission trigger
names a job or set that has ended, a set, or the partition: sets that admission ends because of it are ended.
A locks trigger names the partition whose sets may get their locks. A claims trigger names a recipe, a system,
or a lab with systems, whose claims may begin or end.

A rule must not depend on the systems that are idle or held when its event is folded: the next commit in the
log may be a decision that was made before the scheduler read the event.
"""

from __future__ import annotations

from domain.directory import events as directory_events
from domain.job import events as job_events
from domain.recipe import events as recipe_events
from domain.recipe_set import events as recipe_set_events
from domain.scheduling.world import affected_claims as claims
from domain.scheduling.world import affected_names as affected
from domain.scheduling.world.affected_names import Names
from domain.scheduling.world.trigger_rules import LAB, WAKES_FOR_KEPT_ROOM, TriggerRule, Wakes
from domain.system import events as system_events


def _labs(names: Names) -> tuple[Wakes, ...]:
    return (Wakes(LAB, names),)


_FREED_ROOM = Wakes("partition", affected.partition_if_limited)
_UNKEPT_ROOM = Wakes("partition", affected.partition_if_otherwise_limited)
_LOST_SET = Wakes("recipe-set", affected.set_that_lost)
_FREED_SETS = Wakes("recipe-set", affected.freed_dependents)

_SET_CHANGED = (
    Wakes("recipe-set", affected.own_name),
    Wakes("partition", affected.partition_if_needs_changed),
)

TRIGGER_RULES: tuple[TriggerRule, ...] = (
    # Systems become usable, or stop being usable.
    TriggerRule(
        "system added",
        (system_events.SystemRegistered,),
        _labs(affected.lab_if_in_use),
        None,
        "The system itself is pending. With it more sets can be completed, so that other grants are safe.",
    ),
    TriggerRule(
        "condition changed",
        (system_events.SystemConditionChanged,),
        _labs(affected.lab_if_in_use),
        affected.old_and_new_lab,
        "A repaired system makes other grants safe; one that was Removed may be forced again. A holder may"
        " wait for a system that broke.",
    ),
    TriggerRule(
        "system drained",
        (system_events.SystemDrained, system_events.SystemOccupied),
        (),
        affected.old_and_new_lab,
        "A holder may wait for the system, which takes no more recipes, because it is draining or occupied.",
    ),
    TriggerRule(
        "system undrained",
        (system_events.SystemUndrained, system_events.SystemVacated),
        _labs(affected.lab_of_system),
        None,
        "An Automated system is pending itself, and makes other grants safe. Of a set that forces another"
        " system, the other recipes want idle systems of the lab.",
    ),
    TriggerRule(
        "reserved by a person",
        (system_events.SystemReservationBegun,),
        (),
        affected.old_and_new_lab,
        "A holder may wait for a system that is not Automated, and a person was quicker.",
    ),
    TriggerRule(
        "system returned by a person",
        (system_events.SystemReservationEnded,),
        _labs(affected.lab_of_system),
        None,
        "The system is usable again, and makes other grants safe.",
    ),
    TriggerRule(
        "system free for forced recipes",
        (system_events.SystemIdle,),
        (Wakes("system", affected.system_if_forced),),
        None,
        "A system that is not Automated is never pending. A recipe that forces it may wait for it.",
    ),
    TriggerRule(
        "system taken",
        (system_events.SystemScheduled,),
        (),
        None,
        "A recipe that forces the system, and did not get it, claims it.",
        may_claim=claims.forced_system,
    ),
    # Recipes get systems, lose them, and end.
    TriggerRule(
        "set got a system",
        (recipe_events.RecipeScheduled,),
        (*_labs(affected.lab_of_large_set), _UNKEPT_ROOM),
        None,
        "One more system may let the set start, or make grants to its other recipes safe. Not in the seed."
        " The first system may take the last room under a limit of a set for which room was kept: that set"
        " can no longer use the room, so others may.",
    ),
    TriggerRule(
        "recipe assigned",
        (recipe_events.RecipeAssigned,),
        (_LOST_SET,),
        affected.lab_of_lost_system,
        "A recipe that lost its system may have another one. If there is none, its set must not keep the"
        " systems of its other recipes. Its set may have stood before other sets that wait for locks. What is"
        " bound to a lab claims no system of another one.",
        may_lock=affected.partition_if_freed,
        may_claim=claims.claiming_recipe,
    ),
    TriggerRule(
        "recipe queued",
        (recipe_events.RecipeQueued,),
        (_LOST_SET, *_labs(affected.lab_of_lost_system), _FREED_ROOM),
        None,
        "The recipe lost its system and may have another one, or its set let go: then other recipes may have"
        " its systems. A job filter may end a set that holds nothing any more. The set may have stood before"
        " other sets that wait for locks. A recipe that forces a system claims it.",
        affected.ending_set,
        affected.partition_if_freed,
        claims.claiming_recipe,
    ),
    TriggerRule(
        "recipe given up",
        (recipe_events.RecipeCancelled, recipe_events.RecipeAborted),
        (*_labs(affected.lab_of_lost_system), _FREED_SETS, _FREED_ROOM),
        None,
        "Other recipes were passed over because of the systems that the set held. Its locks and its room are"
        " free. Sets that depend on the set or on its job go on or end.",
        affected.ended_subjects,
        affected.partition_if_freed,
        claims.sets_that_force(affected.freed_dependents),
    ),
    TriggerRule(
        "recipe completed",
        (recipe_events.RecipeCompleted,),
        (_FREED_SETS, _FREED_ROOM),
        None,
        "With the last recipe of a set or job, the sets that depend on it go on or end. The locks of the"
        " recipe, and with the last one the room of the set, are free.",
        affected.ended_subjects,
        affected.partition_if_freed,
        claims.sets_that_force(affected.freed_dependents),
    ),
    TriggerRule(
        "claim ended",
        (recipe_events.RecipeClaimEnded,),
        (),
        None,
        "Another recipe that forces the system may claim it.",
        may_claim=claims.forced_system_of_claim,
    ),
    TriggerRule(
        "job closed",
        (job_events.JobClosed,),
        (Wakes("recipe-set", affected.freed_dependents_of_job),),
        None,
        "A job without unfinished recipes has ended now, and the sets that depend on it go on or end.",
        affected.ended_job,
        may_claim=claims.sets_that_force(affected.freed_dependents_of_job),
    ),
    # Resource locks come free.
    TriggerRule(
        "locks narrowed",
        (recipe_events.LocksNarrowed,),
        (),
        None,
        "The locks that the recipe gave up are free.",
        may_lock=affected.partition_if_waiting,
    ),
    TriggerRule(
        "waiting for locks",
        (recipe_events.RecipeWaiting,),
        (),
        None,
        "The locks may have come free after the scheduler read the log and before it appended the event.",
        may_lock=affected.partition_if_awaited,
    ),
    # The properties of a system change, and with them the recipes that it fits.
    TriggerRule(
        "inventory changed",
        (system_events.SystemInventoryChanged,),
        _labs(affected.lab_of_system),
        affected.old_and_new_lab,
        "The system may fit other recipes now, and may no longer fit a set that waits for it.",
    ),
    TriggerRule(
        "pools changed",
        (directory_events.PoolSystemAdded, directory_events.PoolSystemRemoved),
        _labs(affected.lab_of_pool_system),
        affected.lab_of_pool_system,
        "Requirements name pools, and pools grant access: both may gain or lose the system for a recipe. A"
        " set that waits for locks on its own pools may want other locks now.",
        may_lock=affected.partition_if_waiting,
    ),
    TriggerRule(
        "lab of a system changed",
        (system_events.SystemLabControllerChanged,),
        _labs(affected.lab_of_system),
        affected.old_and_new_lab,
        "In its new lab the system may complete a set; in its old lab a set may wait for it.",
    ),
    # Labs and distro trees come and go.
    TriggerRule(
        "distro tree registered",
        (directory_events.DistroTreeRegistered,),
        _labs(affected.labs_with_tree),
        None,
        "Recipes that install the tree may run in its labs.",
    ),
    TriggerRule(
        "distro tree changed",
        (directory_events.DistroTreeChanged,),
        _labs(affected.labs_with_tree),
        affected.all_labs,
        "The tree may have arrived in some labs, and may have left others in which a set waits.",
    ),
    TriggerRule(
        "distro tree removed",
        (directory_events.DistroTreeRemoved,),
        (),
        affected.all_labs,
        "No set that waits to install the tree can be completed, in any lab.",
    ),
    TriggerRule(
        "lab enabled",
        (directory_events.LabControllerEnabled,),
        _labs(affected.own_name),
        None,
        "All systems of the lab are usable again.",
    ),
    TriggerRule(
        "lab disabled",
        (directory_events.LabControllerDisabled,),
        (),
        affected.own_name,
        "No set can be completed in the lab.",
    ),
    TriggerRule(
        "lab heard",
        (directory_events.LabControllerHeard,),
        _labs(affected.own_name),
        None,
        "All systems of the lab are usable again.",
    ),
    TriggerRule(
        "lab silent",
        (directory_events.LabControllerSilent,),
        (),
        affected.own_name,
        "No set can be completed in the lab while it is silent.",
    ),
    TriggerRule(
        "partition of a lab changed",
        (directory_events.LabControllerPartitionChanged,),
        (*_labs(affected.own_name_if_here), WAKES_FOR_KEPT_ROOM),
        None,
        "A lab that arrives brings idle systems; without one that has left, room may be kept in vain. No set"
        " has systems in a lab that leaves, so none lets go, but some may claim the systems of persons.",
        may_claim=claims.labs_with_claims(affected.own_name),
    ),
    # Access to systems changes: recipes gain systems, and sets lose those that they wait for.
    TriggerRule(
        "access policy of a pool changed",
        (directory_events.PoolAccessPolicyChanged,),
        _labs(affected.labs_of_pool),
        affected.labs_of_pool,
        "The policy decides who may submit to the systems of the pool.",
    ),
    TriggerRule(
        "access policy of a system changed",
        (system_events.SystemAccessPolicyChanged,),
        _labs(affected.lab_of_system),
        affected.old_and_new_lab,
        "The policy decides who may submit to the system, if its pools do not.",
    ),
    TriggerRule(
        "owner of a system changed",
        (system_events.SystemOwnerChanged,),
        _labs(affected.lab_of_system),
        affected.old_and_new_lab,
        "An owner may submit without an entry in a policy.",
    ),
    TriggerRule(
        "lent",
        (system_events.SystemLoaned,),
        _labs(affected.lab_of_system),
        affected.old_and_new_lab,
        "The borrower may submit without an entry in a policy, and nobody else may.",
    ),
    TriggerRule(
        "loan ended",
        (system_events.SystemLoanEnded,),
        _labs(affected.lab_of_system),
        affected.old_and_new_lab,
        "Everybody but the borrower may submit again; the borrower may have had access by the loan only.",
    ),
    TriggerRule(
        "group changed",
        (directory_events.GroupRegistered, directory_events.GroupChanged, directory_events.GroupRemoved),
        _labs(affected.all_labs_if_group_counts),
        affected.all_labs_if_group_counts,
        "Policies grant access to groups: members gain it, former members lose it.",
    ),
    # Priorities and the configuration change.
    TriggerRule(
        "configuration changed",
        (directory_events.PartitionConfigured,),
        (Wakes("partition", affected.own_partition),),
        None,
        "With another limit there may be room. With another bound on overtaking, locks may no longer be owed"
        " to a waiting set.",
        may_lock=affected.partition_if_waiting,
        may_claim=claims.labs_with_claims(affected.all_labs),
    ),
    TriggerRule(
        "recipe changed",
        (recipe_events.RecipeChanged,),
        (),
        affected.lab_of_bound_set,
        "Systems that the recipe waits for in its lab may not fit any more, nor the one that it claims. Then"
        " no lab may be able to serve its set, which ends. The change of its set follows.",
        affected.own_subject,
        may_claim=claims.claiming_host,
    ),
    TriggerRule(
        "priority changed",
        (recipe_set_events.RecipeSetPriorityChanged,),
        _SET_CHANGED,
        None,
        "A priority orders the queue, and no recipe in the queue can take an idle system. But a job filter"
        " may compare priorities: then the set may no longer be held back or counted under a limit, or it may"
        " end. A priority also orders the sets that wait for locks.",
        affected.ending_set,
        affected.partition_if_waiting,
        claims.sets_that_force(affected.own_name),
    ),
    TriggerRule(
        "set changed",
        (recipe_set_events.RecipeSetChanged,),
        _SET_CHANGED,
        None,
        "The changed recipes of the set may fit idle systems, and may declare fewer locks. A job filter may"
        " compare tasks: then the set may no longer be held back or counted under a limit, or it may end.",
        affected.ending_set,
        affected.partition_if_waiting,
        claims.sets_that_force(affected.own_name),
    ),
    # The rules of the partition change.
    TriggerRule(
        "job filters changed",
        (directory_events.PartitionJobFilterPut, directory_events.PartitionJobFilterRemoved),
        _labs(affected.all_labs),
        None,
        "Any number of sets may no longer be held back: only these sets can take idle systems, in any lab."
        " Other sets are rejected.",
        affected.own_subject,
    ),
)
