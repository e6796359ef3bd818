"""`labledger up` as a person runs it: started, used, started twice, stopped, started again."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from domain.directory.events import PartitionCreated
from domain.partition_numbers import EVERYBODY
from store.event_log import EventLog
from tests.acceptance.up import Up, up
from tests.harness.databases import TestDatabase
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.running import SAMPLES
from tests.harness.waiting import wait_until
from tests.workers.lab import put


@pytest.mark.soak
def test_up__demo_used_stopped_and_started_again__everything_is_still_there(data: Path) -> None:
    with up(data, "--demo") as first:
        assert "new data in" in first.text()
        assert "ll_" not in first.text(), "a token is printed, and other users may be able to read the file"
        assert f"the admin token is saved in {data / 'connection.json'}" in first.text()
        connection = json.loads((data / "connection.json").read_text())
        assert (data / "connection.json").stat().st_mode & 0o777 == 0o600
        # The demo lab is there before anybody gets the token.
        assert "store-01" in first.labledger("systems")
        assert not (data / "starting").exists()
        shown = first.labledger("submit", "--wait", str(SAMPLES / "kernel-smoke.xml"))
        assert "completed" in shown
        children = _processes_naming(str(data))
        assert len(children) >= 4
        assert first.stop() == 0
    assert _processes_naming(str(data)) == []

    with up(data) as again:
        assert "using existing data" in again.text()
        assert "admin token" not in again.text()
        assert json.loads((data / "connection.json").read_text())["token"] == connection["token"]
        assert "completed" in again.labledger("jobs")
        assert "recipe.completed" in again.labledger("events", "--subject", "recipe/1")


@pytest.mark.soak
def test_up__twice_on_the_same_data__second_says_where_the_first_is(data: Path) -> None:
    with up(data) as first:
        url = json.loads((data / "connection.json").read_text())["url"]
        second = Up(data)
        assert second.process.wait(60) == 1
        assert "already" in second.text() and url in second.text()
        assert first.process.poll() is None


@pytest.mark.soak
def test_up__killed__leaves_nothing_and_starts_again(data: Path) -> None:
    with up(data) as first:
        first.process.kill()
        first.process.wait()
        wait_until(lambda: not _services(str(data)), "the services to end with it")
    with up(data) as again:
        assert "using existing data" in again.text()


@pytest.mark.soak
def test_up__partition_created_later__gets_a_scheduler_that_ends_with_up(
    data: Path, database: TestDatabase, log: EventLog
) -> None:
    urls = {
        "LABLEDGER_DATABASE_URL": database.service_url,
        "LABLEDGER_OWNER_DATABASE_URL": database.owner_url,
    }
    with up(data, **urls) as started:
        put(log, [("partition/west", PartitionCreated(2))], partition=EVERYBODY)
        url = json.loads((data / "connection.json").read_text())["url"]

        def schedulers() -> dict[str, bool]:
            checks = httpx.get(f"{url}/readyz", **LOCAL_HTTP).json()["checks"]
            return {name: one["ok"] for name, one in checks["scheduler"]["partitions"].items()}

        wait_until(lambda: schedulers() == {"default": True, "west": True}, "both schedulers")
        assert started.stop() == 0
    assert _services(str(data)) == []


def _processes_naming(text: str) -> list[str]:
    """Return the command lines of live processes that mention a text, there or in LABLEDGER_DATA."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().decode("utf-8", "replace").replace("\0", " ")
            environment = (folder / "environ").read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if text in line or f"LABLEDGER_DATA={text}" in environment:
            found.append(line)
    return found


def _services(data: str) -> list[str]:
    return [line for line in _processes_naming(data) if "cli" in line]
