"""Fixtures with the library's stock recorder and with ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest

from tests.harness.databases import TestDatabase
from tests.store.faults.proxy import Proxy, proxy
from tests.store.faults.stores import Store, ours, stock, through

OPEN = {"stock": stock, "ours": ours}


# The behaviour of the stock recorder cannot change without a new version of the library.
@pytest.fixture(params=[pytest.param("stock", marks=pytest.mark.soak), "ours"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(database: TestDatabase, kind: str) -> Iterator[Store]:
    with OPEN[kind](database) as opened:
        yield opened


@pytest.fixture
def way(database: TestDatabase) -> Iterator[Proxy]:
    with proxy(database.owner_url) as made:
        yield made


@pytest.fixture
def far_store(database: TestDatabase, kind: str, way: Proxy) -> Iterator[Store]:
    """Yield the store behind a proxy."""
    near = database.owner_url if kind == "stock" else database.service_url
    opened: AbstractContextManager[Store] = OPEN[kind](database, through(near, way.port))
    with opened as store:
        yield store
