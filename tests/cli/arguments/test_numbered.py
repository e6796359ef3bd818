"""Ids that are written as in Beaker."""

from __future__ import annotations

import click
import pytest

from cli.arguments.numbered import JOB_ID, RECIPE_ID, SET_ID, TASK_ID, JobOrRecipe


@pytest.mark.parametrize(
    ("kind", "text"),
    [(JOB_ID, "J:20"), (SET_ID, "rs:20"), (RECIPE_ID, "R:20"), (TASK_ID, "T:20"), (JOB_ID, "20")],
)
def test_id__with_or_without_letters__is_the_number(kind: click.ParamType[int], text: str) -> None:
    assert kind.convert(text, None, None) == 20


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("R:20", "is a recipe; must be a job: 20 or J:20"),
        ("X:20", "must be a number, or J:20 for a job, RS:20 for a recipe set"),
        ("J:", "must be a whole number of at least 1"),
        ("J:0", "must be a whole number of at least 1"),
        ("J:2147483648", "must be a whole number of at least 1"),
    ],
)
def test_id__of_something_else__is_refused_with_what_would_be_right(text: str, said: str) -> None:
    with pytest.raises(click.BadParameter, match=said):
        JOB_ID.convert(text, None, None)


@pytest.mark.parametrize(("text", "found"), [("7", ("job", 7)), ("J:7", ("job", 7)), ("r:7", ("recipe", 7))])
def test_job_or_recipe__number_alone__is_a_job(text: str, found: tuple[str, int]) -> None:
    assert JobOrRecipe().convert(text, None, None) == found
    with pytest.raises(
        click.BadParameter, match="is a task; must be a job such as 7 or a recipe such as R:7"
    ):
        JobOrRecipe().convert("T:7", None, None)
