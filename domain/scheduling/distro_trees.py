"""Which distro tree each recipe of a new set installs (docs/decisions/0015).

The newest that its requirement means and that some system could install: all trees of a set in one lab, and
rather on systems that recipes may have than on any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from domain.directory.state import Directory
from domain.events import Recorded
from domain.job.spec import RecipeSetSpec, RecipeSpec
from domain.scheduling.filter_key import own_distro
from domain.scheduling.installable import MOST_KEPT, Installable, Tree, Want
from domain.scheduling.one_lab import in_one_lab

# Longer questions are rare, and hardly asked twice.
KEPT_TEXT_LENGTH = 8_192


class Chosen(NamedTuple):
    """The tree of each recipe of a set, each host before its guests.

    `hopeless`: as far as was looked, no lab could run the set, whichever trees it takes.
    """

    tree_ids: tuple[Tree, ...]
    hopeless: bool = False


class DistroTrees:
    """Mutable: `apply` the events of the log in order, each after the directory has it; then `choose`."""

    def __init__(self, directory: Directory) -> None:
        self._installable = Installable(directory)
        self._kept: dict[tuple[Want, ...], Chosen] = {}

    def apply(self, recorded: Recorded) -> None:
        if self._installable.apply(recorded):
            self._kept.clear()

    def catch_up(self, most: int | None = None) -> bool:
        """Do now what the next choice would have to do first, for so many systems; whether that is all."""
        return self._installable.catch_up(most)

    def choose(self, recipe_set: RecipeSetSpec) -> Chosen:
        wants = tuple(_want(recipe) for recipe in recipe_set.recipes)
        chosen = self._kept.get(wants)
        if chosen is None:
            self.catch_up()
            chosen = _choose(self._installable, wants)
            self._keep(wants, chosen)
        return chosen

    def _keep(self, wants: tuple[Want, ...], chosen: Chosen) -> None:
        if sum(map(_length, wants)) > KEPT_TEXT_LENGTH:
            return
        if len(self._kept) >= MOST_KEPT:
            self._kept.clear()
        self._kept[wants] = chosen


def _length(want: Want) -> int:
    return len(want.host_requires) + len(want.distro_requires) + sum(map(_length, want.guests))


def _want(recipe: RecipeSpec) -> Want:
    guests = tuple(_want(guest) for guest in recipe.guests)
    return Want(recipe.host_requires, recipe.distro_requires, own_distro(recipe.distro), guests)


def _choose(installable: Installable, wants: Sequence[Want]) -> Chosen:
    only = [installable.trees_of(member) for want in wants for member in (want, *want.guests)]
    if all(len(trees) == 1 for trees in only):
        # Nothing to choose: nobody has to be looked at.
        return Chosen(tuple(tree for trees in only for tree in trees))
    for systems_of in _levels(installable):
        systems = [systems_of(want.host_requires) for want in wants]
        tree_ids = in_one_lab(installable, wants, systems) if all(systems) else None
        if tree_ids is not None:
            return Chosen(tree_ids)
    return Chosen(tuple(tree for want in wants for tree in _by_itself(installable, want)), hopeless=True)


def _levels(installable: Installable) -> tuple[Callable[[str], int], ...]:
    # A lab that is being set up has its trees before recipes may have its systems.
    return installable.usable, installable.fitting


def _by_itself(installable: Installable, want: Want) -> Iterator[Tree]:
    """The trees that would come first if it were not for the others: with them the set is given up."""
    alone = [want._replace(guests=())]
    found = (in_one_lab(installable, alone, [of(want.host_requires)]) for of in _levels(installable))
    yield next((tree_ids[0] for tree_ids in found if tree_ids), _newest(installable, want))
    for guest in want.guests:
        yield _newest(installable, guest)


def _newest(installable: Installable, want: Want) -> Tree:
    return next(iter(installable.trees_of(want)), None)
