"""The rules of the events of systems: which wake-ups and other triggers they raise, and why."""

from __future__ import annotations

from domain.scheduling.world import affected_claims as claims
from domain.scheduling.world import affected_names as affected
from domain.scheduling.world.trigger_rules import TriggerRule, Wakes, wakes_labs
from domain.system import events as system_events

SYSTEM_RULES: tuple[TriggerRule, ...] = (
    # Systems become usable, or stop being usable.
    TriggerRule(
        "system added",
        (system_events.SystemRegistered,),
        wakes_labs(affected.lab_if_in_use),
        None,
        "The system itself is pending. With it more sets can be completed, so that other grants are safe.",
    ),
    TriggerRule(
        "condition changed",
        (system_events.SystemConditionChanged,),
        wakes_labs(affected.lab_if_in_use),
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
        wakes_labs(affected.lab_of_system),
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
        wakes_labs(affected.lab_of_system),
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
    # The properties of a system change, and with them the recipes that it fits.
    TriggerRule(
        "inventory changed",
        (system_events.SystemInventoryChanged,),
        wakes_labs(affected.lab_of_system),
        affected.old_and_new_lab,
        "The system may fit other recipes now, and may no longer fit a set that waits for it.",
    ),
    TriggerRule(
        "lab of a system changed",
        (system_events.SystemLabControllerChanged,),
        wakes_labs(affected.lab_of_system),
        affected.old_and_new_lab,
        "In its new lab the system may complete a set; in its old lab a set may wait for it.",
    ),
    # Access to systems changes: recipes gain systems, and sets lose those that they wait for.
    TriggerRule(
        "access policy of a system changed",
        (system_events.SystemAccessPolicyChanged,),
        wakes_labs(affected.lab_of_system),
        affected.old_and_new_lab,
        "The policy decides who may submit to the system, if its pools do not.",
    ),
    TriggerRule(
        "owner of a system changed",
        (system_events.SystemOwnerChanged,),
        wakes_labs(affected.lab_of_system),
        affected.old_and_new_lab,
        "An owner may submit without an entry in a policy.",
    ),
    TriggerRule(
        "lent",
        (system_events.SystemLoaned,),
        wakes_labs(affected.lab_of_system),
        affected.old_and_new_lab,
        "The borrower may submit without an entry in a policy, and nobody else may.",
    ),
    TriggerRule(
        "loan ended",
        (system_events.SystemLoanEnded,),
        wakes_labs(affected.lab_of_system),
        affected.old_and_new_lab,
        "Everybody but the borrower may submit again; the borrower may have had access by the loan only.",
    ),
)
