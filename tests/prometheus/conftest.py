from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.harness.pool import ServerPool
from tests.harness.running import Running
from tests.prometheus.busy_lab import busy_lab
from tests.prometheus.exposed import Exposed, everything


@pytest.fixture(scope="package")
def service(servers: ServerPool) -> Iterator[Running]:
    """One running service for all tests here, which only read."""
    with servers.databases("embedded").fresh() as database, busy_lab(database) as started:
        yield started


@pytest.fixture
def client(service: Running) -> Iterator[httpx.Client]:
    with service.client() as admin:
        yield admin


@pytest.fixture
def exposed(client: httpx.Client) -> Exposed:
    return everything(client)
