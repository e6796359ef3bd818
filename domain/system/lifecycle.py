"""The conditions of a system, and the states of its usage (design section 2)."""

from __future__ import annotations

from domain.lifecycle import Lifecycle, fan_in

AUTOMATED = "Automated"
CONDITIONS = (AUTOMATED, "Manual", "Broken", "Removed")
BROKEN = "Broken"
# In these conditions a system loses its recipe, unless the recipe has not started and forces a Broken system.
WITHOUT_RECIPES = (BROKEN, "Removed")
# The condition in which people may reserve a system without a loan.
FOR_PEOPLE = "Manual"
WITH_RECIPE = ("scheduled", "waiting", "installing", "running")
# The usage of a system by the state of its recipe.
MIRRORED = {**{usage: usage for usage in WITH_RECIPE}, "reserved": "running"}

USAGE = Lifecycle(
    name="system usage",
    states=("idle", "pending", *WITH_RECIPE),
    start=("idle", "pending"),
    rows=(
        ("idle", "pending", "it became usable"),
        ("pending", "idle", "no queued recipe wants it, or recipes may not have it any more"),
        ("idle", "scheduled", "granted to a recipe"),
        ("pending", "scheduled", "granted to a recipe"),
        ("scheduled", "waiting", "every recipe of the set is scheduled"),
        ("waiting", "scheduled", "a sibling's system was withdrawn"),
        ("waiting", "installing", "the lab controller has begun to provision"),
        ("installing", "running", "the first task started"),
        ("idle", "waiting", "a person reserved it and has it provisioned"),
        ("idle", "running", "a person reserved it"),
        *fan_in(WITH_RECIPE, ("pending",), "its recipe ended or let go, or a person returned it"),
        *fan_in(WITH_RECIPE, ("idle",), "the same, but it is not Automated, or is draining"),
    ),
)
