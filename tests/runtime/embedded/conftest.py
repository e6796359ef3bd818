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
    remove(*made)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A cluster for those tests of a module that need no new one; a test leaves it running or stopped."""
    with folders.public_folder() as folder:
        made = Cluster(folder / "postgresql", settings=FAST)
        yield made
        remove(made)


@pytest.fixture
def new_cluster(make_cluster: MakeCluster, open_folder: Path) -> Cluster:
    return make_cluster(open_folder / "postgresql")


def remove(*clusters: Cluster) -> None:
    """Remove clusters, and check that none of their servers lives on."""
    pids = [cluster.pid for cluster in clusters if cluster.is_running()]
    for cluster in clusters:
        cluster.remove()
    assert not [pid for pid in pids if is_alive(pid)]
