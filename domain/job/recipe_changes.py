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
from domain.system.usage import freed

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

    A host that has a system which does not fit any more loses it. Raises Refused for a set that has started
    or finished.
    """
    require_not_started(recipe_set, members)
    decided: Decided = [(f"recipe/{recipe_id}", changes[recipe_id]) for recipe_id in sorted(changes)]
    decided.append((recipe_set.subject, of_set))
    after = members_after(members, decided[:-1])
    for recipe_id in [host.recipe_id for host in after.holding]:
        host = after.recipe(recipe_id)
        reason = misfit(host, after.guests_of(host))
        system = after.system_of(host)
        if reason is None or system is None:
            continue
        lost = withdraw(after, host, f"{system.fqdn} does not fit the changed recipe: {reason}")
        lost.append(freed(system))
        decided += lost
        after = members_after(after, lost)
    return decided
