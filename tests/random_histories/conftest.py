"""One database for all histories of a test, emptied in between."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.harness.databases import TestDatabase
from tests.in_process.bench import Bench


@pytest.fixture
def bench(database: TestDatabase) -> Iterator[Bench]:
    with closing(Bench(database)) as bench:
        yield bench
