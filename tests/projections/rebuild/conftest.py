"""A log in which much has happened."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.projections.telling import Told


@pytest.fixture
def story(told: Told) -> Told:
    """Something of everything, and systems that a good deal happened to."""
    from tests.projections.random_history import project_in_pages, write_history
    from tests.projections.recipe_lives import lives
    from tests.projections.stories import tell_a_story

    tell_a_story(told)
    dice = Random(5)
    write_history(told, dice)
    for commit in lives(dice, first=101, recipes=10):
        told.write(*commit)
    project_in_pages(told, list(told.unread()), dice)
    return told
