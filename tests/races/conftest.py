from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.in_process.environment import Environment, Instance
from tests.races.stage import furnish


@pytest.fixture
def scene(environment: Environment) -> Iterator[Instance]:
    with environment.scene() as scene:
        furnish(scene)
        scene.scheduler.begin()
        yield scene
        scene.scheduler.die()
