from __future__ import annotations

import pytest

from tests.domain.scheduling.world import World


@pytest.fixture
def world() -> World:
    """One lab with one tree, and no system yet."""
    made = World()
    made.add_lab("lab-1")
    made.put_tree(1, "x86_64", ["lab-1"])
    return made
