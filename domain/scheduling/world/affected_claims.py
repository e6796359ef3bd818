"""Subjects of claims triggers: the recipes, sets, systems and labs whose claims an event may change."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from domain.recipe.state import Recipe
from domain.scheduling.world.affected_names import Happened, Names

if TYPE_CHECKING:
    from domain.scheduling.world.partition import Partition


def claiming_recipe(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return the recipe of the event if it has a claim, or forces a system."""
    after: Recipe = happened.after
    is_claiming = after.claim is not None or (
        bool(partition.sets.claims.forcing)
        and not after.is_guest
        and partition.sets.index.key(after).forced is not None
    )
    return (happened.subject,) if is_claiming else ()


def claiming_host(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return the host of the recipe of the event: the systems that fit a host depend on its guests."""
    after: Recipe = happened.after
    host = after if after.host_recipe_id is None else partition.sets.recipes[after.host_recipe_id]
    return claiming_recipe(Happened(host.subject, happened.event, host, host), partition)


def system_with_claims(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return the system of the event if a recipe claims or forces it."""
    claims, fqdn = partition.sets.claims, happened.after.fqdn
    is_concerned = fqdn in claims.of or claims.forced_by(fqdn) or _claims_by_age(partition)
    return (happened.subject,) if is_concerned else ()


def _claims_by_age(partition: Partition) -> bool:
    return partition.configuration.claims.after_ticks is not None


def forced_system(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return the system of the event if a waiting recipe forces it."""
    return (happened.subject,) if partition.sets.claims.forced_by(happened.after.fqdn) else ()


def forced_system_of_claim(happened: Happened, partition: Partition) -> Iterable[str]:
    """Return the system of a claim that has ended if a waiting recipe forces it."""
    system: str = happened.event.system  # type: ignore[attr-defined]
    return (f"system/{system}",) if partition.sets.claims.forced_by(system) else ()


@cache
def sets_that_force(names: Names) -> Names:
    """Return a function that returns the sets of another one while recipes force systems."""

    def sets(happened: Happened, partition: Partition) -> Iterable[str]:
        if not partition.sets.claims.forcing:
            return ()
        return [f"recipe-set/{number}" for number in names(happened, partition)]

    return sets


@cache
def labs_with_claims(*functions: Names) -> Names:
    """Return a function that returns the labs of some functions while recipes may claim systems."""

    def labs(happened: Happened, partition: Partition) -> Iterable[str]:
        claims = partition.sets.claims
        if not claims.of and not claims.forcing and not _claims_by_age(partition):
            return ()
        names = (names(happened, partition) for names in functions)
        return [f"lab-controller/{name}" for name in dict.fromkeys(chain.from_iterable(names))]

    return labs
