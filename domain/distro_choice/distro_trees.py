"""The distro tree that each recipe of a new set installs (docs/decisions/0015, 0023).

The choice is the newest tree that matches the distro requirement and that some system could install to which
the job may be submitted. All trees of a set are in one lab. Systems that the recipe may have are preferred.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple, TypeAlias

from domain.access.submitting import Who
from domain.directory.state import Directory
from domain.distro_choice.installable import MAX_CACHED, Installable, RecipeNeeds, Tree
from domain.distro_choice.one_lab import in_one_lab
from domain.events import Recorded
from domain.job.spec import RecipeSetSpec, RecipeSpec
from domain.scheduling.supply.filter_key import own_distro

# The maximum length of requirements with cached results: longer ones are rare, and hardly occur twice.
MAX_CACHED_LENGTH = 8_192
# Limits for a few milliseconds of work.
MAX_QUICK_RECIPES, MAX_QUICK_COMPARISONS = 20, 10_000


SystemsFor: TypeAlias = Callable[[str], int]
"""A function that returns the bitmap of the systems that suit a host requirement."""


class Chosen(NamedTuple):
    """The tree of each recipe of a set, each host before its guests.

    `hopeless` is True if no lab was found that could run the set, whichever trees it takes.
    """

    tree_ids: tuple[Tree, ...]
    hopeless: bool = False


class JobAccess(NamedTuple):
    """The submitter of a job, which decides on access, and the systems that are hidden from its owner."""

    who: Who
    hidden: int


class DistroTrees:
    """Mutable: `apply` the events of the log in order, each after the directory has it; then `choose`."""

    def __init__(self, directory: Directory) -> None:
        self._installable = Installable(directory)
        self._kept: dict[tuple[JobAccess, tuple[RecipeNeeds, ...]], Chosen] = {}
        # The present systems with the trees that left lately, by the ids of these trees.
        self._before: dict[tuple[int, ...], Installable] = {}

    def apply(self, recorded: Recorded) -> None:
        if self._installable.apply(recorded):
            self._kept.clear()
            self._before.clear()

    def catch_up(self, limit: int | None = None) -> bool:
        """Process up to `limit` changed systems before the next choice; return whether none is left."""
        return self._installable.catch_up(limit)

    @property
    def systems(self) -> int:
        """Return the number of systems with which a requirement is compared."""
        return self._installable.everyone.bit_count()

    def is_quick(self, recipe_sets: Sequence[RecipeSetSpec]) -> bool:
        """Return whether choosing the trees of all sets takes only a few milliseconds."""
        self.catch_up()
        wants = [_want(recipe) for recipe_set in recipe_sets for recipe in recipe_set.recipes]
        if len(wants) > MAX_QUICK_RECIPES or sum(map(_length, wants)) > MAX_CACHED_LENGTH:
            return False
        return sum(map(self._installable.max_comparisons, wants)) <= MAX_QUICK_COMPARISONS

    def comparisons(self, recipe_sets: Sequence[RecipeSetSpec]) -> int:
        """Return the number of comparisons with values of systems and trees for the requirements of a job."""
        self.catch_up()
        wants = [_want(recipe) for recipe_set in recipe_sets for recipe in recipe_set.recipes]
        return self._installable.comparisons(wants)

    def choose(
        self, recipe_set: RecipeSetSpec, owner: str, group: str | None, now: datetime | None = None
    ) -> Chosen:
        """Return the trees for a job of this owner, on behalf of this group if given.

        A set that no lab could run may have trees that left every lab during the day before `now`: the set
        waits for them if they have not been away for long. It stays hopeless, because the log may have more.
        """
        self.catch_up()
        access = JobAccess(self._installable.who(owner, group), self._installable.hidden_from(owner))
        wants = tuple(_want(recipe) for recipe in recipe_set.recipes)
        chosen = self._kept.get((access, wants))
        if chosen is None:
            chosen = _choose(self._installable, wants, access)
            self._keep(access, wants, chosen)
        before = self._with_trees_away(now) if chosen.hopeless and now else None
        return chosen if before is None else _choose(before, wants, access)._replace(hopeless=True)

    def _with_trees_away(self, now: datetime) -> Installable | None:
        """Return the index with the trees that left lately; None if none did."""
        trees = self._installable.trees_away(now)
        if trees and tuple(trees) not in self._before:
            self._before = {tuple(trees): self._installable.having(trees)}
        return self._before.get(tuple(trees))

    def _keep(self, access: JobAccess, wants: tuple[RecipeNeeds, ...], chosen: Chosen) -> None:
        if sum(map(_length, wants)) > MAX_CACHED_LENGTH:
            return
        if len(self._kept) >= MAX_CACHED:
            self._kept.clear()
        self._kept[access, wants] = chosen


def _length(want: RecipeNeeds) -> int:
    return len(want.host_requires) + len(want.distro_requires) + sum(map(_length, want.guests))


def _want(recipe: RecipeSpec) -> RecipeNeeds:
    guests = tuple(_want(guest) for guest in recipe.guests)
    return RecipeNeeds(recipe.host_requires, recipe.distro_requires, own_distro(recipe.distro), guests)


def _choose(installable: Installable, wants: Sequence[RecipeNeeds], access: JobAccess) -> Chosen:
    only = [installable.trees_of(member) for want in wants for member in (want, *want.guests)]
    if all(len(trees) == 1 for trees in only):
        # There is only one choice, so the systems do not matter.
        return Chosen(tuple(tree for trees in only for tree in trees))
    for systems_for in _levels(installable, access.who):
        systems = [systems_for(want.host_requires) for want in wants]
        tree_ids = in_one_lab(installable, wants, systems) if all(systems) else None
        if tree_ids is not None:
            return Chosen(tree_ids)
    alone = (_by_itself(installable, want, access) for want in wants)
    return Chosen(tuple(tree for trees in alone for tree in trees), hopeless=True)


def _levels(installable: Installable, who: Who) -> tuple[SystemsFor, ...]:
    # Second level: a lab under construction has its trees before its systems are usable; and loans end.
    return partial(installable.usable, who=who), partial(installable.entitled, who=who)


def _by_itself(installable: Installable, want: RecipeNeeds, access: JobAccess) -> Iterator[Tree]:
    """Yield the first choice for each recipe alone; the set is given up with these trees.

    If no suitable system is open to the owner, all systems count, so that the access policy becomes the
    reason. A hidden system does not count, because the reason would reveal it (docs/decisions/0020).
    """
    alone = [want._replace(guests=())]
    fitting: SystemsFor = partial(installable.fitting, hidden=access.hidden)
    levels = (*_levels(installable, access.who), fitting)
    found = (in_one_lab(installable, alone, [of(want.host_requires)]) for of in levels)
    yield next((tree_ids[0] for tree_ids in found if tree_ids), _newest(installable, want))
    for guest in want.guests:
        yield _newest(installable, guest)


def _newest(installable: Installable, want: RecipeNeeds) -> Tree:
    return next(iter(installable.trees_of(want)), None)
