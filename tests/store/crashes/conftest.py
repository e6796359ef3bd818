"""A server of its own for tests that kill it, on both sets of binaries."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from api import root
from api.embedded.cluster import Cluster
from api.settings import Settings
from tests.harness.servers import FAST, system_binaries

# A commit must be with the operating system before it is acknowledged. That it is on the disk too is what
# fsync adds, and only a loss of power could tell.
SETTINGS = {**FAST, "synchronous_commit": "on"}


@dataclass(frozen=True)
class Mortal:
    cluster: Cluster
    url: str


@pytest.fixture(params=["embedded", "system"])
def mortal(request: pytest.FixtureRequest) -> Iterator[Mortal]:
    binaries = system_binaries() if request.param == "system" else None
    if request.param == "system" and binaries is None:
        pytest.skip("no PostgreSQL of the system that is new enough")
    with tempfile.TemporaryDirectory(prefix="labledger-tests-") as name:
        Path(name).chmod(0o755)  # PostgreSQL's user has to pass
        cluster = Cluster(Path(name) / "server", settings=SETTINGS, binaries=binaries)
        try:
            server = cluster.start()
            root.migrate(Settings.read({}, database_url=server.owner_url))
            yield Mortal(cluster, server.owner_url)
        finally:
            cluster.remove()
