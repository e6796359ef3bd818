from __future__ import annotations

from collections.abc import Iterator

import pytest

from replay.audit import from_json
from tests.acceptance.people import people_of
from tests.acceptance.read_models import assert_read_models_match_log
from tests.acceptance.stage import Stage
from tests.harness.pool import ServerPool
from tests.harness.running import SAMPLES, Running, running
from tests.replay.audit.sound import assert_at_rest, assert_sound


@pytest.fixture(scope="package")
def service(servers: ServerPool) -> Iterator[Running]:
    """One running service with the sample lab; every test leaves it idle."""
    with servers.databases("embedded").fresh() as database, running(database) as started:
        started.do("lab", "load", str(SAMPLES / "lab.json"))
        started.make_contact()
        yield started
        started.labledger("replay", "verify")


@pytest.fixture
def stage(service: Running) -> Iterator[Stage]:
    """The stage of a test; afterwards the whole log is audited and compared with the read models."""
    with people_of(service) as people:
        stage = Stage(service, people, ".example.com")
        stage.wait_at_rest()
        stage.begin()
        yield stage
        assert stage.unread_lines() == []
    log = list(from_json(service.events()))
    assert_sound(log)
    assert_at_rest(log)
    world = assert_read_models_match_log(service, log)
    assert not world.recipes and all(system.usage == "idle" for system in world.systems.values())
