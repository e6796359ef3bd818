"""One database for all tests here, emptied for each; two doors, as two processes of the API have them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.harness.pool import ServerPool
from tests.inside.bench import Bench
from tests.use_cases.asking import Town, furnish


@pytest.fixture(scope="package")
def bench(servers: ServerPool) -> Iterator[Bench]:
    with servers.databases("embedded").fresh() as database, closing(Bench(database, doors=2)) as bench:
        yield bench


@pytest.fixture
def town(bench: Bench) -> Iterator[Town]:
    with bench.scene() as scene:
        yield furnish(scene)
