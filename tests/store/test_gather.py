"""Tests of `Aggregates.gather`: whole sets from the log, in few queries, as of one position."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from domain.events import Change, Decided, Event, Recorded
from domain.read_set import members_after
from domain.recipe.events import RecipeCancelled, RecipeNew, RecipeQueued, RecipeScheduled
from domain.recipe_set.ending import cancel_set
from domain.recipe_set.events import RecipeSetSubmitted
from domain.system.events import SystemPending, SystemRegistered, SystemScheduled
from store.aggregates import Aggregates
from store.event_log import EventLog
from store.requests import AppendRequest
from tests.harness.appends import STAMP, positions

pytestmark = pytest.mark.promise


class Loads:
    """Counts the queries that load events. Appends `meanwhile` before one of them."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.count = 0
        self.before = -1
        self.meanwhile: Decided = ()
        self.load_directly = log.load

    def load(self, after: Mapping[str, int]) -> dict[str, list[Recorded]]:
        self.count += 1
        if self.count == self.before:
            put(self, *self.meanwhile)
        return self.load_directly(after)


@pytest.fixture
def loads(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> Loads:
    loads = Loads(log)
    monkeypatch.setattr(log, "load", loads.load)
    return loads


def put(loads: Loads, *decided: tuple[str, Event]) -> None:
    now = loads.load_directly(dict.fromkeys((subject for subject, _ in decided), 0))
    changes = tuple(Change(subject, event, STAMP) for subject, event in decided)
    expected = {subject: len(past) for subject, past in now.items()}
    (outcome,) = loads.log.append([AppendRequest(f"put/{loads.log.end()}", changes, expected)])
    positions(outcome)


def new(recipe_set_id: int, host: int | None = None) -> RecipeNew:
    return RecipeNew(
        job_id=1,
        recipe_set_id=recipe_set_id,
        owner="alice",
        group=None,
        priority="Normal",
        whiteboard="",
        role=None,
        host_requires="{}",
        distro_requires="{}",
        distro_tree_id=1,
        autopick_random=False,
        autopick_pools=(),
        kernel_options="",
        kernel_options_post="",
        ks_meta="",
        tasks=(),
        host_recipe_id=host,
    )


def fill(loads: Loads, sets: int) -> None:
    """Add sets n of the recipes n1 (on system n), its guest n2, and n3, which waits."""
    for number in range(1, sets + 1):
        one, guest, other = (number * 10 + place for place in (1, 2, 3))
        put(loads, (f"system/{number}", SystemRegistered("lab", "alice", "Automated", {})))
        put(
            loads,
            (f"recipe-set/{number}", RecipeSetSubmitted(1, "Normal", (one, guest, other))),
            (f"recipe/{one}", new(number)),
            (f"recipe/{guest}", new(number, host=one)),
            (f"recipe/{other}", new(number)),
            *((f"recipe/{recipe}", RecipeScheduled(str(number), "lab")) for recipe in (one, guest)),
            (f"system/{number}", SystemScheduled(one)),
        )


@pytest.mark.parametrize(
    ("subjects", "max_queries"),
    [
        (lambda number: f"recipe/{number}3", 4),
        (lambda number: f"recipe-set/{number}", 3),
        (lambda number: f"system/{number}", 4),
    ],
    ids=["recipes", "recipe sets", "systems"],
)
def test_gather__many_subjects__as_many_queries_as_for_one(
    loads: Loads, subjects: object, max_queries: int
) -> None:
    fill(loads, 20)
    assert callable(subjects)
    asked = [subjects(number) for number in range(1, 21)]
    counts = []
    for wanted in (asked[:1], asked):
        aggregates, loads.count = Aggregates(loads.log), 0
        gathered = aggregates.gather(wanted)
        counts.append(loads.count)
        for number in range(1, len(wanted) + 1):
            members = gathered.members(number)
            assert [recipe.recipe_id % 10 for recipe in members.recipes] == [1, 2, 3]
            assert list(members.systems) == [str(number)]
        loads.count = 0
        aggregates.gather(wanted)
        assert loads.count == 1, "cached states name their neighbours"
    assert counts[0] == counts[1] <= max_queries


def test_gather__concurrent_change__states_of_one_position(loads: Loads) -> None:
    """The recipe gets a system between two queries, after the first one."""
    fill(loads, 1)
    put(loads, ("system/9", SystemRegistered("lab", "alice", "Automated", {})))
    loads.meanwhile = [("recipe/13", RecipeScheduled("9", "lab")), ("system/9", SystemScheduled(13))]
    loads.count, loads.before = 0, 2
    gathered = Aggregates(loads.log).gather(["recipe/13"])
    recipe, system = gathered.recipe(13), gathered.system("9")
    assert recipe is not None and system is not None
    assert (recipe.system, system.recipe_id) == ("9", 13)


def test_gather__missing_subjects__others_are_found(loads: Loads) -> None:
    fill(loads, 1)
    gathered = Aggregates(loads.log).gather(["recipe/11", "recipe/999", "system/none"])
    assert gathered.recipe(999) is None and gathered.system("none") is None
    assert gathered.recipe(12) is not None
    assert gathered.versions["recipe/11"] == 2


def test_gather__recipe_has_finished__without_its_system(loads: Loads) -> None:
    fill(loads, 1)
    put(loads, ("recipe/11", RecipeCancelled("no")), ("recipe/12", RecipeCancelled("no")))
    put(loads, ("system/1", SystemPending()), ("recipe/13", RecipeQueued("waits")))
    members = Aggregates(loads.log).gather(["recipe-set/1"]).members(1)
    assert members.systems == {}


def test_members_after__a_decision__are_as_it_leaves_them(loads: Loads) -> None:
    fill(loads, 1)
    members = Aggregates(loads.log).gather(["recipe-set/1"]).members(1)
    left = members_after(members, cancel_set(members, "no"))
    assert {recipe.state for recipe in left.recipes} == {"cancelled"}
    assert left.systems["1"].usage == "pending"
    assert cancel_set(left, "again") == []
