"""Serving processes that are killed while they store power settings, and a search for a secret of these.

An event and the settings that it is about are stored together or not at all, and a repeated request changes
them once.
"""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from signal import SIGKILL

import httpx
import pytest

from api.intake.beaker_columns import KINDS
from tests.harness.databases import TestDatabase
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.processes import children
from tests.harness.relay import Relay
from tests.harness.running import Running, running
from tests.harness.server_socket import server_socket
from tests.harness.sessions import Owner, end_sessions
from tests.harness.waiting import wait_until
from tests.intake.beaker_lab import table
from tests.rest.systems.tables_with import tables_with
from tests.soak.machine import send
from tests.store.faults.stores import through

pytestmark = pytest.mark.soak

LABS = ("lab.one.example.com", "lab.two.example.com")
SYSTEMS = tuple(f"host-{number:03}.{lab}" for lab in LABS for number in range(60))
# Longer than a poll of the log takes: the worker dies before the answer of the database arrives.
ANSWER_SECONDS = 1.0
# About the time of an import that nobody kills.
IMPORT_SECONDS = 0.8
SEED = 5
SECRET = "swordfish-of-the-soak"

# One statement, so that events and settings are of the same moment.
STATE = b"""
SELECT s.fqdn, (SELECT count(*) FROM log.events AS e
                WHERE e.originator_id = 'system/' || s.fqdn AND e.topic = 'system.power-changed'),
       (SELECT p.address FROM secret.power_settings AS p WHERE p.system = s.fqdn)
FROM unnest(%s::text[]) AS s (fqdn)
"""

State = dict[str, tuple[int, str | None]]
"""The number of events and the stored address of each system."""


@dataclass
class Site:
    service: Running
    to_database: Relay
    owner: Owner
    chance: Random = field(default_factory=lambda: Random(SEED))

    def state(self) -> State:
        rows = self.owner.execute(STATE, (list(SYSTEMS),)).fetchall()
        return {fqdn: (count, address) for fqdn, count, address in rows}

    def kill_worker(self) -> None:
        """Kill the process that serves requests; its parent starts another one."""
        master = self.service.processes["serve"].pid
        for pid in wait_until(lambda: children(master), "a worker"):
            send(pid, SIGKILL)


@pytest.fixture
def site(database: TestDatabase, owner: Owner) -> Iterator[Site]:
    with closing(Relay(partial(server_socket, database.service_url))) as relay:
        behind = replace(database, service_url=through(database.service_url, relay.port))
        with running(behind) as service:
            put_lab(service)
            yield Site(service, relay, owner)


def put_lab(service: Running) -> None:
    """Add two labs in two partitions, with their systems: an import is two commits."""
    columns = KINDS["system"].exported
    rows = []
    for fqdn in SYSTEMS:
        cells = {"fqdn": fqdn, "lab_controller": fqdn.partition(".")[2], "owner": "admin"}
        cells |= {"arch": "x86_64", "status": "Manual", "type": "Machine"}
        rows.append([cells.get(column, "") for column in columns])
    with service.client() as admin:
        for lab in LABS:
            admin.put(f"/lab-controllers/{lab}", json={}).raise_for_status()
        admin.put("/partitions/two", json={}).raise_for_status()
        second = {"lab_controllers": LABS[1:]}
        admin.put("/partitions/two/configuration", json=second).raise_for_status()
        systems = {"files": [{"name": "system.csv", "text": table("system", rows)}]}
        admin.post("/imports/beaker", json=systems).raise_for_status()


Ask = Callable[[httpx.Client, str], httpx.Response]


def put_one(client: httpx.Client, address: str) -> httpx.Response:
    """Set the power settings of the first system."""
    settings = {"type": "ilo", "address": address, "secret": f"secret of {address}"}
    return client.put(f"/systems/{SYSTEMS[0]}/power", json=settings)


