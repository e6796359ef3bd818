"""Read models over a fresh database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.harness.databases import TestDatabase
    from tests.projections.telling import Told


@pytest.fixture
def told(database: TestDatabase) -> Iterator[Told]:
    # Imported here, so that tests of pure folds run without a database driver.
    from tests.projections.telling import telling

    with telling(database) as told:
        yield told
