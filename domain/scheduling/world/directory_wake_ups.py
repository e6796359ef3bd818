"""The rules of the events of the directory: which wake-ups and other triggers they raise, and why."""

from __future__ import annotations

from domain.directory import events as directory_events
from domain.scheduling.world import affected_claims as claims
from domain.scheduling.world import affected_names as affected
from domain.scheduling.world.trigger_rules import WAKES_FOR_KEPT_ROOM, TriggerRule, Wakes, wakes_labs

DIRECTORY_RULES: tuple[TriggerRule, ...] = (
    # The pools of a system change, and with them the recipes that it fits.
    TriggerRule(
        "pools changed",
        (directory_events.PoolSystemAdded, directory_events.PoolSystemRemoved),
        wakes_labs(affected.lab_of_pool_system),
        affected.lab_of_pool_system,
        "Requirements name pools, and pools grant access: both may gain or lose the system for a recipe. A"
        " set that waits for locks on its own pools may want other locks now.",
        may_lock=affected.partition_if_waiting,
    ),
    # Labs and distro trees come and go.
    TriggerRule(
        "distro tree registered",
        (directory_events.DistroTreeRegistered,),
        wakes_labs(affected.labs_with_tree),
        None,
        "Recipes that install the tree may run in its labs.",
    ),
    TriggerRule(
        "distro tree changed",
        (directory_events.DistroTreeChanged,),
        wakes_labs(affected.labs_with_tree),
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
        wakes_labs(affected.own_name),
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
        wakes_labs(affected.own_name),
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
        (*wakes_labs(affected.own_name_if_here), WAKES_FOR_KEPT_ROOM),
        None,
        "A lab that arrives brings idle systems; without one that has left, room may be kept in vain. No set"
        " has systems in a lab that leaves, so none lets go, but some may claim the systems of persons.",
        may_claim=claims.labs_with_claims(affected.own_name),
    ),
    # Access to systems changes: recipes gain systems, and sets lose those that they wait for.
    TriggerRule(
        "access policy of a pool changed",
        (directory_events.PoolAccessPolicyChanged,),
        wakes_labs(affected.labs_of_pool),
        affected.labs_of_pool,
        "The policy decides who may submit to the systems of the pool.",
    ),
    TriggerRule(
        "group changed",
        (directory_events.GroupRegistered, directory_events.GroupChanged, directory_events.GroupRemoved),
        wakes_labs(affected.all_labs_if_group_counts),
        affected.all_labs_if_group_counts,
        "Policies grant access to groups: members gain it, former members lose it.",
    ),
    # The rules of the partition change.
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
        "job filters changed",
        (directory_events.PartitionJobFilterPut, directory_events.PartitionJobFilterRemoved),
        wakes_labs(affected.all_labs),
        None,
        "Any number of sets may no longer be held back: only these sets can take idle systems, in any lab."
        " Other sets are rejected.",
        affected.own_subject,
    ),
)
