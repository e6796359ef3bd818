from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.in_process.environment import Environment
from tests.ldap.slapd import Slapd, slapd
from tests.use_cases.town import Town, furnish


@pytest.fixture
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slapd]:
    """Return an LDAP server with the people of the town and some others; ann is in the group `kernel`."""
    with slapd(tmp_path_factory.mktemp("slapd"), ["ann", "bob", "eve", "root", "zoe"]) as server:
        yield server


@pytest.fixture
def town(environment: Environment) -> Iterator[Town]:
    with environment.scene() as scene:
        yield furnish(scene)
