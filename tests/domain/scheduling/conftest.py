from __future__ import annotations

import pytest

from tests.domain.scheduling.host_requirements import ANYTHING
from tests.domain.scheduling.labs import one_lab
from tests.domain.scheduling.world import World


@pytest.fixture
def world() -> World:
    return one_lab()


@pytest.fixture
def running(world: World) -> int:
    """Return a recipe that was just placed on system a."""
    world.add_idle("a")
    recipe_id = world.submit(ANYTHING.text)
    world.settle()
    assert world.states(recipe_id) == ["waiting"]
    return recipe_id