def import_all(client: httpx.Client, address: str) -> httpx.Response:
    """Set those of all systems."""
    # The columns of an export: fqdn, address, user, secret, id, type.
    rows = [[fqdn, address, "root", f"secret of {address}", "", "ilo"] for fqdn in SYSTEMS]
    body = {"files": [{"name": "power.csv", "text": table("power", rows)}]}
    # The relay recognises an append by the address, so no other statement may have it.
    key = address.removeprefix("bmc-")
    return client.post("/imports/beaker", json=body, headers={"Idempotency-Key": key})


def asked_once(service: Running, ask: Ask, address: str) -> httpx.Response | None:
    """Return the answer to a request, None if its server has died."""
    headers = {"Authorization": f"Bearer {service.token}"}
    with (
        suppress(httpx.TransportError),
        httpx.Client(base_url=service.url, headers=headers, timeout=60, **LOCAL_HTTP) as client,
    ):
        return ask(client, address)
    return None


def asked(service: Running, ask: Ask, address: str) -> httpx.Response:
    """Repeat a request until it has an answer."""
    return wait_until(lambda: asked_once(service, ask, address), f"an answer to {address}")


def killed_before_commit(site: Site, address: str) -> None:
    """Kill the worker while its append is on its way: the append arrives when its sender is dead."""
    # No event has the address, so no statement of a projector has it.
    held = site.to_database.hold(address.encode())
    wait_until(held.caught.is_set, "an append")
    site.kill_worker()
    site.to_database.heal()
    held.release()


def committed(site: Site, address: str) -> None:
    """Let an append be committed, and hold back the answer of the database for a while."""
    before, held = site.state(), site.to_database.hold(address.encode())
    wait_until(held.caught.is_set, "an append")
    site.to_database.delay(ANSWER_SECONDS)
    held.release()
    wait_until(lambda: site.state() != before, "the commit")


def killed_after_commit(site: Site, address: str) -> None:
    committed(site, address)
    site.kill_worker()
    site.to_database.heal()


def killed_before_second_commit(site: Site, address: str) -> None:
    """Kill the worker while the append of the second partition is on its way."""
    committed(site, address)
    killed_before_commit(site, address)


def killed_after_second_commit(site: Site, address: str) -> None:
    committed(site, address)
    site.to_database.heal()
    killed_after_commit(site, address)


def killed_at_random(site: Site, _address: str) -> None:
    time.sleep(site.chance.uniform(0, IMPORT_SECONDS))
    site.kill_worker()


OF_ONE = (killed_before_commit, killed_after_commit)
OF_IMPORT = (*OF_ONE, killed_before_second_commit, killed_after_second_commit, *[killed_at_random] * 4)
ROUNDS = (*((put_one, kill) for kill in OF_ONE), *((import_all, kill) for kill in OF_IMPORT))


def test_power__worker_killed_around_its_commits__event_and_settings_agree_and_each_is_once(
    site: Site,
) -> None:
    for number, (ask, kill) in enumerate(ROUNDS):
        address, before = f"bmc-{number}", site.state()
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(asked_once, site.service, ask, address)
            kill(site, address)
            answer = first.result()
        # Without an answer the client repeats its request.
        assert answer is None or kill is killed_at_random, f"{kill.__name__} came too late"
        assert_changed(before, site.state(), address)
        repeated = asked(site.service, ask, address)
        assert repeated.status_code == 200, repeated.text
        after = site.state()
        assert_changed(before, after, address)
        done = {fqdn for fqdn, (_, stored) in after.items() if stored == address}
        assert done == set(SYSTEMS[:1] if ask is put_one else SYSTEMS)
        if ask is import_all:
            # Also those of a commit without an answer.
            assert {each["outcome"] for each in repeated.json()["systems"]} == {"changed"}
        again = asked(site.service, ask, address)
        assert (again.status_code, site.state()) == (200, after)


def assert_changed(before: State, after: State, address: str) -> None:
    """Check that each system has either one event more and the new settings, or neither."""
    for fqdn, (count, stored) in after.items():
        is_new = before[fqdn] != (count, stored)
        assert (count, stored) == ((before[fqdn][0] + 1, address) if is_new else before[fqdn]), fqdn


