"""An attacker with the services' password: other processes keep reading, and soon can write again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from store.datastore import connect
from tests.harness.appends import APPEND_NOTHING
from tests.harness.databases import TestDatabase
from tests.harness.running import Running, running
from tests.harness.waiting import wait_until

pytestmark = pytest.mark.soak


@pytest.fixture
def service(database: TestDatabase) -> Iterator[Running]:
    with running(database) as started:
        yield started


def all_live(service: Running) -> bool:
    return all(process.poll() is None for process in service.processes.values())


def writes(service: Running, name: str) -> bool:
    with service.client() as client:
        return client.put(f"/users/{name}", json={"roles": ["submitter"]}).is_success


def test_services__rubbish_is_notified__all_processes_live(service: Running, database: TestDatabase) -> None:
    with closing(connect(database.service_url)) as attacker:
        for number in range(500):
            attacker.execute("SELECT pg_notify('labledger_log', %s)", (f"rubbish {number}",))
    assert writes(service, "bystander")
    service.wait_ready()
    assert all_live(service)


def test_services__somebody_keeps_the_lock_of_appends__others_read_and_write_again_soon(
    service: Running, database: TestDatabase
) -> None:
    with closing(connect(database.service_url)) as attacker:
        attacker.execute("SET idle_in_transaction_session_timeout = 0")
        attacker.execute("BEGIN")
        attacker.execute(APPEND_NOTHING)
        assert not writes(service, "early"), "it waits its turn in vain"
        with service.client() as client:
            assert client.get("/users").status_code == 200
            assert "append hangs" in client.get("/readyz").text
        wait_until(lambda: writes(service, "late"), "the attacker to be ended")
        with pytest.raises(psycopg.OperationalError):
            attacker.execute("SELECT 1")
    service.wait_ready()
    assert all_live(service)
