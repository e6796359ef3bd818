"""The distro tree that each recipe of a new set installs (docs/decisions/0015, 0023).

A recipe gets the newest tree that matches its distro requirement and that a usable system could install. If
no lab has enough usable systems for a set, all systems to which the job may be submitted count. All trees of
a set are in one lab.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple, TypeAlias

from domain.access.submit_rights import Submitter
from domain.directory.state import Directory
from domain.distro_choice.installable import MAX_CACHED, Installable, RecipeNeeds, Tree
from domain.distro_choice.one_lab import in_one_lab
from domain.events import Recorded
from domain.job.spec import RecipeSetSpec, RecipeSpec
from domain.partition_numbers import DEFAULT_NUMBER
from domain.recipe.state import Recipe
from domain.scheduling.supply.filter_key import filter_key, own_distro

# The maximum length of the requirements of a set with a cached result: longer ones rarely occur twice.
MAX_CACHED_LENGTH = 8_192
# Maxima for a choice that takes only a few milliseconds.
MAX_QUICK_RECIPES, MAX_QUICK_COMPARISONS = 20, 10_000


SystemsFor: TypeAlias = Callable[[str], int]
"""A function that returns the bitmap of the systems that suit a host requirement."""


class Chosen(NamedTuple):
    """The trees of a set in document order, hosts before their guests; `hopeless` if no lab could run it."""

    tree_ids: tuple[Tree, ...]
    hopeless: bool = False


class JobAccess(NamedTuple):
    """The submitter of a job for access policies, and the bitmap of the systems hidden from its owner.

    `within` has the systems of the partition of the job, None if these are all systems.
    """

    submitter: Submitter
    hidden: int
    within: int | None


class DistroTrees:
    """Mutable: `apply` the events of the log in order, each after the directory has it; then `choose`."""

    def __init__(self, directory: Directory) -> None:
        self._installable = Installable(directory)
        self._cached: dict[tuple[JobAccess, tuple[RecipeNeeds, ...]], Chosen] = {}
        # By partition; see `_within`.
        self._systems_within: dict[int, int | None] = {}
        # At most one index, which also has trees that left every lab lately, by the ids of these trees.
        self._with_absent_trees: dict[tuple[int, ...], Installable] = {}

    def apply(self, recorded: Recorded) -> None:
        if self._installable.apply(recorded):
            self._cached.clear()
            self._systems_within.clear()
            self._with_absent_trees.clear()

    def catch_up(self, limit: int | None = None) -> bool:
        """Process up to `limit` changed systems before the next choice; return whether none is left."""
        return self._installable.catch_up(limit)

    @property
    def systems(self) -> int:
        """Return the number of registered systems."""
        return self._installable.all_systems.bit_count()

    def misfit(self, host: Recipe, guests: Sequence[Recipe]) -> str | None:
        """Return why the system of a host does not fit it and its guests, None if it does."""
        self.catch_up()
        assert host.system is not None, f"{host.subject} has no system"
        return self._installable.misfit(filter_key(host, guests), host.system)

    def is_quick(self, recipe_sets: Sequence[RecipeSetSpec]) -> bool:
        """Return whether choosing the trees of all sets takes only a few milliseconds."""
        self.catch_up()
        all_needs = [_needs_of(recipe) for recipe_set in recipe_sets for recipe in recipe_set.recipes]
        if len(all_needs) > MAX_QUICK_RECIPES or sum(map(_length, all_needs)) > MAX_CACHED_LENGTH:
            return False
        return sum(map(self._installable.max_comparisons, all_needs)) <= MAX_QUICK_COMPARISONS

    def comparisons(self, recipe_sets: Sequence[RecipeSetSpec]) -> int:
        """Return the number of comparisons with values of systems and trees for the requirements of a job."""
        self.catch_up()
        all_needs = [_needs_of(recipe) for recipe_set in recipe_sets for recipe in recipe_set.recipes]
        return self._installable.comparisons(all_needs)

    def choose(
        self,
        recipe_set: RecipeSetSpec,
        owner: str,
        group: str | None,
        now: datetime | None = None,
        partition: int = DEFAULT_NUMBER,
    ) -> Chosen:
        """Return the trees for a job of this owner, on behalf of this group if given, in a partition.

        For a hopeless set, trees that left every lab during the day before `now` are candidates too: the set
        may wait for their return. The result remains hopeless, because the log may have newer trees.
        """
        self.catch_up()
        submitter, hidden = self._installable.submitter(owner, group), self._installable.hidden_from(owner)
        access = JobAccess(submitter, hidden, self._within(partition))
        all_needs = tuple(_needs_of(recipe) for recipe in recipe_set.recipes)
        chosen = self._cached.get((access, all_needs))
        if chosen is None:
            chosen = _choose(self._installable, all_needs, access)
            self._cache(access, all_needs, chosen)
        index = self._index_with_absent_trees(now) if chosen.hopeless and now else None
        return chosen if index is None else _choose(index, all_needs, access)._replace(hopeless=True)

    def _within(self, partition: int) -> int | None:
        """Return the systems of a partition, None if it has all systems."""
        if partition not in self._systems_within:
            systems = self._installable.of_partition(partition)
            has_all = systems == self._installable.all_systems
            self._systems_within[partition] = None if has_all else systems
        return self._systems_within[partition]

    def _index_with_absent_trees(self, now: datetime) -> Installable | None:
        """Return the index with the trees that left every lab lately; None if there are none."""
        trees = self._installable.absent_trees(now)
        if trees and tuple(trees) not in self._with_absent_trees:
            self._with_absent_trees = {tuple(trees): self._installable.with_more_trees(trees)}
        return self._with_absent_trees.get(tuple(trees))

    def _cache(self, access: JobAccess, all_needs: tuple[RecipeNeeds, ...], chosen: Chosen) -> None:
        if sum(map(_length, all_needs)) > MAX_CACHED_LENGTH:
            return
        if len(self._cached) >= MAX_CACHED:
            self._cached.clear()
        self._cached[access, all_needs] = chosen


def _length(needs: RecipeNeeds) -> int:
    return len(needs.host_requires) + len(needs.distro_requires) + sum(map(_length, needs.guests))


def _needs_of(recipe: RecipeSpec) -> RecipeNeeds:
    guests = tuple(_needs_of(guest) for guest in recipe.guests)
    return RecipeNeeds(recipe.host_requires, recipe.distro_requires, own_distro(recipe.distro), guests)


def _choose(installable: Installable, all_needs: Sequence[RecipeNeeds], access: JobAccess) -> Chosen:
    only = [installable.trees_of(member) for needs in all_needs for member in (needs, *needs.guests)]
    if access.within is None and all(len(trees) == 1 for trees in only):
        # There is only one choice, so the systems do not matter.
        return Chosen(tuple(tree for trees in only for tree in trees))
    within = installable.all_systems if access.within is None else access.within
    for systems_for in _levels(installable, access.submitter):
        systems = [systems_for(needs.host_requires) & within for needs in all_needs]
        tree_ids = in_one_lab(installable, all_needs, systems, within) if all(systems) else None
        if tree_ids is not None:
            return Chosen(tree_ids)
    alone = (_by_itself(installable, needs, access) for needs in all_needs)
    return Chosen(tuple(tree for trees in alone for tree in trees), hopeless=True)


def _levels(installable: Installable, submitter: Submitter) -> tuple[SystemsFor, ...]:
    # The second level is for a lab whose systems are not usable yet, and for loans, which end.
    return partial(installable.usable, submitter=submitter), partial(
        installable.entitled, submitter=submitter
    )


def _by_itself(installable: Installable, needs: RecipeNeeds, access: JobAccess) -> Iterator[Tree]:
    """Yield the tree of a host without regard to the set, and of its guests; the scheduler aborts the set.

    If the job may be submitted to no suitable system, all visible systems count, so that the abort reason
    names the access policy. Hidden systems do not count: the reason would reveal them (docs/decisions/0020).
    """
    alone = [needs._replace(guests=())]
    fitting: SystemsFor = partial(installable.fitting, hidden=access.hidden)
    levels = (*_levels(installable, access.submitter), fitting)
    within = installable.all_systems if access.within is None else access.within
    found = (in_one_lab(installable, alone, [of(needs.host_requires) & within], within) for of in levels)
    yield next((tree_ids[0] for tree_ids in found if tree_ids), _newest(installable, needs))
    for guest in needs.guests:
        yield _newest(installable, guest)


def _newest(installable: Installable, needs: RecipeNeeds) -> Tree:
    return next(iter(installable.trees_of(needs)), None)
