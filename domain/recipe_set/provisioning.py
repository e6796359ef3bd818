"""The consequences of a failed provisioning: the recipe is aborted, and the system may become Broken.

Both change in one commit, so that a broken system is not offered to another recipe.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from domain.events import Decided
from domain.recipe.lifecycle import STARTED
from domain.recipe.state import Recipe
from domain.recipe_set.ending import abort
from domain.recipe_set.kept_systems import give_up
from domain.recipe_set.members import Members
from domain.system.events import SystemConditionChanged, SystemProvisioningFailed
from domain.system.failures import distro_name
from domain.system.lifecycle import BROKEN
from domain.system.state import System
from domain.system.usage import condition_reason, is_automated

# A recipe that is aborted in one of these states was not provisioned.
BEFORE_FIRST_TASK = ("waiting", "installing")


@dataclass(frozen=True)
class ProvisioningFailure:
    """A report that a system was not provisioned. `is_power` is True if a power command failed."""

    reason: str
    is_power: bool = False


def provisioning_failed(
    members: Members, recipe: Recipe, failure: ProvisioningFailure, broken_after: int
) -> Decided:
    """Return the events of a recipe and its system; none for a recipe that was aborted before or has ended.

    `broken_after` is the limit of the system's lab controller. A guest says nothing about the system.
    """
    if recipe.abort_reason is not None or recipe.finished:
        return []
    if recipe.is_guest or recipe.state not in STARTED:
        return give_up(members, recipe, failure.reason)
    why = why_broken_by_power(_system(members, recipe), failure, broken_after)
    if why is not None:
        return _with_broken_system(members, recipe, why)
    if recipe.state not in BEFORE_FIRST_TASK:
        return give_up(members, recipe, failure.reason)
    return _count(members, recipe, failure.reason, broken_after)


def why_broken_by_power(system: System, failure: ProvisioningFailure, broken_after: int) -> str | None:
    """Return the reason for which a failed power command makes a system Broken; None if it does not."""
    if broken_after == 0 or not failure.is_power or not is_automated(system.condition):
        return None
    return f"a power command failed: {failure.reason}"


def _count(members: Members, recipe: Recipe, reason: str, broken_after: int) -> Decided:
    system = _system(members, recipe)
    row = system.failures.one_more(recipe.job_id, distro_name(recipe.distro_tree_id, recipe.distro))
    # Lists, as in the log: `verify` compares recomputed decisions with it.
    event = SystemProvisioningFailed(
        recipe_id=recipe.recipe_id, reason=reason, jobs=list(row.jobs), distros=list(row.distros)
    )
    failed: Decided = [(system.subject, event)]
    if is_automated(system.condition) and row.reach(broken_after):
        in_a_row = f"provisioning failed for {len(row.jobs)} jobs and {len(row.distros)} distros in a row"
        why = f"{in_a_row}, last for recipe {recipe.recipe_id}: {reason}"
        return failed + _with_broken_system(members, recipe, why)
    # After the event of the usage: a kept system is running, which would reset the failures.
    return give_up(members, recipe, reason) + failed


def _with_broken_system(members: Members, recipe: Recipe, why: str) -> Decided:
    system = replace(_system(members, recipe), condition=BROKEN)
    members = replace(members, systems={**members.systems, system.fqdn: system})
    broken = SystemConditionChanged(condition=BROKEN, reason=why)
    return [(system.subject, broken), *abort(members, recipe, condition_reason(system, why))]


def _system(members: Members, recipe: Recipe) -> System:
    assert recipe.system is not None, f"{recipe.subject} has no system"
    return members.systems[recipe.system]
