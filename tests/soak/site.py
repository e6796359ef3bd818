"""Two machines on one database: the first has PostgreSQL on a small disk, the second uses it over a relay.

Clients and lab controllers use relays as well. Each machine is a `labledger up`, which alone restarts the
processes that die on it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from runtime.embedded.cluster import Cluster
from runtime.embedded.database import service_url
from tests.acceptance.faults import FAULTS
from tests.acceptance.up import Up, up
from tests.harness.disk import SmallDisk, small_disk
from tests.harness.relay import Relay
from tests.harness.server_socket import server_socket
from tests.soak.book import Book
from tests.soak.machine import DatabaseMachine, Machine
from tests.store.faults.stores import through

HOST = "127.0.0.1"
# The minimum setting: a hung scheduler is replaced after this time.
LEASE_SECONDS = "3"
# A recipe without faults takes about 6 s.
SPEED = "300"
# Longer than a machine is silent, even if its lab controller is cut off for a while.
WATCHDOG_SECONDS = "20"
STOP_SECONDS = 15.0


@dataclass
class SoakSite:
    folder: Path
    seed: int
    token: str
    owner_url: str
    first: DatabaseMachine
    second: Machine
    to_database: Relay
    doors: tuple[Relay, Relay]
    disk: SmallDisk | None
    book: Book = field(default_factory=Book)
    # The lab controllers of the lab agent.
    labs: tuple[str, ...] = ()
    lab: subprocess.Popen[bytes] | None = None
    lab_starts: int = field(default=0)

    @property
    def machines(self) -> tuple[Machine, Machine]:
        return self.first, self.second

    @property
    def relays(self) -> tuple[Relay, ...]:
        return self.to_database, *self.doors

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(f"http://{HOST}:{door.port}" for door in self.doors)

    @property
    def journal(self) -> Path:
        return self.folder / "progress.jsonl"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    def is_ready(self) -> bool:
        return all(machine.is_whole() and machine.ready() for machine in self.machines)

    def start_lab(self) -> None:
        """Start the lab agent, as systemd would. The seed gives the same machines after a crash."""
        self.lab_starts += 1
        percentages = (word for name, percent in FAULTS.items() for word in (f"--{name}", str(percent)))
        named = (word for fqdn in self.labs for word in ("--lab-controller", fqdn))
        how = ("--seed", str(self.seed), "--speed", SPEED, "--watchdog", WATCHDOG_SECONDS, *percentages)
        command = [sys.executable, "-m", "tests.soak.lab", str(self.journal), "lab", "simulate", *named, *how]
        variables = {"LABLEDGER_URL": self.urls[self.lab_starts % 2], "LABLEDGER_TOKEN": self.token}
        with (self.logs / "lab.out").open("ab") as out:
            self.lab = subprocess.Popen(
                command, env=environment(**variables), stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )

    def kill_lab(self) -> None:
        if self.lab is not None:
            self.lab.kill()
            self.lab.wait(STOP_SECONDS)

    def labledger(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command on the first machine, without relays."""
        command = [sys.executable, "-m", "cli", *arguments]
        variables = {"LABLEDGER_URL": self.first.url, "LABLEDGER_TOKEN": self.token}
        variables["LABLEDGER_OWNER_DATABASE_URL"] = self.owner_url
        return subprocess.run(
            command, env=environment(**variables), capture_output=True, text=True, timeout=600, check=False
        )


@contextmanager
def site(folder: Path, seed: int) -> Iterator[SoakSite]:
    logs = folder / "logs"
    logs.mkdir()
    settings = {"LABLEDGER_LEASE_SECONDS": LEASE_SECONDS, "LABLEDGER_CONSISTENCY_SECONDS": "1"}
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(folder / "disk"))
        data = folder / "disk" / "data"
        cluster = Cluster(data / "postgresql")
        stack.callback(cluster.stop)
        first = stack.enter_context(up(data, printed=logs / "first.out", **settings))
        server = cluster.start()
        direct = service_url(server, cluster.folder)
        to_database = stack.enter_context(closing(Relay(partial(server_socket, direct))))
        url = through(direct, to_database.port)
        variables = {"LABLEDGER_DATABASE_URL": url, "LABLEDGER_OWNER_DATABASE_URL": server.owner_url}
        second = stack.enter_context(
            up(folder / "second", printed=logs / "second.out", **settings, **variables)
        )
        doors = tuple(
            stack.enter_context(closing(Relay(partial(door_of, machine)))) for machine in (first, second)
        )
        made = SoakSite(
            folder,
            seed,
            connection(first)["token"],
            server.owner_url,
            DatabaseMachine("first", first, connection(first)["url"]),
            Machine("second", second, connection(second)["url"]),
            to_database,
            (doors[0], doors[1]),
            disk,
        )
        stack.callback(made.kill_lab)
        yield made


def connection(machine: Up) -> dict[str, str]:
    found: dict[str, str] = json.loads((machine.data / "connection.json").read_text("utf-8"))
    return found


def door_of(machine: Up) -> socket.socket:
    return socket.create_connection((HOST, urlsplit(connection(machine)["url"]).port or 80), timeout=5)


def environment(**variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LABLEDGER_")}
    return {**kept, **variables}


def either(site: SoakSite, chance: Random) -> Machine:
    return chance.choice(site.machines)
