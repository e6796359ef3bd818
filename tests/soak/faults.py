"""Faults, one function each. A function returns when its fault is over and the service should recover."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from signal import SIGCONT, SIGKILL, SIGSTOP

import httpx

from store.lease import SCHEDULER
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.relay import Relay
from tests.harness.sessions import owner_session
from tests.harness.waiting import wait_until
from tests.soak.machine import Machine, send
from tests.soak.site import SoakSite, either

# Texts that only an append under the lease contains together.
OF_AN_APPEND = (b"recipe.scheduled", SCHEDULER.encode())
PAUSE_SECONDS = (0.5, 4.0)
DELAY_SECONDS = (0.02, 0.4)
# The API retries for five seconds before it answers.
FULL_SECONDS = 20.0
# Half of the maximum length of a whiteboard, which is written in hex.
SIZE_BYTES = 2_000
NOWHERE = {"element": "hostname", "op": "=", "value": "nowhere.example.com"}
FULL_DETAIL = "the disk of the database is full"
FULL_TITLE = "The database's disk is full"
BY_A_PROBLEM, BY_READINESS = "a problem", "readiness"
FULL_DISK_REPORTS = frozenset({BY_A_PROBLEM, BY_READINESS})
LEASES = b"SELECT name FROM log.leases WHERE name LIKE 'scheduler/%' ORDER BY name"
NEITHER = "neither"
HOLDER = b"SELECT holder, epoch FROM log.leases WHERE name = %s"


@dataclass(frozen=True)
class Struck:
    """An injected fault: its description, when it was over, and the processes that are gone for good."""

    what: str
    at: float = field(default_factory=time.time)
    gone: tuple[int, ...] = ()


Fault = Callable[[SoakSite, Random], Struck]


def kill_scheduler(site: SoakSite, chance: Random) -> Struck:
    """Kill the active scheduler of one partition; the other one takes over."""
    lease = chance.choice(_leases(site))
    name, pid = holder(site, lease)
    return _kill(f"kill -9 of the scheduler that decides ({lease}, {name})", pid)


def kill_all_schedulers(site: SoakSite, chance: Random) -> Struck:
    """Kill the schedulers of all partitions on both machines, so that no process follows the log."""
    pids = (pid for machine in site.machines for pid in _pids(machine, "scheduler"))
    return _kill("kill -9 of all schedulers", *pids)


def kill_worker(site: SoakSite, chance: Random) -> Struck:
    return _kill_one(either(site, chance), "worker")


def kill_master(site: SoakSite, chance: Random) -> Struck:
    return _kill_one(either(site, chance), "serve")


def kill_both_masters(site: SoakSite, chance: Random) -> Struck:
    return _kill("kill -9 of both gunicorn masters", *(_pid(machine, "serve") for machine in site.machines))


def kill_projectors(site: SoakSite, chance: Random) -> Struck:
    return _kill("kill -9 of both projectors", *(_pid(machine, "projector") for machine in site.machines))


def kill_notifiers(site: SoakSite, chance: Random) -> Struck:
    return _kill("kill -9 of both notifiers", *(_pid(machine, "notifier") for machine in site.machines))


def kill_lab(site: SoakSite, chance: Random) -> Struck:
    site.kill_lab()
    site.start_lab()
    return Struck("kill -9 of the lab agent")


def kill_postmaster(site: SoakSite, chance: Random) -> Struck:
    pid = wait_until(lambda: site.first.postmaster, "PostgreSQL")
    return _kill("kill -9 of the postmaster", pid)


def kill_backend(site: SoakSite, chance: Random) -> Struck:
    """Kill a backend. PostgreSQL then ends all sessions, and recovers."""
    return _kill("kill -9 of a backend of PostgreSQL", chance.choice(site.first.backends()))


def stall_database(site: SoakSite, chance: Random) -> Struck:
    return _stall(site.to_database, "the second machine and the database", chance)


def cut_database(site: SoakSite, chance: Random) -> Struck:
    return Struck(f"{site.to_database.cut()} connections to the database cut")


def delay_database(site: SoakSite, chance: Random) -> Struck:
    return _delay(site.to_database, "the second machine and the database", chance)


def stall_api(site: SoakSite, chance: Random) -> Struck:
    return _stall(chance.choice(site.doors), "clients and an API", chance)


def cut_api(site: SoakSite, chance: Random) -> Struck:
    return Struck(f"{sum(door.cut() for door in site.doors)} connections of clients cut")


def delay_api(site: SoakSite, chance: Random) -> Struck:
    return _delay(chance.choice(site.doors), "clients and an API", chance)


def pause_scheduler(site: SoakSite, chance: Random) -> Struck:
    """Stop the active scheduler of one partition until another has its lease; it wakes up and assumes that
    it still has it.
    """
    lease = chance.choice(_leases(site))
    name, pid = holder(site, lease)
    with _paused(pid):
        wait_until(lambda: holder(site, lease)[1] != pid, "another scheduler to take over")
    whose = f"the scheduler that decides ({lease}, {name})"
    return Struck(f"SIGSTOP of {whose}, SIGCONT when another has its lease")


def wake_zombie(site: SoakSite, chance: Random) -> Struck:
    """Stop a scheduler whose append is on its way; the append arrives after another scheduler has decided."""
    machine, pid = _second_decides(site)
    refused = machine.fenced()
    held = site.to_database.hold(*OF_AN_APPEND)
    try:
        wait_until(held.caught.is_set, "an append of the second machine")
        with _paused(pid):
            wait_until(lambda: holder(site)[1] != pid, "another scheduler to take over")
            time.sleep(chance.uniform(0, 1))
    finally:
        held.release()
    at = time.time()
    wait_until(lambda: machine.fenced() > refused, "the append of the zombie to be refused")
    return Struck("SIGSTOP of a scheduler with an append on its way: it woke up, and was refused", at)


def pause_worker(site: SoakSite, chance: Random) -> Struck:
    return _pause_one(either(site, chance), "worker", chance)


def pause_projector(site: SoakSite, chance: Random) -> Struck:
    return _pause_one(either(site, chance), "projector", chance)


def pause_lab(site: SoakSite, chance: Random) -> Struck:
    assert site.lab is not None
    return _pause("the lab agent", site.lab.pid, chance)


def fill_disk(site: SoakSite, chance: Random) -> Struck:
    """Fill the disk until the API reports it. Requests in progress are retried when there is space again."""
    assert site.disk is not None
    reports: set[str] = set()
    deadline = time.monotonic() + FULL_SECONDS
    try:
        while time.monotonic() < deadline and not reports >= FULL_DISK_REPORTS:
            site.disk.fill()
            reports |= _said_on_full_disk(site, f"full {chance.randbytes(SIZE_BYTES).hex()}")
        time.sleep(chance.uniform(0, 1))
    finally:
        site.disk.make_room()
    assert reports, "every job was taken: the disk was not full"
    return Struck(f"a full disk, told by {' and by '.join(sorted(reports))}")


FAULTS: tuple[Fault, ...] = (
    kill_scheduler,
    kill_all_schedulers,
    kill_worker,
    kill_master,
    kill_both_masters,
    kill_projectors,
    kill_notifiers,
    kill_lab,
    kill_postmaster,
    kill_backend,
    stall_database,
    cut_database,
    delay_database,
    stall_api,
    cut_api,
    delay_api,
    pause_scheduler,
    wake_zombie,
    pause_worker,
    pause_projector,
    pause_lab,
    fill_disk,
)


def all_decide(site: SoakSite) -> bool:
    """Return whether a running scheduler has the lease of each partition."""
    return all(holder(site, lease)[0] != NEITHER for lease in _leases(site))


def _leases(site: SoakSite) -> list[str]:
    """Return the leases of the schedulers, one for each partition."""
    with owner_session(site.owner_url) as session:
        return [name for (name,) in session.execute(LEASES)]


def holder(site: SoakSite, lease: str = SCHEDULER) -> tuple[str, int]:
    """Return the machine and the pid of the active scheduler of a lease, as recorded in the log."""
    with owner_session(site.owner_url) as session:
        row = session.execute(HOLDER, (lease,)).fetchone()
    assert row is not None, f"no scheduler ever held the lease {lease}"
    pid = int(row[0].rpartition("/")[2])
    of = [machine.name for machine in site.machines if pid in machine.pids("scheduler")]
    return (of[0] if of else NEITHER), pid


def _second_decides(site: SoakSite) -> tuple[Machine, int]:
    """Kill the first scheduler while it is active; return the second machine and its scheduler's pid."""
    while (found := holder(site))[0] != "second":
        if found[0] == "first":
            send(found[1], SIGKILL)
        time.sleep(0.1)
    return site.second, found[1]


