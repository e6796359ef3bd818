"""A separate server for tests that kill it, with both sets of binaries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from api import database_setup
from runtime.embedded.cluster import Cluster
from runtime.settings import Settings
from tests.harness.servers import FAST, cluster, system_binaries

# The operating system must have a commit before it is acknowledged. Only a loss of power could show the
# effect of fsync.
SETTINGS = {**FAST, "synchronous_commit": "on"}


@dataclass(frozen=True)
class Mortal:
    cluster: Cluster
    url: str


@pytest.fixture(params=["embedded", pytest.param("system", marks=pytest.mark.soak)])
def mortal(request: pytest.FixtureRequest) -> Iterator[Mortal]:
    binaries = system_binaries() if request.param == "system" else None
    if request.param == "system" and binaries is None:
        pytest.skip("no PostgreSQL of the system that is new enough")
    with cluster(SETTINGS, binaries) as made:
        url = made.start().owner_url
        database_setup.migrate(Settings.read({}, database_url=url))
        yield Mortal(made, url)
