from __future__ import annotations

from collections.abc import Iterator

import pytest

from replay.audit import from_recorded
from tests.domain.scheduling.contents import check_indexes
from tests.domain.scheduling.host_requirements import ANYTHING
from tests.domain.scheduling.labs import one_lab
from tests.domain.scheduling.queue_labs import NAMES
from tests.domain.scheduling.world import World
from tests.replay.audit.sound import assert_at_rest, assert_sound


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


@pytest.fixture
def lab(world: World) -> Iterator[World]:
    """Return a lab of eight idle systems; in the end the audit must find no violation."""
    world.add_idle(*NAMES)
    yield world
    world.settle()
    check_indexes(world.partition)
    assert_sound(list(from_recorded(world.log)))
    assert_at_rest(list(from_recorded(world.log)))
