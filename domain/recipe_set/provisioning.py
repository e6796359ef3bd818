"""Failed provisioning: the recipe is given up, and its system may become Broken.

Both happen in one commit, so that no other recipe gets the broken system in between.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from domain.events import Decided
from domain.recipe.state import Recipe
from domain.recipe_set.ending import abort
from domain.recipe_set.kept_systems import give_up
from domain.recipe_set.members import Members
from domain.system.events import SystemConditionChanged, SystemProvisioningFailed
from domain.system.failures import distro_name
from domain.system.lifecycle import BROKEN
from domain.system.state import System
from domain.system.usage import condition_reason, is_automated

# If a recipe is aborted in one of these states, provisioning counts as failed.
BEFORE_FIRST_TASK = ("waiting", "installing")


@dataclass(frozen=True)
class ProvisioningFailure:
    """The reason of a failed provisioning; `is_power` is True if a power command failed."""

    reason: str
    is_power: bool = False


def provisioning_failed(
    members: Members, recipe: Recipe, failure: ProvisioningFailure, broken_after: int
) -> Decided:
    """Return the events of a recipe and its system, none for a recipe that has finished or was given up.

    `broken_after`: the failed jobs, and distros, in a row that make a system Broken; guests do not count.
    """
    if recipe.abort_reason is not None or recipe.finished:
        return []
    if recipe.is_guest or not recipe.started:
        return give_up(members, recipe, failure.reason)
    why = why_broken_by_power(_system(members, recipe), failure, broken_after)
    if why is not None:
        return _with_broken_system(members, recipe, why)
    if recipe.state not in BEFORE_FIRST_TASK:
        return give_up(members, recipe, failure.reason)
    return _count_failure(members, recipe, failure.reason, broken_after)


def why_broken_by_power(system: System, failure: ProvisioningFailure, broken_after: int) -> str | None:
    """Return the reason if the failure is a power command that makes the system Broken, otherwise None."""
    if broken_after == 0 or not failure.is_power or not is_automated(system.condition):
        return None
    return f"a power command failed: {failure.reason}"


def _count_failure(members: Members, recipe: Recipe, reason: str, broken_after: int) -> Decided:
    system = _system(members, recipe)
    failures = system.failures.one_more(recipe.job_id, distro_name(recipe.distro_tree_id, recipe.distro))
    jobs, distros = list(failures.jobs), list(failures.distros)
    # Lists, because `verify` compares recomputed events with events from the log, which have lists.
    event = SystemProvisioningFailed(recipe_id=recipe.recipe_id, reason=reason, jobs=jobs, distros=distros)
    failed: Decided = [(system.subject, event)]
    if is_automated(system.condition) and failures.reach(broken_after):
        in_a_row = f"provisioning failed for {len(jobs)} jobs and {len(distros)} distros in a row"
        why = f"{in_a_row}, last for recipe {recipe.recipe_id}: {reason}"
        return failed + _with_broken_system(members, recipe, why)
    # `failed` is last: a system that the recipe keeps becomes running, which resets the count of failures.
    return give_up(members, recipe, reason) + failed


def _with_broken_system(members: Members, recipe: Recipe, why: str) -> Decided:
    system = replace(_system(members, recipe), condition=BROKEN)
    members = replace(members, systems={**members.systems, system.fqdn: system})
    broken = SystemConditionChanged(condition=BROKEN, reason=why)
    return [(system.subject, broken), *abort(members, recipe, condition_reason(system, why))]


def _system(members: Members, recipe: Recipe) -> System:
    assert recipe.system is not None, f"{recipe.subject} has no system"
    return members.systems[recipe.system]
