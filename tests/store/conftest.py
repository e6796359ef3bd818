"""The log and its owner are those of a database on each server."""

from __future__ import annotations

import pytest

from tests.harness.databases import TestDatabase


@pytest.fixture
def database(store_database: TestDatabase) -> TestDatabase:
    return store_database
