from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.harness.pool import ServerPool
from tests.harness.running import SAMPLES, Running, running


@pytest.fixture(scope="package")
def line(servers: ServerPool) -> Iterator[Running]:
    """One running Labledger with the sample lab for all tests here, which leave it as they found it."""
    with servers.databases("embedded").fresh() as database, running(database) as started:
        started.labledger("lab", "load", str(SAMPLES / "lab.json"))
        yield started


@pytest.fixture
def client(line: Running) -> Iterator[httpx.Client]:
    with line.client() as admin:
        yield admin


@pytest.fixture(scope="session")
def smoke() -> bytes:
    return (SAMPLES / "kernel-smoke.xml").read_bytes()
