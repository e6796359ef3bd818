"""What a decision gives to whom, judged on what the scheduler knew: its basis and the decisions before it."""

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
    """A recipe that had no system gets this one, in a decision."""

    recipe: Recipe
    system: System
    record: Record


class OfDecisions(Invariant):
    """Base of those that ask who could have what.

    `known` is what the basis of a decision says, and all that was decided in its commit before.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def grant(self, known: Known, grant: Grant) -> Found:
        """Before the system is given to the recipe."""
        yield from ()

    def unwanted(self, known: Known, system: System, record: Record) -> Found:
        """Before a pending system becomes idle."""
        yield from ()

    def decided(self, known: Known, decision: Decision) -> Found:
        """After a decision."""
        yield from ()


class UsableGrant(OfDecisions):
    """What is granted was free, and usable for the recipe."""

    name = "usable_grant"

    def grant(self, known: Known, grant: Grant) -> Found:
        recipe, system, record = grant
        subjects = recipe.subject, system.subject
        if system.usage not in FREE and system.recipe_id != recipe.recipe_id:
            what = f"{system.fqdn} was {system.usage} with recipe {system.recipe_id}"
            yield self.broken([record.position], subjects, what)
        is_known = self._judge.is_known(known.need(recipe))
        if is_known and not self._judge.is_right(recipe, system):
            yield self.broken([record.position], subjects, f"{system.fqdn} is not usable for it")


class LentSystem(OfDecisions):
    """A system on loan goes to the recipes of its borrower alone."""

    name = "lent_system"

    def grant(self, known: Known, grant: Grant) -> Found:
        recipe, system, record = grant
        if self._judge.is_lent_away(recipe, system):
            whose = f"{system.fqdn} is on loan to {system.borrower}, {recipe.subject} is of {recipe.who}"
            what = f"grant of a system on loan to another: {whose}"
            yield self.broken([record.position], [recipe.subject, system.subject], what)


class AllowedGrant(OfDecisions):
    """Whoever is granted a system may submit to it."""

    name = "allowed_grant"

    def grant(self, known: Known, grant: Grant) -> Found:
        recipe, system, record = grant
        if not self._judge.may_submit(recipe, system):
            whose = f"{recipe.subject} is of {recipe.who}"
            what = f"grant without access: {whose}, and nothing lets them submit to {system.fqdn}"
            yield self.broken([record.position], [recipe.subject, system.subject], what)


class NobodyJumped(OfDecisions):
    """Nobody who stood before the winner could have used the system, and safely.

    A policy that answers triggers in batches is held to the order known when the batch began: recipes that a
    decision of the batch has assigned stand among the queued ones, and new sets are served in rank order. A
    new set of several recipes is answered whole, so on each system it counts with its nominal priority.
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
            who = f"{other.subject} ({theirs}), which stood before {recipe.subject} ({its})"
            what = f"{system.fqdn} went past {who}"
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
    """A pending system becomes idle only if nobody in the queue could take it."""

    name = "nobody_overlooked"

    def unwanted(self, known: Known, system: System, record: Record) -> Found:
        for recipe in takers(known, self._judge, system):
            what = f"{system.fqdn} became idle, and {recipe.subject} could take it"
            yield self.broken([record.position], [recipe.subject, system.subject], what)
            return


class NoUnsafeGrant(OfDecisions):
    """A grant that does not complete its set leaves an order in which every holder can be completed."""

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
                what = f"the grant of {system.fqdn} leaves {', '.join(left)} that cannot be completed"
                yield self.broken([record.position], [recipe.subject, system.subject, *left], what)