def _said_on_full_disk(site: SoakSite, whiteboard: str) -> set[str]:
    """Submit a job that no system can run, and return how the API reported the full disk, if it did.

    An accepted job is given up. PostgreSQL may stop when its disk is full; then the API reports no cause.
    """
    site.book.asked.add(whiteboard)
    recipe = {"distro_requires": {}, "host_requires": NOWHERE, "tasks": [{"name": "/nowhere"}]}
    reports = {"silence"}
    with suppress(httpx.HTTPError), httpx.Client(timeout=15, **LOCAL_HTTP) as client:
        headers = {"Authorization": f"Bearer {site.token}", "Idempotency-Key": whiteboard[:40]}
        job = {"whiteboard": whiteboard, "recipe_sets": [{"priority": "Low", "recipes": [recipe]}]}
        answer = client.post(f"{site.first.url}/jobs", json=job, headers=headers)
        if answer.status_code == 201:
            position = int(answer.headers["labledger-position"])
            site.book.submitted(whiteboard, answer.json(), position)
            return set()
        assert answer.status_code == 503, answer.text
        reports = {BY_A_PROBLEM if answer.json()["title"] == FULL_TITLE else "an outage of the database"}
        checks = client.get(f"{site.first.url}/readyz").json()["checks"]
        if checks["database"].get("detail") == FULL_DETAIL:
            reports.add(BY_READINESS)
    return reports


