"""The order of waiting recipes: ranks, the ranked queue, and counts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.access.policy import PolicyEntry
from domain.access.submit_rights import SubmitRights, Submitter
from domain.priority import Priority
from domain.scheduling.demand.lines import Line
from domain.scheduling.demand.order import Effort, Place, ordered_places
from domain.scheduling.demand.submitters import Order, Submitters
from domain.scheduling.demand.weighing import Weighing, WeightClass
from domain.scheduling.ranked import Rank, Ranked
from domain.scheduling.supply.access import AccessIndex

FILTERS, SUBMITTERS, PROFILES = 12, 6, 4
START = datetime(2026, 11, 23, tzinfo=UTC)
OPEN = SubmitRights((PolicyEntry("submit", maximum=Priority.Urgent),), None)


class LineModel:
    """A line, with a plain set of (filter, submitter, profile, rank) as its model."""

    def __init__(self) -> None:
        self.weighing = Weighing(lambda *_: None)
        self.weighing.declaring[1] = None
        self.weighing.classes = dict.fromkeys(range(PROFILES), WeightClass(0, 1_000))
        # A set is submitted every 20 seconds, of three recipes.
        self.weighing.submitted_at = lambda recipe_id: START + recipe_id // 3 * timedelta(seconds=20)
        self.weighing.now = START + timedelta(minutes=17)
        self.line = Line(True, self.weighing)
        self.plain: set[tuple[int, int, int, Rank]] = set()
        self.access = AccessIndex()
        self.submitters = Submitters(self.access)
        for number in range(SUBMITTERS):
            self.submitters.count(self.submitters.number(Submitter(None, f"g{number}")), 1)

    def toggle(self, number: int, who: int, rank: Rank, profile: int = 0) -> None:
        """Remove the recipe if it is in the line, else add it."""
        stood = (number, who, profile, rank) in self.plain
        self.plain ^= {(number, who, profile, rank)}
        (self.line.discard if stood else self.line.add)((number, who, profile), rank)

    def reweigh(self, profile: int, after: WeightClass) -> None:
        before, self.weighing.classes[profile] = self.weighing.classes[profile], after
        if after != before:
            self.line.reweigh(profile, before)

    def order(self, rights: SubmitRights) -> Order:
        self.access.put(0, rights)
        return self.submitters.order(rights)

    def ordered(self, among: int, rights: SubmitRights) -> list[Rank]:
        return [place.rank for place in self.places(among, rights, Effort())]

    def places(self, among: int, rights: SubmitRights, effort: Effort) -> Iterator[Place]:
        return ordered_places(self.line, among, self.order(rights), effort, self.weighing)

    def expected(self, among: int, rights: SubmitRights) -> list[Rank]:
        found = []
        for number, who, profile, rank in self.plain:
            maximum = rights.maximum(self.submitters[who])
            if among >> number & 1 and maximum is not None:
                weight = self.weighing.weight(self.weighing.static_of(profile), rank.recipe_id)
                effective = min(-rank.negative_priority, maximum)
                systems = self.weighing.classes[profile].systems
                found.append((-effective, rank.negative_priority, systems, weight, rank))
        return [place[-1] for place in sorted(found)]


def some_system(chance: Random) -> SubmitRights:
    """Return random access: some groups have a maximum; mostly the others have access, too."""
    groups = chance.sample(range(SUBMITTERS), chance.randrange(SUBMITTERS))
    entries = [PolicyEntry("submit", group=f"g{n}", maximum=chance.choice(list(Priority))) for n in groups]
    if chance.random() < 0.7:
        entries.append(PolicyEntry("submit", maximum=chance.choice(list(Priority))))
    return SubmitRights(tuple(entries), None)


@pytest.mark.parametrize("seed", range(30))
def test_ordered_places__recipes_come_and_go__is_one_sorted_list_on_every_system(seed: int) -> None:
    chance, model = Random(seed), LineModel()
    systems = [OPEN, *(some_system(chance) for _ in range(3))]
    for ticket in range(150):
        # Sometimes two recipes are of one set.
        rank = Rank(-chance.choice(list(Priority)), ticket // 3, ticket)
        number, who, profile = (
            chance.randrange(FILTERS),
            chance.randrange(SUBMITTERS),
            chance.randrange(PROFILES),
        )
        if model.plain and chance.random() < 0.45:
            number, who, profile, rank = chance.choice(sorted(model.plain))
        model.toggle(number, who, rank, profile)
        of_job, weight = chance.choice((0, 0, 1)), chance.choice((1_000, 2_500, 4_000))
        model.reweigh(chance.randrange(PROFILES), WeightClass(of_job, weight))
        among = chance.getrandbits(FILTERS)
        for rights in systems:
            assert model.ordered(among, rights) == model.expected(among, rights)


def test_ordered_places__only_first__visits_one_filter() -> None:
    model, effort = LineModel(), Effort()
    for number in range(FILTERS):
        model.toggle(number, number % SUBMITTERS, Rank(-1, number, number))
    first = next(model.places(2**FILTERS - 1, OPEN, effort))
    assert first.rank == (-1, 0, 0)
    assert effort.rows == 1


@pytest.mark.parametrize("hidden", [1, 40])
def test_ordered_places__recipes_without_access_ahead__first_allowed_one_found(hidden: int) -> None:
    model = LineModel()
    closed = SubmitRights(
        tuple(PolicyEntry("submit", group=f"g{n}", maximum=Priority.Low) for n in range(1, SUBMITTERS)), None
    )
    for number in range(hidden):
        model.toggle(number, 0, Rank(-5, number, number))
    for who in range(1, SUBMITTERS):
        for number in range(hidden):
            model.toggle(number, who, Rank(-3, 100 - who, 1_000 * who + number))
    assert model.ordered(2**hidden - 1, closed) == model.expected(2**hidden - 1, closed)


Step = tuple[bool, int]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=200))
def test_ranked__any_changes__sorted(steps: list[Step]) -> None:
    ranked: Ranked[tuple[int, ...]] = Ranked()
    members: set[tuple[int, ...]] = set()
    for adding, number in steps:
        key = (number,)
        (ranked.add if adding else ranked.discard)(key)
        (members.add if adding else members.discard)(key)
        assert list(ranked) == sorted(members)
        assert ranked.first() == min(members, default=None)
        assert len(ranked) == len(members)
        assert (key in ranked) == adding


def test_ranked__same_key_in_and_out_a_thousand_times__heap_stays_small() -> None:
    ranked: Ranked[tuple[int, ...]] = Ranked()
    ranked.add((1,))
    for _ in range(1_000):
        ranked.discard((1,))
        ranked.add((1,))
    assert len(ranked._heap) <= 66
