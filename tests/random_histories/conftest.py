"""Yield one database for all histories of a test, which is emptied before each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.harness.databases import TestDatabase
from tests.in_process.environment import Environment


@pytest.fixture
def environment(database: TestDatabase) -> Iterator[Environment]:
    with closing(Environment(database)) as environment:
        yield environment
