"""The newest distro trees for a set such that one lab could give each host a system of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from domain.distro_choice.installable import Installable, RecipeNeeds, Tree
from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.safety.matching import match


class Offer(NamedTuple):
    """The trees that a lab offers a host, newest first, each with its systems, and a tree for each guest.

    `passed_over` counts, for the host and each guest, the newer matching trees that the lab cannot offer.
    """

    trees: tuple[tuple[Tree, int], ...]
    guests: tuple[Tree, ...]
    passed_over: tuple[int, ...]

    @property
    def newest(self) -> int:
        return self.trees[0][1]

    @property
    def any_tree(self) -> int:
        """Return the systems that can install any of the trees."""
        return union(systems for _, systems in self.trees)

    def tree_on(self, number: int) -> Tree:
        return next(tree for tree, systems in self.trees if systems >> number & 1)


Offers: TypeAlias = Sequence[Offer]


def in_one_lab(
    installable: Installable, all_needs: Sequence[RecipeNeeds], systems: Sequence[int], within: int
) -> tuple[Tree, ...] | None:
    """Return the tree of each host followed by those of its guests, or None if no lab could serve all hosts.

    `systems` has a bitmap of eligible systems for each host, and only the systems `within` a partition count.
    Labs are ordered by the trees that they pass
    over, hosts in document order. The first lab that can give each host the newest tree of its offer is
    chosen, otherwise the first that can give each host any.
    """
    # For a single recipe without guests the newest tree decides, so all labs count as one.
    single = len(all_needs) == 1 and not all_needs[0].guests
    labs: Iterable[int] = (within,) if single else (of_lab & within for of_lab in installable.labs())
    by_lab = [offers for of_lab in labs if (offers := _offers(installable, all_needs, systems, of_lab))]
    by_lab.sort(key=lambda offers: [offer.passed_over for offer in offers])
    for offers in by_lab:
        if (numbers := _matched([offer.newest for offer in offers])) is not None:
            return _trees(offers, numbers)
    for offers in by_lab:
        if (numbers := _matched([offer.any_tree for offer in offers])) is not None:
            return _trees(offers, numbers)
    return None


def _offers(
    installable: Installable, all_needs: Sequence[RecipeNeeds], systems: Sequence[int], of_lab: int
) -> Offers | None:
    """Return an offer of a lab for each host; None if a host gets none, or if the lab has too few systems."""
    if of_lab.bit_count() < len(all_needs):
        return None
    # Equal recipes, which are frequent in a set, share one offer.
    offers: dict[RecipeNeeds, Offer] = {}
    for needs, fitting in zip(all_needs, systems, strict=True):
        if needs not in offers:
            offer = _offer(installable, needs, fitting & of_lab, of_lab) if fitting & of_lab else None
            if offer is None:
                return None
            offers[needs] = offer
    return [offers[needs] for needs in all_needs]


def _offer(installable: Installable, needs: RecipeNeeds, fitting: int, of_lab: int) -> Offer | None:
    trees = [offer for offer in installable.offered(needs, of_lab) if offer.systems & fitting]
    guests = [_guest(installable, guest, of_lab) for guest in needs.guests]
    if not trees or None in guests:
        return None
    guest_trees = [guest for guest in guests if guest is not None]
    return Offer(
        tuple((offer.tree, offer.systems & fitting) for offer in trees),
        tuple(tree for _, tree in guest_trees),
        (trees[0].newer_count, *(index for index, _ in guest_trees)),
    )


def _guest(installable: Installable, guest: RecipeNeeds, of_lab: int) -> tuple[int, Tree] | None:
    """Return the number of newer trees, and the newest matching tree in the lab; None if there is none."""
    for index, tree in enumerate(installable.trees_of(guest)):
        if tree is None or installable.has(of_lab, tree):
            return index, tree
    return None


def _matched(systems: Sequence[int]) -> list[int] | None:
    # Compare the numbers first: mostly there is no matching because there are too few systems.
    return match(systems) if union(systems).bit_count() >= len(systems) else None


def _trees(offers: Offers, numbers: Sequence[int]) -> tuple[Tree, ...]:
    assigned = zip(offers, numbers, strict=True)
    return tuple(tree for offer, number in assigned for tree in (offer.tree_on(number), *offer.guests))
