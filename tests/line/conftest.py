from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.harness.databases import TestDatabase
from tests.harness.running import SAMPLES, Running, running


@pytest.fixture
def line(database: TestDatabase) -> Iterator[Running]:
    """All services, freshly started, with the sample lab loaded."""
    with running(database) as started:
        started.labledger("lab", "load", str(SAMPLES / "lab.json"))
        yield started
