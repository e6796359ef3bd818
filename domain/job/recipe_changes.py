"""Changes of recipes by people until their set starts: of requirements, tasks and locks (design 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from domain.events import Decided
from domain.read_set import members_after
from domain.recipe.events import RecipeChanged
from domain.recipe.state import Recipe
from domain.recipe_set.events import RecipeSetChanged
from domain.recipe_set.members import Members, withdraw
from domain.recipe_set.state import RecipeSet, require_not_started
from domain.requirements.host import forced_system
from domain.system.state import System
from domain.system.usage import freed, is_automated

Misfit = Callable[[Recipe, Sequence[Recipe]], str | None]
"""A function that returns why a host does not fit its system, None if it does; it takes the guests, too."""


def change_recipes(
    recipe_set: RecipeSet,
    members: Members,
    changes: Mapping[int, RecipeChanged],
    of_set: RecipeSetChanged,
    misfit: Misfit,
) -> Decided:
    """Return the events of changed recipes of a set, by recipe id, and of the set.

    A host that has a system which does not fit any more loses it, and so does a host that forced a system
    which is not Automated, and no longer forces it. Raises Refused for a set that has started or finished.
    """
    require_not_started(recipe_set, members)
    decided: Decided = [(f"recipe/{recipe_id}", changes[recipe_id]) for recipe_id in sorted(changes)]
    decided.append((recipe_set.subject, of_set))
    after = members_after(members, decided[:-1])
    for recipe_id in [host.recipe_id for host in after.holding]:
        host = after.recipe(recipe_id)
        system = after.system_of(host)
        if system is None:
            continue
        reason = misfit(host, after.guests_of(host)) or _unforced(members.recipe(recipe_id), host, system)
        if reason is None:
            continue
        lost = withdraw(after, host, f"{system.fqdn} does not fit the changed recipe: {reason}")
        lost.append(freed(system))
        decided += lost
        after = members_after(after, lost)
    return decided


def _unforced(before: Recipe, host: Recipe, system: System) -> str | None:
    """Return why a host that forced its system before a change cannot keep it now, None if it can."""
    was_forced = forced_system(before.host_requires) is not None
    if not was_forced or forced_system(host.host_requires) is not None or is_automated(system.condition):
        return None
    return f"it is {system.condition}, and the recipe no longer forces it"
