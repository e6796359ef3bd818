"""Invariants of grants, checked against the scheduler's view: the basis and the decisions before."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from replay.audit.invariant import Found, Invariant
from replay.audit.known import Known
from replay.audit.record import Decision, Record
from replay.audit.safety import could_take_safely, is_safe, stuck, wanting
from replay.audit.standing import Standing, standing, takers
from replay.audit.tables import FREE
from replay.audit.values import Recipe, System
from replay.audit.viable import Judge


class Grant(NamedTuple):
    """A decision's event that gives a system to a recipe without one."""

    recipe: Recipe
    system: System
    record: Record


class OfDecisions(Invariant):
    """Base of the invariants about the recipes and systems that a decision had to choose from.

    `known` is the state at the basis of a decision, with the earlier decisions of its commit.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def grant(self, known: Known, grant: Grant) -> Found:
        """Check an event before the system is given to the recipe."""
        yield from ()

    def unwanted(self, known: Known, system: System, record: Record) -> Found:
        """Check an event before a pending system becomes idle."""
        yield from ()

    def decided(self, known: Known, decision: Decision) -> Found:
        """Check a decision after its last event."""
        yield from ()


class UsableGrant(OfDecisions):
    """A granted system was free, and usable for the recipe."""

    name = "usable_grant"

    def grant(self, known: Known, grant: Grant) -> Found:
        recipe, system, record = grant
        subjects = recipe.subject, system.subject
        if system.usage not in FREE and system.recipe_id != recipe.recipe_id:
            what = f"{system.fqdn} was {system.usage} with recipe {system.recipe_id}"
            yield self.broken([record.position], subjects, what)
        is_readable = self._judge.is_known(known.need(recipe))
        if is_readable and not self._judge.is_right(recipe, system):
            yield self.broken([record.position], subjects, f"{system.fqdn} is not usable for it")


class LentSystem(OfDecisions):
    """A system on loan goes only to recipes of its borrower."""

    name = "lent_system"

    def grant(self, known: Known, grant: Grant) -> Found:
        recipe, system, record = grant
        if self._judge.is_lent_away(recipe, system):
            whose = f"{system.fqdn} is on loan to {system.borrower}, {recipe.subject} belongs to {recipe.who}"
            what = f"grant of a system on loan to another: {whose}"
            yield self.broken([record.position], [recipe.subject, system.subject], what)


class AllowedGrant(OfDecisions):
    """A system goes only to recipes whose owner or group may submit to it."""

    name = "allowed_grant"

    def grant(self, known: Known, grant: Grant) -> Found:
        recipe, system, record = grant
        if not self._judge.may_submit(recipe, system):
            whose = f"{recipe.subject} belongs to {recipe.who}"
            what = f"grant without access: {whose}, who may not submit to {system.fqdn}"
            yield self.broken([record.position], [recipe.subject, system.subject], what)


class NobodyJumped(OfDecisions):
    """No recipe that ranks before the winner could have taken the system safely.

    A policy that answers triggers in batches is checked against the order at the beginning of the batch:
    recipes that a decision of the batch has assigned rank as queued, and new sets are served in rank order. A
    new set of several recipes is answered as a whole, so it counts with its nominal priority on each system.
    """

    name = "nobody_jumped"

    def __init__(self, judge: Judge, *, in_batches: bool) -> None:
        super().__init__(judge)
        self._in_batches = in_batches

    def grant(self, known: Known, grant: Grant) -> Found:
        recipe, system, _ = grant
        its = standing(known, self._judge, recipe, system)
        others = takers(known, self._judge, system, its)
        if self._in_batches and known.answering == recipe.set_id:
            others = chain(others, self._new_before(known, recipe, system, its))
        for other in others:
            theirs = standing(known, self._judge, other, system)
            other_rank = f"{other.subject} ({theirs}), which ranks before {recipe.subject} ({its})"
            what = f"{system.fqdn} passed over {other_rank}"
            subjects = recipe.subject, other.subject, system.subject
            yield self.broken([grant.record.position], subjects, what)
            return

    def _new_before(self, known: Known, recipe: Recipe, system: System, its: Standing) -> Iterator[Recipe]:
        """Yield the recipes of new sets of the batch that rank before a new one and could take its system."""
        if len(known.hosts(recipe.set_id)) > 1:
            its = its._replace(line=1, effective=its.nominal)
        for number in known.new_sets.before(known.sets[recipe.set_id], its.effective, known.batch):
            for other in known.hosts(number):
                stands_before = standing(known, self._judge, other, system) < its
                if stands_before and could_take_safely(known, self._judge, other, system):
                    yield other


class NobodyOverlooked(OfDecisions):
    """A pending system becomes idle only if no recipe in the queue could take it."""

    name = "nobody_overlooked"

    def unwanted(self, known: Known, system: System, record: Record) -> Found:
        for recipe in takers(known, self._judge, system):
            what = f"{system.fqdn} became idle, but {recipe.subject} could take it"
            yield self.broken([record.position], [recipe.subject, system.subject], what)
            return


class NoUnsafeGrant(OfDecisions):
    """After a grant that does not complete its set, every holder can still be completed in some order."""

    name = "no_unsafe_grant"

    def __init__(self, judge: Judge) -> None:
        super().__init__(judge)
        self._grants: list[Grant] = []

    def grant(self, known: Known, grant: Grant) -> Found:
        self._grants.append(grant)
        yield from ()

    def decided(self, known: Known, decision: Decision) -> Found:
        grants, self._grants = self._grants, []
        for recipe, system, record in grants:
            if not wanting(known, recipe.set_id):
                continue
            if not is_safe(known, self._judge, system.lab):
                left = [f"recipe-set/{number}" for number in stuck(known, self._judge, system.lab)]
                what = f"after the grant of {system.fqdn}, {', '.join(left)} cannot be completed"
                yield self.broken([record.position], [recipe.subject, system.subject, *left], what)
