"""Read models of the claims of waiting recipes to busy systems."""

from __future__ import annotations

from typing import Any

import pytest

from domain.recipe.claim import ENDED, OVER
from domain.recipe.events import RecipeClaimed, RecipeClaimEnded
from projections.sql import ANY_CLAIM
from tests.projections.happened import host, lab, of, queued, registered, submitted
from tests.projections.projected_log import ProjectedLog


def claims(models: ProjectedLog, **query: Any) -> list[tuple[int, str, bool]]:
    found = models.rows("claims", **{**ANY_CLAIM, "after": 0, "limit": 100, **query})
    return [(row["recipe_id"], row["system"], row["forced"]) for row in found]


@pytest.fixture
def waiting(models: ProjectedLog) -> ProjectedLog:
    """Let recipes 1 and 2 wait in a lab with the systems `a` and `b`."""
    models.commit(lab(), registered("a"), registered("b"), *submitted(host(1), host(2)), *queued(1, 2))
    return models


def claim(models: ProjectedLog, number: int, fqdn: str, *, forced: bool = False) -> int:
    return models.commit(*of("recipe", number, RecipeClaimed(fqdn, forced)))[0]


def test_claim__begun_and_over__is_shown_from_its_beginning_to_its_end(waiting: ProjectedLog) -> None:
    begun = claim(waiting, 1, "a")
    (over,) = waiting.commit(*of("recipe", 1, RecipeClaimEnded("a", OVER)))
    assert [claims(waiting, at=at) for at in (begun - 1, begun, over)] == [[], [(1, "a", False)], []]


def test_claim__ended_and_the_system_claimed_in_one_commit__belongs_to_the_forcing_recipe(
    waiting: ProjectedLog,
) -> None:
    begun = claim(waiting, 1, "a")
    waiting.commit(
        *of("recipe", 1, RecipeClaimEnded("a", ENDED)), *of("recipe", 2, RecipeClaimed("a", forced=True))
    )
    assert claims(waiting) == [(2, "a", True)]
    assert claims(waiting, at=begun) == [(1, "a", False)]


def test_claim__begun_again_in_the_commit_of_its_end__is_a_row_of_its_own(waiting: ProjectedLog) -> None:
    claim(waiting, 1, "a")
    events = RecipeClaimEnded("a", ENDED), RecipeClaimed("b", forced=True)
    (_, again) = waiting.commit(*of("recipe", 1, *events))
    (row,) = waiting.rows("claims", **ANY_CLAIM, after=0, limit=1)
    assert (row["system"], row["since_position"], row["job_id"], row["owner"]) == ("b", again, 1, "ada")


@pytest.mark.parametrize(
    ("query", "recipe_ids"),
    [
        ({}, [1, 2]),
        ({"after": 1}, [2]),
        ({"limit": 1}, [1]),
        ({"system": "b"}, [2]),
        ({"recipe_id": 1}, [1]),
        ({"hidden": ["a", "c"]}, [2]),
    ],
)
def test_claims__filters_pages_and_hidden_systems__select_rows(
    waiting: ProjectedLog, query: dict[str, Any], recipe_ids: list[int]
) -> None:
    claim(waiting, 1, "a")
    claim(waiting, 2, "b")
    assert [recipe_id for recipe_id, _, _ in claims(waiting, **query)] == recipe_ids


def test_claims__new_projector__closes_the_stored_claim(waiting: ProjectedLog) -> None:
    claim(waiting, 1, "a")
    waiting.begin_again()
    waiting.commit(*of("recipe", 1, RecipeClaimEnded("a", OVER)))
    assert claims(waiting) == []
