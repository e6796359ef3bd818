"""Ranks of recipes in the queue of one system (design 5.2), and the recipes that could take the system."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from replay.audit.known import Known
from replay.audit.lines import LAST, NOBODY, Line, Rank
from replay.audit.safety import could_take_safely
from replay.audit.tables import PRIORITIES, URGENCY
from replay.audit.values import Recipe, System
from replay.audit.viable import Judge


class Standing(NamedTuple):
    """The rank of a recipe on one system; lower ranks come first.

    `line` is 0 for recipes bound to the lab, 1 for others. Priorities are numbers; 0 is Urgent.
    """

    line: int
    effective: int
    nominal: int
    submission: int

    @property
    def last(self) -> Rank:
        """Return the end of the nominal ranks that may precede this rank, at any effective priority."""
        return self.end(-1)

    def end(self, most_urgent: int) -> Rank:
        """Return the end of the nominal ranks that precede this rank for a party with this highest priority.

        The recipes of a party stand in the order of their nominal priorities, and the effective ones follow
        it.
        """
        if most_urgent > self.effective:
            return NOBODY
        if most_urgent < self.effective and self.nominal < self.effective:
            return (self.effective,)
        return self.nominal, self.submission

    def __str__(self) -> str:
        nominal, effective = PRIORITIES[self.nominal], PRIORITIES[self.effective]
        return nominal if nominal == effective else f"{nominal}, there {effective}"


def standing(known: Known, judge: Judge, recipe: Recipe, system: System) -> Standing:
    """Return the rank of a recipe on a system, as if it had permission there if it has none."""
    recipe_set = known.sets[recipe.set_id]
    bound = recipe.recipe_id not in known.newly_assigned and any(
        member.lab == system.lab for member in known.members(recipe.set_id)
    )
    nominal = URGENCY[recipe_set.priority]
    effective = max(nominal, judge.most_urgent(known.party(recipe.who), system) or 0)
    return Standing(0 if bound else 1, effective, nominal, recipe_set.submission)


def takers(known: Known, judge: Judge, system: System, before: Standing | None = None) -> Iterator[Recipe]:
    """Yield the recipes in the queue that could take the system safely, or only those that rank before one.

    For each need and party only the first is yielded: the others rank behind it.
    """
    for number, lab in enumerate((system.lab, None)):
        if before is not None and number > before.line:
            return
        counting = before if before is not None and number == before.line else None
        last = LAST if counting is None else counting.last
        for who, line in known.lines[lab]:
            first = line.first
            if first is None or first >= last:
                continue
            most_urgent = judge.most_urgent(who, system)
            if most_urgent is not None:
                end = LAST if counting is None else counting.end(most_urgent)
                yield from _takers_in(known, judge, system, line, end)


def _takers_in(known: Known, judge: Judge, system: System, line: Line, end: Rank) -> Iterator[Recipe]:
    for need in judge.needs_in(line, system, end):
        for rank in line.of(need):
            if rank > end:
                break
            recipe = known.recipes[rank[2]]
            if could_take_safely(known, judge, recipe, system):
                yield recipe
                break
