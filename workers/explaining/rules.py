"""The answers about rules of admission that are not put yet, at the end of the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from domain.admission.configuration import stored_configuration
from domain.admission.job_filters import stored_job_filter
from domain.scheduling.admitting.admission import HeldBack
from domain.scheduling.explaining.rule_effects import RuleEffect, configuration_effects, job_filter_effects
from workers.explaining.follower import Follower

MAX_LISTED: Final = 1_000
"""The maximum number of listed sets; all are counted."""


def job_filter(follower: Follower, name: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sets that a job filter would match, hold back or free."""
    effects = job_filter_effects(follower.at_end(), stored_job_filter(name, document))
    listed = [{**_shown(effect), "matches": effect.matches} for effect in effects[:MAX_LISTED]]
    return {"matching": sum(effect.matches for effect in effects), **_counts(effects), "recipe_sets": listed}


def configuration(follower: Follower, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sets that a configuration would hold back or free."""
    effects = configuration_effects(follower.at_end(), stored_configuration(document))
    return {**_counts(effects), "recipe_sets": [_shown(effect) for effect in effects[:MAX_LISTED]]}


def _counts(effects: Sequence[RuleEffect]) -> dict[str, int]:
    return {
        "held_back": sum(effect.is_held_back for effect in effects),
        "freed": sum(effect.is_freed for effect in effects),
    }


def _shown(effect: RuleEffect) -> dict[str, Any]:
    recipe_set = effect.recipe_set
    return {
        "recipe_set_id": recipe_set.recipe_set_id,
        "job_id": recipe_set.job_id,
        "owner": recipe_set.submitted.owner,
        "priority": recipe_set.priority.name,
        "placed": effect.placed,
        "applies": effect.applying,
        "before": _held_back(effect.before),
        "after": _held_back(effect.after),
    }


def _held_back(held: HeldBack | None) -> dict[str, Any] | None:
    return None if held is None else {"effect": held.effect.value, "reason": held.reason}
