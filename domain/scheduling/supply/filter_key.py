"""Filter keys: the requirements that decide which systems fit a recipe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from domain.access.submit_rights import Submitter
from domain.recipe.state import Recipe
from domain.requirements.host import forced_system
from domain.scheduling.supply.labs import Distro

_forced = lru_cache(4096)(forced_system)


class FilterKey(NamedTuple):
    """The canonical host requirement, the distro, and the distro trees of the guests.

    `own` is a custom distro of the job, which replaces the tree. A tree id is None if no tree matched.
    """

    host_requires: str
    distro_tree_id: int | None
    own: Distro | None = None
    guest_tree_ids: tuple[int | None, ...] = ()

    @property
    def forced(self) -> str | None:
        return _forced(self.host_requires)

    @property
    def tree_ids(self) -> tuple[int | None, ...]:
        """Return the trees that the lab must have, with None for a tree that was not found."""
        return self.guest_tree_ids if self.own else (self.distro_tree_id, *self.guest_tree_ids)


class Demand(NamedTuple):
    """The filter and the submitter of a recipe, which decide the viable systems and the order on each."""

    key: FilterKey
    submitter: Submitter


def filter_key(host: Recipe, guests: Iterable[Recipe]) -> FilterKey:
    trees = {guest.distro_tree_id: None for guest in guests if guest.distro is None}
    return FilterKey(host.host_requires, host.distro_tree_id, own_distro(host.distro), tuple(trees))


def own_distro(distro: Mapping[str, str] | None) -> Distro | None:
    """Return the custom distro of a recipe, None if there is none."""
    if distro is None:
        return None
    return Distro(None, distro["arch"], distro["osmajor"], distro.get("osminor") or "0")