def test_secret__of_power_settings__is_in_no_row_log_error_or_output(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, database: TestDatabase, owner: Owner
) -> None:
    given = tmp_path / "secret"
    given.write_text(f"{SECRET}\n", encoding="utf-8")
    export = tmp_path / "power.csv"
    export.write_text(power_table("bmc"), encoding="utf-8")
    services = ("serve", "scheduler", "projector", "notifier")
    with running(database, *services, LABLEDGER_LOG_LEVEL="debug") as service:
        put_lab(service)
        answers = [*answers_with_secret(service, owner)]
        set_it = ("system", "power", "set", SYSTEMS[1], "ilo", "bmc", "--secret-file", str(given))
        for command in (
            set_it,
            ("import", "beaker", str(export), "--dry-run"),
            ("import", "beaker", str(export)),
            ("system", "power", "show", SYSTEMS[1]),
            ("system", "show", SYSTEMS[1]),
            ("events",),
        ):
            answers += [service.labledger(*command, "--json"), service.labledger(*command)]
        wrong = (*set_it[:4], "no type", *set_it[5:])
        answers += [service.labledger(*wrong, "--json", status=1), service.labledger(*wrong, status=1)]
        assert tables_with(service, SECRET) == ["secret.power_settings"]
    logged = "".join(capfd.readouterr())
    assert SYSTEMS[0] in "".join(answers) and "POST /imports/beaker" in logged
    for hidden in (SECRET, SECRET.encode().hex(), b64encode(SECRET.encode()).decode()):
        assert hidden not in logged
        assert [answer for answer in answers if hidden in answer] == []


def power_table(address: str, *more: Sequence[str]) -> str:
    return table("power", [[fqdn, address, "root", SECRET, "", "ilo"] for fqdn in SYSTEMS] + [*more])


def answers_with_secret(service: Running, owner: Owner) -> Iterator[str]:
    """Yield the answers to requests with the secret, correct and wrong ones, also while processes die."""
    path, settings = f"/systems/{SYSTEMS[0]}/power", {"type": "ilo", "address": "bmc", "secret": SECRET}
    missing = (["no.such", "bmc", "root", SECRET, "", "ilo"], [SYSTEMS[0], "bmc", "root", SECRET, "", ""])
    rest = f"{SYSTEMS[0]},bmc,root,part,of,{SECRET},,ilo,too,many"
    imports = (power_table("bmc", *missing), f"{power_table('bmc')}power,{rest}\n", f'csv_type,"{SECRET}')
    with service.client() as admin, ThreadPoolExecutor(1) as pool:
        token = admin.post("/tokens", json={"user": "admin", "role": "auditor"}).json()["token"]
        with service.client(token) as auditor:
            yield auditor.put(path, json=settings).text
        yield admin.put(path, json=settings, headers={"If-Match": '"99"'}).text
        yield admin.put("/systems/no.such/power", json=settings).text
        for wrong in ({"type": "a b"}, {"port": [SECRET]}, {"secret": SECRET * 99}, {"other": SECRET}):
            yield admin.put(path, json={**settings, **wrong}).text
        for body in (f'{{"secret": "{SECRET}"', f'["{SECRET}"]', f'{{"secret": "{SECRET}", "secret": 1}}'):
            yield admin.put(path, content=body, headers={"Content-Type": "application/json"}).text
        for text in imports:
            body = {"files": [{"name": "power.csv", "text": text}]}
            yield admin.post("/imports/beaker", json=body, headers={"Idempotency-Key": "k"}).text
        for address in ("bmc-1", "bmc-2", "bmc-3"):
            asked_for = pool.submit(asked, service, partial(put_settings, settings), address)
            end_sessions(owner, "labledger%")
            for pid in children(service.processes["serve"].pid):
                send(pid, SIGKILL)
            yield asked_for.result().text
        yield admin.put(path, json=settings).text
        for shown in (path, "/power-settings", f"/systems/{SYSTEMS[0]}/history", "/metrics"):
            yield admin.get(shown).text


def put_settings(settings: dict[str, str], client: httpx.Client, address: str) -> httpx.Response:
    return client.put(f"/systems/{SYSTEMS[0]}/power", json={**settings, "address": address})
