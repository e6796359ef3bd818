"""Read models of the resource locks that recipes hold and await."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.directory.events import PoolRegistered, PoolSystemAdded, PoolSystemRemoved
from domain.events import Event
from domain.recipe import events as recipe_events
from tests.projections.happened import (
    LAB,
    assigned,
    guest,
    host,
    lab,
    locked,
    narrowed,
    of,
    queued,
    registered,
    running,
    scheduled,
    submitted,
    waiting,
)
from tests.projections.projected_log import ProjectedLog

NET: dict[str, Any] = {"network": {"Exclusive": ["n1", "n2"]}}
OWN: dict[str, Any] = {
    "system": {"Exclusive": ["$system"]},
    "pool": ["UnknownShared", {"Exclusive": ["$pools"]}],
    "guest": {"Shared": ["g3"]},
    "network": [{"Shared": ["n9"]}, "UnknownExclusive"],
    "whole_lab": True,
}


@pytest.fixture
def placed(models: ProjectedLog) -> ProjectedLog:
    """Schedule recipe 1, which declares own names, recipe 2 with two networks, and 3, a guest of 2."""
    models.commit(lab(), registered("a"), registered("b"))
    models.commit(*of("pool", "big", PoolRegistered(None), PoolSystemAdded("a")))
    own_of_guest = replace(guest(3, host_id=2), locks={"guest": {"Exclusive": ["g3"]}})
    models.commit(*submitted(host(1, locks=OWN), host(2, locks=NET), own_of_guest), *queued(1, 2, 3))
    models.commit(*scheduled("a", 1), *scheduled("b", 2, 3))
    return models


def shown(models: ProjectedLog, **params: Any) -> list[tuple[Any, ...]]:
    columns = ("recipe_id", "level", "name", "mode", "state")
    return [tuple(row[column] for column in columns) for row in models.locks(**params)]


def networks(state: str, *names: str, mode: str = "Exclusive") -> list[tuple[Any, ...]]:
    return [(2, "network", name, mode, state) for name in names]


def test_locks__set_without_its_systems__none(placed: ProjectedLog) -> None:
    assert shown(placed) == []


def test_locks__set_waits_for_them__awaited_as_they_will_be_taken(placed: ProjectedLog) -> None:
    placed.commit(*waiting("a", 1, locks=None), *waiting("b", 2, 3, locks=None))
    assert shown(placed) == [
        (1, "guest", "g3", "Shared", "awaited"),
        # Unknown networks are taken as all of them, shared ones among them.
        (1, "network", None, "Exclusive", "awaited"),
        *networks("awaited", "n1", "n2"),
        (1, "pool", None, "Shared", "awaited"),
        (1, "pool", "big", "Exclusive", "awaited"),
        (1, "system", "a", "Exclusive", "awaited"),
        (1, "whole_lab", LAB, "Exclusive", "awaited"),
    ]
    assert placed.recipe(1)["awaits_locks"] and placed.recipe(3)["awaits_locks"]


def test_locks__pools_change_meanwhile__awaited_by_the_names_of_the_moment(placed: ProjectedLog) -> None:
    (*_, at) = placed.commit(*waiting("a", 1, locks=None))
    placed.commit(*of("pool", "red", PoolRegistered(None), PoolSystemAdded("a")))
    placed.commit(*of("pool", "big", PoolSystemRemoved("a")))
    assert [row[2] for row in shown(placed, level="pool")] == [None, "red"]
    assert [row[2] for row in shown(placed, level="pool", name="red")] == [None, "red"]
    assert [row[2] for row in shown(placed, level="pool", at=at)] == [None, "big"]


def test_locks__got_later__held_from_then_and_awaited_before(placed: ProjectedLog) -> None:
    (since, *_) = placed.commit(*waiting("b", 2, 3, locks=None))
    (at, _) = placed.commit(locked(2, NET), locked(3))
    assert shown(placed) == networks("held", "n1", "n2")
    assert shown(placed, at=at - 1) == networks("awaited", "n1", "n2")
    assert {row["since_position"] for row in placed.locks()} == {at}
    assert {row["since_position"] for row in placed.locks(at=at - 1)} == {since}
    assert not placed.recipe(2)["awaits_locks"] and placed.recipe(2)["state"] == "waiting"
    history = placed.rows("history_of_recipe", recipe_id=2)
    assert [(row["state"], row["awaits_locks"]) for row in history[-2:]] == [
        ("waiting", True),
        ("waiting", False),
    ]


def test_locks__narrowed__kept_ones_are_held_since_before(placed: ProjectedLog) -> None:
    (since, *_) = placed.commit(*waiting("b", 2, locks=NET), *waiting("b", 3))
    (at,) = placed.commit(narrowed(2, {"network": {"Exclusive": ["n2"]}}))
    assert shown(placed) == networks("held", "n2")
    assert [row["since_position"] for row in placed.locks()] == [since]
    assert shown(placed, at=at - 1) == networks("held", "n1", "n2")
    # Shared in place of exclusive is another lock.
    (at,) = placed.commit(narrowed(2, {"network": {"Shared": ["n2"]}}))
    assert shown(placed) == networks("held", "n2", mode="Shared")
    assert [row["since_position"] for row in placed.locks()] == [at]


@pytest.mark.parametrize(
    "ends",
    [recipe_events.RecipeCompleted(), recipe_events.RecipeCancelled("x"), recipe_events.RecipeAborted("x")],
)
def test_locks__recipe_ends__end_with_it_and_not_before(placed: ProjectedLog, ends: Event) -> None:
    placed.commit(*waiting("b", 2, locks=NET), *waiting("b", 3))
    placed.commit(*running("b", 2), *of("recipe", 2, recipe_events.RecipeReserved("b", 60)))
    assert shown(placed) == networks("held", "n1", "n2")
    (at,) = placed.commit(*of("recipe", 2, ends))
    assert shown(placed) == []
    assert shown(placed, at=at - 1) == networks("held", "n1", "n2")


@pytest.mark.parametrize("lost", [queued(2), [assigned(2)], scheduled("b", 2)])
def test_locks__system_lost_before_them__awaited_no_more(placed: ProjectedLog, lost: Any) -> None:
    placed.commit(*waiting("b", 2, 3, locks=None))
    placed.commit(*lost)
    assert shown(placed) == []
    assert placed.commands(LAB) == []
    assert not placed.recipe(2)["awaits_locks"]


def test_commands__locks_got_later__provisioned_then(placed: ProjectedLog) -> None:
    placed.commit(*waiting("b", 2, 3, locks=None))
    assert placed.commands(LAB) == []
    (at, _) = placed.commit(locked(2, NET), locked(3))
    assert [(row["command_id"], row["kind"]) for row in placed.commands(LAB)] == [(at, "provision")]
    assert [one["recipe_id"] for one in placed.commands(LAB)[0]["guests"]] == [3]


def test_locks__filters_and_pages__narrow_the_list(placed: ProjectedLog) -> None:
    placed.commit(*waiting("a", 1, locks={"network": "AllShared"}), *waiting("b", 2, 3, locks=None))
    everything = (1, "network", None, "Shared", "held")
    assert shown(placed, state="held") == [everything]
    assert shown(placed, level="network", name="n2") == [everything, *networks("awaited", "n2")]
    assert shown(placed, level="pool") == []
    after = {"after_level": "network", "after_name": "n1", "after_recipe_id": 2, "after_mode": "Exclusive"}
    assert shown(placed, **after) == networks("awaited", "n2")
    assert shown(placed, limit=1) == [everything]


def test_locks__with_names_of_hidden_systems__are_left_out_at_every_level(placed: ProjectedLog) -> None:
    locks = {"system": {"Exclusive": ["a", "c"]}, "network": {"Shared": ["a", "n1"]}, "guest": "AllShared"}
    placed.commit(*waiting("a", 1, locks=locks))
    (at,) = placed.commit(narrowed(1))
    left = [("guest", None), ("network", "n1"), ("system", "c")]
    assert [row[1:3] for row in shown(placed, hidden=["a"], at=at - 1)] == left
    assert shown(placed, hidden=["a"]) == []


def test_counts__held_and_awaited__by_level(placed: ProjectedLog) -> None:
    def counts() -> dict[tuple[str, str], int]:
        rows = placed.rows("locks_by_level")
        return {(row["level"], row["state"]): row["locks"] for row in rows if row["locks"]}

    placed.commit(*waiting("a", 1, locks=None), *waiting("b", 2, locks=NET), *waiting("b", 3))
    assert counts() == {
        **dict.fromkeys((("guest", "awaited"), ("system", "awaited"), ("whole_lab", "awaited")), 1),
        ("pool", "awaited"): 2,
        ("network", "held"): 2,
        ("network", "awaited"): 1,
    }
    placed.commit(*queued(1), narrowed(2))
    assert counts() == {}


def test_recipe__declared_locks__are_shown(placed: ProjectedLog) -> None:
    assert placed.recipe(2)["declared_locks"] == NET
    assert placed.rows("held_locks", recipe_id=2) == []
    placed.commit(*waiting("b", 2, locks=NET), *waiting("b", 3))
    assert [(row["name"], row["mode"]) for row in placed.rows("held_locks", recipe_id=2)] == [
        ("n1", "Exclusive"),
        ("n2", "Exclusive"),
    ]
