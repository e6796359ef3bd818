from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.in_process.environment import Environment
from tests.use_cases.town import Town, furnish


@pytest.fixture
def town(environment: Environment) -> Iterator[Town]:
    with environment.scene() as scene:
        yield furnish(scene)
