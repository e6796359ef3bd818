"""Read models over a fresh database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.harness.databases import TestDatabase
    from tests.projections.projected_log import ProjectedLog


@pytest.fixture
def models(database: TestDatabase) -> Iterator[ProjectedLog]:
    # Imported here, so that tests of pure folds run without a database driver.
    from tests.projections.projected_log import projected_log

    with projected_log(database) as models:
        yield models
