"""The rules of the events of jobs, recipe sets and recipes: which triggers they raise, and why."""

from __future__ import annotations

from domain.job import events as job_events
from domain.recipe import events as recipe_events
from domain.recipe_set import events as recipe_set_events
from domain.scheduling.world import affected_claims as claims
from domain.scheduling.world import affected_names as affected
from domain.scheduling.world.trigger_rules import TriggerRule, Wakes, wakes_labs

_FREED_ROOM = Wakes("partition", affected.partition_if_limited)
_UNKEPT_ROOM = Wakes("partition", affected.partition_if_otherwise_limited)
_LOST_SET = Wakes("recipe-set", affected.set_that_lost)
_FREED_SETS = Wakes("recipe-set", affected.freed_dependents)

_SET_CHANGED = (
    Wakes("recipe-set", affected.own_name),
    Wakes("partition", affected.partition_if_needs_changed),
)

RECIPE_RULES: tuple[TriggerRule, ...] = (
    # Recipes get systems, lose them, and end.
    TriggerRule(
        "set got a system",
        (recipe_events.RecipeScheduled,),
        (*wakes_labs(affected.lab_of_large_set), _UNKEPT_ROOM),
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
        (_LOST_SET, *wakes_labs(affected.lab_of_lost_system), _FREED_ROOM),
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
        (*wakes_labs(affected.lab_of_lost_system), _FREED_SETS, _FREED_ROOM),
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
    # People change what still waits.
    TriggerRule(
        "recipe changed",
        (recipe_events.RecipeChanged,),
        (),
        affected.lab_of_bound_set,
        "Systems that the recipe waits for in its lab may not fit any more, nor the one that it claims. The"
        " change of its set follows.",
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
)
