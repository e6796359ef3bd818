"""The log and its owner are those of a database on each server; promises are asked of a simulated one, too."""

from __future__ import annotations

import inspect

import pytest

from tests.harness.databases import TestDatabase
from tests.simulation.ground import SimulatedDatabase

ALL = pytest.mark.parametrize("store_database", ["embedded", "system", "simulated"], indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.get_closest_marker("promise"):
        # A mark, which counts before what the fixture says of itself.
        metafunc.definition.add_marker(ALL)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """What asks a simulated database runs in its time."""
    database = pyfuncitem.funcargs.get("store_database")
    if not isinstance(database, SimulatedDatabase):
        return None
    given = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    database.ground.run(lambda: pyfuncitem.obj(**given))
    return True


@pytest.fixture
def database(store_database: TestDatabase) -> TestDatabase:
    return store_database
