from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.harness.pool import ServerPool
from tests.harness.running import Running
from tests.prometheus.busy_lab import busy_lab
from tests.prometheus.exposed import Exposed, everything
from tests.prometheus.server import Prometheus, prometheus


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


@pytest.fixture(scope="package")
def token(service: Running) -> str:
    """Return a token for `/metrics` alone, as in `docs/metrics.md`, once every metric has a value."""
    with service.client() as admin:
        everything(admin)
    service.do("user", "put", "prometheus", "--role", "metrics")
    token = service.labledger("token", "create", "prometheus", "--role", "metrics")
    with service.client(token.strip()) as limited:
        assert limited.get("/jobs").status_code == 403
    return token


@pytest.fixture(scope="module")
def scraper(service: Running, token: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    with prometheus(service, token, tmp_path_factory.mktemp("prometheus")) as started:
        yield started
