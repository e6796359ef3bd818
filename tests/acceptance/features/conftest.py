from __future__ import annotations

import itertools
from collections.abc import Iterator

import httpx
import pytest

from replay.audit import from_json
from tests.acceptance.observer import LABS
from tests.acceptance.people import people_of
from tests.acceptance.read_models import assert_read_models_match_log
from tests.acceptance.stage import Stage
from tests.harness.pool import ServerPool
from tests.harness.running import Running, running
from tests.replay.audit.sound import assert_at_rest, assert_sound

NUMBERS = itertools.count(1)
TREE = {"name": "Linux", "family": "Linux1", "version": "0", "arch": "x86_64"}
# Expired watchdogs and reservations are noticed at once.
LOOP_SECONDS = "0.2"


@pytest.fixture(scope="package")
def service(servers: ServerPool) -> Iterator[Running]:
    """One running service for all tests here: two empty labs, and one distro tree in both."""
    with (
        servers.databases("embedded").fresh() as database,
        running(database, LABLEDGER_CONSISTENCY_SECONDS=LOOP_SECONDS) as started,
        started.client() as admin,
    ):
        for user in ("alice", "lab-ops"):
            admin.put(f"/users/{user}", json={})
        for fqdn in LABS.values():
            admin.put(f"/lab-controllers/{fqdn}", json={})
        urls = {fqdn: [f"http://{fqdn}/linux/"] for fqdn in LABS.values()}
        assert admin.put("/distro-trees/1", json={**TREE, "urls": urls}).is_success
        started.make_contact()
        yield started
        started.labledger("replay", "verify")


@pytest.fixture(scope="package")
def people(service: Running) -> Iterator[dict[str, httpx.Client]]:
    with people_of(service) as clients:
        yield clients


@pytest.fixture
def stage(service: Running, people: dict[str, httpx.Client]) -> Iterator[Stage]:
    """The stage of a test; afterwards the whole log is audited and compared with the read models."""
    stage = Stage(service, people, f".t{next(NUMBERS)}.example.com")
    yield stage
    unread = stage.unread_lines()
    stage.leave()
    log = list(from_json(service.events()))
    assert_sound(log)
    assert_at_rest(log)
    assert_read_models_match_log(service, log)
    assert unread == []
