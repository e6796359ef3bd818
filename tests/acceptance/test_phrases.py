"""Expansion of phrases to events; other lines stay as they are."""

from __future__ import annotations

import pytest

from tests.acceptance.phrases import expand_phrases
from tests.acceptance.transcript import lines


def test_submits__several_recipes__is_each_of_them() -> None:
    phrase = "admin submits job/2: Urgent recipe-set/3 of recipe/4, recipe/5"
    assert lines(expand_phrases(phrase)) == lines("""
        admin:
            job.submitted           job/2           owner=admin
            recipe-set.submitted    recipe-set/3    job_id=2 priority=Urgent recipe_ids=4,5
            recipe.new              recipe/4        recipe_set_id=3 distro_tree_id=1
            recipe.new              recipe/5        recipe_set_id=3 distro_tree_id=1
    """)


def test_completes__task_of_another_number__is_that_task() -> None:
    assert lines(expand_phrases("lab-ops completes recipe/4 on m2, task 1")) == lines("""
        lab-ops:
            recipe.task-completed   recipe/4        task_id=1
        lab-ops:
            recipe.completed        recipe/4
            system.pending          system/m2
    """)


@pytest.mark.parametrize("line", ["lab-ops starts recipe/1", "recipe.completed recipe/1", "lab-ops:"])
def test_line__no_phrase__stays_as_it_is(line: str) -> None:
    assert expand_phrases(line) == line
