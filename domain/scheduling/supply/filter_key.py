"""Filters: the requirements that decide which systems fit a recipe.

Recipes with equal filters share one entry.
"""

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

    `own` is a distro that the job brings, in place of a tree. A tree that was not found is None.
    """

    host_requires: str
    distro_tree_id: int | None
    own: Distro | None = None
    guest_tree_ids: tuple[int | None, ...] = ()

    @property
    def forced(self) -> str | None:
        """Return the system that the requirement forces, or None."""
        return _forced(self.host_requires)

    @property
    def tree_ids(self) -> tuple[int | None, ...]:
        """Return the trees that must be in the lab."""
        return self.guest_tree_ids if self.own else (self.distro_tree_id, *self.guest_tree_ids)


class Demand(NamedTuple):
    """The filter and the submitter that recipes share: the systems that are viable, and the rank on each."""

    key: FilterKey
    submitter: Submitter


def filter_key(host: Recipe, guests: Iterable[Recipe]) -> FilterKey:
    """Return the key of a recipe that needs a system, with its guests."""
    trees = {guest.distro_tree_id: None for guest in guests if guest.distro is None}
    return FilterKey(host.host_requires, host.distro_tree_id, own_distro(host.distro), tuple(trees))


def own_distro(distro: Mapping[str, str] | None) -> Distro | None:
    """Return the distro that the job of a recipe brings, or None."""
    if distro is None:
        return None
    return Distro(None, distro["arch"], distro["osmajor"], distro.get("osminor") or "0")
