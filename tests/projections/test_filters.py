"""Tests of filters: a filtered list has the matching rows of the whole list, as of any position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product
from random import Random
from typing import Any

import pytest

from domain.directory.events import PoolRegistered
from domain.partition_numbers import DEFAULT_NUMBER, EVERYBODY
from domain.recipe.lifecycle import RECIPE
from domain.system.lifecycle import CONDITIONS
from projections.sql import ANY_SYSTEM
from tests.harness.pool import ServerPool
from tests.projections.happened import lab, registered
from tests.projections.job_pages import found_jobs
from tests.projections.projected_log import ProjectedLog, projected_log
from tests.projections.random_history import LABS, POOLS, SYSTEMS, anything
from tests.projections.recipe_lives import GROUPS, OWNERS, lives

# EVERYBODY is that of jobs from before partitions.
PARTITIONS = (EVERYBODY, DEFAULT_NUMBER, 2)
JOBS = 40
ALL = 1_000
PAGE = 3


@pytest.fixture(scope="module")
def models(servers: ServerPool) -> Iterator[ProjectedLog]:
    """Yield one log for all tests of this module, which only read."""
    with servers.databases("embedded").fresh() as database, projected_log(database) as models:
        yield models


@pytest.fixture(scope="module")
def moments(models: ProjectedLog) -> list[int]:
    """Write a history of jobs and systems; return some positions, its end last."""
    dice = Random(11)
    models.commit(*(lab(name) for name in LABS), *((f"pool/{name}", PoolRegistered(None)) for name in POOLS))
    models.commit(*(registered(fqdn, lab_controller=dice.choice(LABS)) for fqdn in SYSTEMS))
    commits, ends = lives(dice, JOBS), [0]
    while part := list(islice(commits, 20)):
        happened = [one for commit in part for one in commit]
        ends.append(models.commit(*happened, partition=dice.choice(PARTITIONS))[-1])
        models.commit(*(one for _ in range(10) for one in anything(dice, SYSTEMS)))
    return [*dice.sample(ends, 5), models.commit(lab("last"))[-1]]


def jobs(models: ProjectedLog, at: int, **filters: Any) -> list[dict[str, Any]]:
    """Return all pages of the list."""
    return models.rows("jobs", at=at, job_ids=found_jobs(models, at, **filters))


@pytest.mark.parametrize("owner", [None, *OWNERS, "nobody"])
def test_jobs__of_any_owner_group_and_state__are_those_of_the_whole_list(
    models: ProjectedLog, moments: list[int], owner: str | None
) -> None:
    seen = 0
    for at in moments:
        everything = jobs(models, at)
        for group, state, partition in product({*GROUPS, None}, (None, *RECIPE.states), (None, 1, 2, 3)):
            filters = {"owner": owner, "group": group, "state": state, "partition": partition}
            wanted = [row for row in everything if _matches(row, filters)]
            assert jobs(models, at, **filters) == wanted, f"{filters} as of {at}"
            seen += len(wanted)
    assert seen > 50 or owner == "nobody"


@pytest.mark.parametrize(
    "filters", [{}, *({"usage": usage} for usage in ("idle", "pending", "running"))], ids=str
)
def test_systems__of_any_kind__are_those_of_the_whole_list(
    models: ProjectedLog, moments: list[int], filters: dict[str, str]
) -> None:
    seen = 0
    for at in moments:
        everything = models.rows("systems", **ANY_SYSTEM, at=at, after="", limit=ALL)
        assert len(everything) == (len(SYSTEMS) if at else 0)
        for condition, name, pool in product((None, *CONDITIONS), (None, *LABS), (None, *POOLS, "none")):
            asked = {**filters, "condition": condition, "lab_controller": name, "pool": pool}
            wanted = [row for row in everything if _matches(row, asked)]
            found = models.rows("systems", **{**ANY_SYSTEM, **asked}, at=at, after="", limit=ALL)
            assert found == wanted, f"{asked} as of {at}"
            seen += len(wanted)
    assert seen


def test_systems__with_a_filter__come_by_pages(models: ProjectedLog, moments: list[int]) -> None:
    asked = {**ANY_SYSTEM, "owner": "ada", "at": moments[-1]}
    found, after = [], ""
    while page := models.rows("systems", **asked, after=after, limit=PAGE):
        found += page
        after = page[-1]["fqdn"]
    assert [row["fqdn"] for row in found] == sorted(SYSTEMS)
    assert models.rows("systems", **{**asked, "owner": "bob"}, after="", limit=PAGE) == []


def _matches(row: dict[str, Any], filters: Mapping[str, str | int | None]) -> bool:
    given = {name: value for name, value in filters.items() if value is not None}
    pool = given.pop("pool", None)
    return (pool is None or pool in row["pools"]) and all(row[name] == value for name, value in given.items())
