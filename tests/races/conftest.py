from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.in_process.environment import Environment, Instance
from tests.races.stage import furnished_scene


@pytest.fixture
def scene(environment: Environment) -> Iterator[Instance]:
    with furnished_scene(environment) as scene:
        yield scene