def _kill(what: str, *pids: int) -> Struck:
    for pid in pids:
        send(pid, SIGKILL)
    return Struck(what, gone=pids)


def _kill_one(machine: Machine, role: str) -> Struck:
    return _kill(f"kill -9 of the {role} of {machine.name}", _pid(machine, role))


def _pid(machine: Machine, role: str) -> int:
    return _pids(machine, role)[0]


def _pids(machine: Machine, role: str) -> list[int]:
    return wait_until(lambda: machine.pids(role), f"a {role}")


def _pause_one(machine: Machine, role: str, chance: Random) -> Struck:
    return _pause(f"the {role} of {machine.name}", _pid(machine, role), chance)


def _pause(whom: str, pid: int, chance: Random) -> Struck:
    seconds = chance.uniform(*PAUSE_SECONDS)
    with _paused(pid):
        time.sleep(seconds)
    return Struck(f"SIGSTOP of {whom} for {seconds:.1f} s")


class _paused:  # noqa: N801  (reads as a verb)
    def __init__(self, pid: int) -> None:
        self._pid = pid

    def __enter__(self) -> None:
        send(self._pid, SIGSTOP)

    def __exit__(self, *_: object) -> None:
        send(self._pid, SIGCONT)


def _stall(relay: Relay, between: str, chance: Random) -> Struck:
    seconds = chance.uniform(*PAUSE_SECONDS) * 2
    relay.stall()
    time.sleep(seconds)
    relay.heal()
    return Struck(f"no byte between {between} for {seconds:.1f} s")


def _delay(relay: Relay, between: str, chance: Random) -> Struck:
    seconds, delay = chance.uniform(*PAUSE_SECONDS), chance.uniform(*DELAY_SECONDS)
    relay.delay(delay)
    time.sleep(seconds)
    relay.heal()
    return Struck(f"{delay * 1000:.0f} ms between {between} for {seconds:.1f} s")
