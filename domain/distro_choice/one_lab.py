"""The newest distro trees with which one lab could give every host of a set a system of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from domain.distro_choice.installable import Installable, RecipeNeeds, Tree
from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.safety.matching import match


class Offer(NamedTuple):
    """The trees of a lab for a host, newest first, each with its systems; and a tree for each guest.

    `passed_over` counts, for the host and each guest, the newer trees that the lab does not have.
    """

    trees: tuple[tuple[Tree, int], ...]
    guests: tuple[Tree, ...]
    passed_over: tuple[int, ...]

    @property
    def newest(self) -> int:
        """Return the systems for the newest of the trees."""
        return self.trees[0][1]

    @property
    def any(self) -> int:
        return union(systems for _, systems in self.trees)

    def tree_on(self, number: int) -> Tree:
        """Return the newest tree for this system."""
        return next(tree for tree, systems in self.trees if systems >> number & 1)


Offers: TypeAlias = Sequence[Offer]


def in_one_lab(
    installable: Installable, wants: Sequence[RecipeNeeds], systems: Sequence[int]
) -> tuple[Tree, ...] | None:
    """Return the tree of each host and, after it, of its guests; `systems` are those that fit each host.

    The result is None if no lab could serve all hosts. Trees are newest in the order of the document. A lab
    in which all hosts can have the newest trees it has for them is preferred to one in which some need older
    ones.
    """
    # For a single recipe the labs need not be compared: its newest tree leads to one that has it.
    single = len(wants) == 1 and not wants[0].guests
    labs: Iterable[int] = (installable.everyone,) if single else installable.labs()
    found = [offers for of_lab in labs if (offers := _offers(installable, wants, systems, of_lab))]
    found.sort(key=lambda offers: [offer.passed_over for offer in offers])
    for offers in found:
        if (numbers := _matched([offer.newest for offer in offers])) is not None:
            return _trees(offers, numbers)
    for offers in found:
        if (numbers := _matched([offer.any for offer in offers])) is not None:
            return _trees(offers, numbers)
    return None


def _offers(
    installable: Installable, wants: Sequence[RecipeNeeds], systems: Sequence[int], of_lab: int
) -> Offers | None:
    """Return the offers of a lab for all hosts; None if one has none, or if the lab has too few systems."""
    if of_lab.bit_count() < len(wants):
        return None
    # Recipes of a set are often alike.
    offers: dict[RecipeNeeds, Offer] = {}
    for want, fitting in zip(wants, systems, strict=True):
        if want not in offers:
            offer = _offer(installable, want, fitting & of_lab, of_lab) if fitting & of_lab else None
            if offer is None:
                return None
            offers[want] = offer
    return [offers[want] for want in wants]


def _offer(installable: Installable, want: RecipeNeeds, fitting: int, of_lab: int) -> Offer | None:
    able = [each for each in installable.offered(want, of_lab) if each.systems & fitting]
    guests = [_guest(installable, guest, of_lab) for guest in want.guests]
    if not able or None in guests:
        return None
    guest_trees = [guest for guest in guests if guest is not None]
    return Offer(
        tuple((each.tree, each.systems & fitting) for each in able),
        tuple(tree for _, tree in guest_trees),
        (able[0].place, *(place for place, _ in guest_trees)),
    )


def _guest(installable: Installable, guest: RecipeNeeds, of_lab: int) -> tuple[int, Tree] | None:
    """Return the number of newer trees that the lab does not have, and the newest one that it has."""
    for place, tree in enumerate(installable.trees_of(guest)):
        if tree is None or installable.has(of_lab, tree):
            return place, tree
    return None


def _matched(systems: Sequence[int]) -> list[int] | None:
    # If there is no matching, mostly the number of systems shows it at once.
    return match(systems) if union(systems).bit_count() >= len(systems) else None


def _trees(offers: Offers, numbers: Sequence[int]) -> tuple[Tree, ...]:
    given = zip(offers, numbers, strict=True)
    return tuple(tree for offer, number in given for tree in (offer.tree_on(number), *offer.guests))
