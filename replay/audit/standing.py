"""Who stands where in the queue for one system (design 5.2), and who of them could take it."""

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
    """In the line of the lab (0) or of all (1), and where in it on one system; low first. Priorities are told
    by their places, Urgent is 0.
    """

    line: int
    effective: int
    nominal: int
    submission: int

    @property
    def last(self) -> Rank:
        """Nobody behind this stands before it, however urgent they may be."""
        return self.end(-1)

    def end(self, most_urgent: int) -> Rank:
        """Up to here stand, among those who may be as urgent there as this, the ones before it.

        Among themselves they stand in the order of their nominal priorities: the effective ones follow it.
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
    """Where it stands in the queue for this system; as if it might be there, if it may not."""
    recipe_set = known.sets[recipe.set_id]
    bound = recipe.recipe_id not in known.newly_assigned and any(
        member.lab == system.lab for member in known.members(recipe.set_id)
    )
    nominal = URGENCY[recipe_set.priority]
    effective = max(nominal, judge.most_urgent(known.party(recipe.who), system) or 0)
    return Standing(0 if bound else 1, effective, nominal, recipe_set.submission)


def takers(known: Known, judge: Judge, system: System, before: Standing | None = None) -> Iterator[Recipe]:
    """Who in the queue could take the system without harm, of all or of those before somebody.

    Of those who need the same and have the same rights only the first: the others stand behind it.
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
