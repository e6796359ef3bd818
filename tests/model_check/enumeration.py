"""All small cases up to renaming of systems, labs, recipes and recipe sets.

Cases that are equivalent to smaller ones are left out: unwanted systems, recipe sets that are independent of
the others, and sets that no lab could serve, which are aborted at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement, permutations, product

from tests.model_check.case import CaseJob, LabCase, RecipeWant
from tests.model_check.safety import can_be_given

Wants = frozenset[int]
Shape = tuple[Wants, ...]
"""The numbers of the systems that each recipe of a set can use."""

Numbered = tuple[tuple[int, ...], tuple[tuple[int, tuple[tuple[int, ...], ...]], ...]]
"""The lab of each system; the priority and the wants of each set."""

NAMES = "abcdefgh"


def all_cases(
    systems: int, sets: int, recipes: int, priorities: Sequence[str] = ("Normal",), labs: int = 2
) -> list[LabCase]:
    """Return the cases with this number of systems and sets, and up to `recipes` recipes in each set."""
    found: dict[Numbered, None] = {}
    for placed in _placements(systems, labs):
        shapes = [shape for shape in _shapes(systems, recipes) if _can_be_served(shape, placed)]
        for chosen in combinations_with_replacement(shapes, sets):
            if not _belongs_together(chosen, systems):
                continue
            for ranks in product(range(len(priorities)), repeat=sets):
                # Only the order matters: the least urgent set has the first priority.
                if min(ranks) == 0:
                    found[_canonical(placed, chosen, ranks)] = None
    return [_case(numbered, priorities) for numbered in sorted(found)]


def _placements(systems: int, labs: int) -> Iterator[tuple[int, ...]]:
    """Yield the lab of each system: the first lab has the most systems, and the lowest numbers."""
    for placed in product(range(labs), repeat=systems):
        sizes = [placed.count(lab) for lab in range(labs)]
        if list(placed) == sorted(placed) and sizes == sorted(sizes, reverse=True):
            yield placed


def _shapes(systems: int, recipes: int) -> list[Shape]:
    wants = [
        frozenset(chosen) for size in range(1, systems + 1) for chosen in combinations(range(systems), size)
    ]
    return [shape for size in range(1, recipes + 1) for shape in combinations_with_replacement(wants, size)]


def _can_be_served(shape: Shape, placed: tuple[int, ...]) -> bool:
    labs = [frozenset(number for number, of in enumerate(placed) if of == lab) for lab in set(placed)]
    return any(
        can_be_given([frozenset(NAMES[number] for number in want & lab) for want in shape]) for lab in labs
    )


def _belongs_together(shapes: Sequence[Shape], systems: int) -> bool:
    """Return whether the sets want all systems, and are connected by common systems or labs."""
    wanted = [frozenset[int]().union(*shape) for shape in shapes]
    reached, left = wanted[0], wanted[1:]
    while met := [each for each in left if each & reached]:
        reached = reached.union(*met)
        left = [each for each in left if each not in met]
    return not left and len(reached) == systems


def _canonical(placed: tuple[int, ...], shapes: Sequence[Shape], ranks: Sequence[int]) -> Numbered:
    """Return one representative for all cases that differ only in names."""
    return min(_renamed(placed, shapes, ranks, order) for order in permutations(range(len(placed))))


def _renamed(
    placed: tuple[int, ...], shapes: Sequence[Shape], ranks: Sequence[int], order: Sequence[int]
) -> Numbered:
    labs = [placed[order.index(number)] for number in range(len(placed))]
    # Labs are numbered in the order of occurrence.
    lab_names = {lab: number for number, lab in enumerate(dict.fromkeys(labs))}
    sets = sorted(
        (rank, tuple(sorted(tuple(sorted(order[number] for number in want)) for want in shape)))
        for rank, shape in zip(ranks, shapes, strict=True)
    )
    return tuple(lab_names[lab] for lab in labs), tuple(sets)


def _case(numbered: Numbered, priorities: Sequence[str]) -> LabCase:
    placed, sets = numbered
    systems = tuple((NAMES[number], f"lab-{lab + 1}", "Automated") for number, lab in enumerate(placed))
    jobs = tuple(
        CaseJob(
            tuple(RecipeWant(tuple(NAMES[number] for number in want)) for want in wants), priorities[rank]
        )
        for rank, wants in sets
    )
    return LabCase(systems, jobs)
