"""Whole sets from the log: everything that belongs together, in few queries, as of one position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
from tests.harness.databases import TestDatabase


class Counted(EventLog):
    """Counts the queries that load, and lets something happen before one of them."""

    loads = 0
    before_load = -1
    meanwhile: Decided

    def load(self, after: Mapping[str, int]) -> dict[str, list[Recorded]]:
        self.loads += 1
        if self.loads == self.before_load:
            put(self, *self.meanwhile)
        return super().load(after)


@pytest.fixture
def log(database: TestDatabase) -> Iterator[Counted]:
    made = Counted(database.service_url)
    yield made
    made.close()


def put(log: EventLog, *decided: tuple[str, Event]) -> None:
    now = EventLog.load(log, dict.fromkeys((subject for subject, _ in decided), 0))
    changes = tuple(Change(subject, event, STAMP) for subject, event in decided)
    expected = {subject: len(past) for subject, past in now.items()}
    (outcome,) = log.append([AppendRequest(f"put/{log.end()}", changes, expected)])
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


def fill(log: EventLog, sets: int) -> None:
    """Sets n of the recipes n1 (on the system n), its guest n2, and n3, which waits."""
    for number in range(1, sets + 1):
        one, guest, other = (number * 10 + place for place in (1, 2, 3))
        put(log, (f"system/{number}", SystemRegistered("lab", "alice", "Automated", {})))
        put(
            log,
            (f"recipe-set/{number}", RecipeSetSubmitted(1, "Normal", (one, guest, other))),
            (f"recipe/{one}", new(number)),
            (f"recipe/{guest}", new(number, host=one)),
            (f"recipe/{other}", new(number)),
            *((f"recipe/{recipe}", RecipeScheduled(str(number), "lab")) for recipe in (one, guest)),
            (f"system/{number}", SystemScheduled(one)),
        )


@pytest.mark.parametrize(
    ("subjects", "most"),
    [
        (lambda number: f"recipe/{number}3", 4),
        (lambda number: f"recipe-set/{number}", 3),
        (lambda number: f"system/{number}", 4),
    ],
    ids=["recipes", "recipe sets", "systems"],
)
def test_gather__of_many__everything_in_as_many_queries_as_of_one(
    log: Counted, subjects: object, most: int
) -> None:
    fill(log, 20)
    assert callable(subjects)
    asked = [subjects(number) for number in range(1, 21)]
    counts = []
    for wanted in (asked[:1], asked):
        aggregates, log.loads = Aggregates(log), 0
        gathered = aggregates.gather(wanted)
        counts.append(log.loads)
        for number in range(1, len(wanted) + 1):
            members = gathered.members(number)
            assert [recipe.recipe_id % 10 for recipe in members.recipes] == [1, 2, 3]
            assert list(members.systems) == [str(number)]
        log.loads = 0
        aggregates.gather(wanted)
        assert log.loads == 1, "what is remembered tells what belongs together"
    assert counts[0] == counts[1] <= most


def test_gather__moves_meanwhile__is_what_is_true_at_one_position(log: Counted) -> None:
    """Between two queries the recipe gets a system, which the first of them did not know of."""
    fill(log, 1)
    put(log, ("system/9", SystemRegistered("lab", "alice", "Automated", {})))
    log.meanwhile = [("recipe/13", RecipeScheduled("9", "lab")), ("system/9", SystemScheduled(13))]
    log.loads, log.before_load = 0, 2
    gathered = Aggregates(log).gather(["recipe/13"])
    recipe, system = gathered.recipe(13), gathered.system("9")
    assert recipe is not None and system is not None
    assert (recipe.system, system.recipe_id) == ("9", 13)


def test_gather__what_nobody_knows__is_missing_alone(log: Counted) -> None:
    fill(log, 1)
    gathered = Aggregates(log).gather(["recipe/11", "recipe/999", "system/none"])
    assert gathered.recipe(999) is None and gathered.system("none") is None
    assert gathered.recipe(12) is not None
    assert gathered.versions["recipe/11"] == 2


def test_gather__recipe_has_finished__has_left_its_system(log: Counted) -> None:
    fill(log, 1)
    put(log, ("recipe/11", RecipeCancelled("no")), ("recipe/12", RecipeCancelled("no")))
    put(log, ("system/1", SystemPending()), ("recipe/13", RecipeQueued("waits")))
    members = Aggregates(log).gather(["recipe-set/1"]).members(1)
    assert members.systems == {}


def test_members_after__a_decision__are_as_it_leaves_them(log: Counted) -> None:
    fill(log, 1)
    members = Aggregates(log).gather(["recipe-set/1"]).members(1)
    left = members_after(members, cancel_set(members, "no"))
    assert {recipe.state for recipe in left.recipes} == {"cancelled"}
    assert left.systems["1"].usage == "pending"
    assert cancel_set(left, "again") == []
