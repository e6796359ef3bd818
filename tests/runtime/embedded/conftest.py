"""Folders that all users may enter, and clusters that are removed after their test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runtime.embedded.cluster import Cluster
from tests.harness import folders
from tests.harness.processes import is_alive
from tests.harness.servers import FAST

MakeCluster = Callable[[Path], Cluster]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    with folders.public_folder() as folder:
        yield folder


@pytest.fixture
def make_cluster(open_folder: Path) -> Iterator[MakeCluster]:
    """Return a factory of clusters, which are stopped before the folder is deleted."""
    made: list[Cluster] = []

    def make(folder: Path) -> Cluster:
        made.append(Cluster(folder, settings=FAST))
        return made[-1]

    yield make
    pids = [cluster.pid for cluster in made if cluster.is_running()]
    for cluster in made:
        cluster.remove()
    assert not [pid for pid in pids if is_alive(pid)]
