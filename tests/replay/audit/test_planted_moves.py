"""Planted faults in the moves of recipes and systems: each is found under the name of its invariant."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.recipe import events as recipe_events
from domain.system import events as system_events
from tests.replay.audit.moves import (
    only,
    pending,
    queued,
    step,
)
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import Story

Plant = Callable[[Story], None]


def finished_recipe_changes(story: Story) -> None:
    story.complete(1, "a")
    story.commit(("recipe/1", recipe_events.WatchdogSet(seconds=60)))


def recipe_skips_a_state(story: Story) -> None:
    story.commit(*step(1, "a", "running"))


def recipe_begins_twice(story: Story) -> None:
    story.job(1, {1: only("a")})


def recipe_was_never_new(story: Story) -> None:
    story.commit(queued(77))


def system_skips_pending(story: Story) -> None:
    story.commit(pending("b"))
    story.commit(pending("b"))


def system_passes_from_recipe_to_recipe(story: Story) -> None:
    story.commit(("system/a", system_events.SystemInstalling(recipe_id=2)))


def system_runs_for_a_recipe_at_once(story: Story) -> None:
    story.commit(("system/b", system_events.SystemRunning(recipe_id=2)))


def version_is_left_out(story: Story) -> None:
    story._versions["recipe/1"] += 1
    story.progress(1, "a", "installing")


@pytest.mark.parametrize(
    ("plant", "subject", "beside"),
    [
        (finished_recipe_changes, "recipe/1", set()),
        (recipe_skips_a_state, "recipe/1", set()),
        (recipe_begins_twice, "recipe/1", {"in_step"}),
        (recipe_was_never_new, "recipe/77", set()),
        (system_skips_pending, "system/b", set()),
        (system_passes_from_recipe_to_recipe, "system/a", {"in_step"}),
        (system_runs_for_a_recipe_at_once, "system/b", {"in_step"}),
        (version_is_left_out, "recipe/1", set()),
    ],
)
def test_legal_transitions__planted_move__is_found(plant: Plant, subject: str, beside: set[str]) -> None:
    story = opening()
    plant(story)
    assert_caught(story, "legal_transitions", subject, beside=beside)
