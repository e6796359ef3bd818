from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.embedded.cluster import Cluster
from tests.harness.databases import TestDatabase
from tests.harness.folders import public_folder
from tests.harness.running import SAMPLES, Running, running


@pytest.fixture
def service(database: TestDatabase) -> Iterator[Running]:
    """All processes, freshly started, with the sample lab loaded."""
    with running(database) as started:
        started.labledger("lab", "load", str(SAMPLES / "lab.json"))
        started.make_contact()
        yield started


@pytest.fixture
def data() -> Iterator[Path]:
    """A data folder that every user may enter, so that the cluster is in it and is removed with it."""
    with public_folder() as folder:
        yield folder / "data"
        Cluster(folder / "data" / "postgresql").stop()
