from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.in_process.bench import Bench
from tests.use_cases.asking import Town, furnish


@pytest.fixture
def town(bench: Bench) -> Iterator[Town]:
    with bench.scene() as scene:
        yield furnish(scene)
