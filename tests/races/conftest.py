from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.in_process.bench import Bench, Scene
from tests.races.stage import furnish


@pytest.fixture
def scene(bench: Bench) -> Iterator[Scene]:
    with bench.scene() as scene:
        furnish(scene)
        scene.desk.begin()
        yield scene
        scene.desk.die()
