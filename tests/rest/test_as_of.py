"""Every read as of the past equals the present answer of a log that ends there.

A lab is busy for a while. Then its log is cut at random positions, and a service runs on each cut. Both
services get the same requests, the first one as of the position of the cut.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import psycopg
import pytest

from api.rest.contract.openapi import plain
from api.rest.routes import API_ROUTES
from domain.recipe.lifecycle import RECIPE
from domain.system.lifecycle import CONDITIONS, USAGE
from tests.harness.databases import TestDatabase
from tests.harness.pool import ServerPool
from tests.harness.running import SAMPLES, Running, free_port, running
from tests.harness.waiting import wait_until

# Table -> query of the rows that were written up to the position.
TABLES = {
    "log.events": "SELECT * FROM log.events WHERE notification_id <= {position} ORDER BY notification_id",
    "log.commits": "SELECT * FROM log.commits WHERE last_position <= {position} ORDER BY last_position",
    "log.originals": "SELECT * FROM log.originals WHERE encode(sha256, 'hex') IN ("
    "SELECT convert_from(state, 'UTF8')::jsonb #>> '{{data,original_sha256}}' FROM log.events "
    "WHERE topic = 'job.submitted' AND notification_id <= {position})",
}


def cut(whole: TestDatabase, position: int, into: TestDatabase) -> None:
    """Copy the log up to a position, which must be the end of a commit."""
    with psycopg.connect(whole.owner_url) as source, psycopg.connect(into.owner_url) as target:
        for table, rows in TABLES.items():
            read = f"COPY ({rows.format(position=position)}) TO STDOUT (FORMAT binary)".encode()
            write = f"COPY {table} FROM STDIN (FORMAT binary)".encode()
            with source.cursor().copy(read) as out, target.cursor().copy(write) as copy:
                for data in out:
                    copy.write(data)


def commit_ends(database: TestDatabase) -> list[int]:
    with psycopg.connect(database.owner_url) as session:
        rows = session.execute(b"SELECT DISTINCT commit_end FROM log.events ORDER BY commit_end").fetchall()
    return [int(row[0]) for row in rows]


# Not from the log: present state of the service, and lists without a position.
NOT_OF_THE_LOG = {"/healthz", "/readyz", "/metrics", "/openapi.json", "/whoami", "/reads", "/log-usage"}
NOT_OF_THE_LOG |= {
    # What is due at this moment.
    "/retention",
    # Messages are beside the log.
    "/users/{name}/notifications/messages",
    "/systems/{fqdn}/power",
    "/power-settings",
    "/lab-controllers/{name}/power-settings/{fqdn}",
}
# Without as_of these end at the moment of the read.
UNTIL_NOW = ("/usage-report", "/usage")
SECONDS_OF_LIFE = 8
# The minimum number, also on a slow machine.
DEEDS_OF_LIFE = 300
CLOCK = (
    *("as_of", "seconds", "weight", "ticks"),
    *("wait_seconds", "longest_wait_seconds", "held_back_now"),
)
# Filters of lists; an empty tuple stands for all names in the log.
FILTERS: dict[str, dict[str, tuple[str, ...]]] = {
    "/jobs": {"owner": ("admin", "nobody"), "group": ("kernel-qe", "nosuch"), "state": RECIPE.states},
    "/systems": {
        "condition": CONDITIONS,
        "usage": USAGE.states,
        "lab_controller": (),
        "pool": (),
        "owner": ("alice", "nobody"),
        "location": ("rack 7", "nowhere"),
        "draining": ("true", "false"),
    },
}


@dataclass
class LoggedNames:
    """The names of all objects at the end of the log."""

    names: dict[str, list[str]]

    def paths(self) -> Iterator[str]:
        """Yield every readable path, for every object."""
        for path, route in API_ROUTES.items():
            template = plain(path)
            if "GET" in route.roles and template not in NOT_OF_THE_LOG:
                yield from self._filled(template)
        for path, filters in FILTERS.items():
            for name, words in filters.items():
                yield from (f"{path}?{name}={word}" for word in words or self.names[name])
        yield from (
            f"/jobs?{query}" for query in ("owner=admin&state=completed", "group=kernel-qe&state=running")
        )
        yield from (f"/systems?pool=big&{query}" for query in ("condition=Manual", "usage=idle&owner=alice"))

    def _filled(self, template: str) -> Iterator[str]:
        if "{" not in template:
            yield template
            return
        start, _, rest = template.partition("{")
        field, _, end = rest.partition("}")
        for name in self.names[start.strip("/") if field == "name" else field]:
            yield f"{start}{name}{end}"


@pytest.fixture(scope="module")
def busy(servers: ServerPool) -> Iterator[Running]:
    """Run a lab whose machines hang and break while users change it, then stop all changes."""
    seed = int(os.environ.get("LABLEDGER_TEST_SEED", "7"))
    with servers.databases("embedded").fresh() as database, running(database) as service:
        service.do("lab", "load", str(SAMPLES / "lab.json"))
        service.make_contact()
        faults = ("--fail", "10", "--break", "5", "--trouble", "20")
        service.start("lab", "simulate", "--speed", "400", "--seed", str(seed), *faults, name="simulate")
        with service.client() as admin:
            _live(admin, random.Random(seed))
        service.kill("simulate")
        service.kill("scheduler")
        with service.client() as admin:
            wait_until(lambda: _reads(admin, service.end()), "all of it to be read")
        yield service


def _live(admin: httpx.Client, chance: random.Random) -> None:
    samples = [path.read_bytes() for path in sorted(SAMPLES.glob("*.xml"))]
    xml = {"Content-Type": "application/xml"}
    systems = [one["fqdn"] for one in admin.get("/systems", params={"limit": 1000}).json()["systems"]]
    admin.put("/users/passing", json={})
    token = admin.post("/tokens", json={"user": "passing", "role": "submitter"}).json()["token_id"]
    deeds = [
        lambda: admin.post("/jobs", content=chance.choice(samples), headers=xml),
        lambda: admin.post(f"/jobs/{chance.randint(1, 9)}/cancel", json={"reason": "not needed"}),
        lambda: admin.patch(
            f"/recipe-sets/{chance.randint(1, 20)}", json={"priority": chance.choice(["High", "Low"])}
        ),
        lambda: admin.patch(
            f"/systems/{chance.choice(systems)}",
            json={"condition": chance.choice(["Automated", "Automated", "Manual", "Broken"])},
        ),
        lambda: admin.patch(
            f"/systems/{chance.choice(systems)}", json={"memory_mb": chance.randint(1, 2**17)}
        ),
        lambda: admin.patch(f"/systems/{chance.choice(systems)}", json={"draining": chance.random() < 0.3}),
        lambda: admin.put(f"/systems/{chance.choice(systems)}/reservation", json={"user": "alice"}),
        lambda: admin.delete(f"/systems/{chance.choice(systems)}/reservation"),
        lambda: admin.put(f"/pools/pool-{chance.randint(1, 3)}", json={"owner_group": None}),
        lambda: admin.put(f"/pools/big/systems/{chance.choice(systems)}"),
        lambda: admin.delete(f"/pools/big/systems/{chance.choice(systems)}"),
        lambda: admin.put("/groups/passing", json={"members": chance.sample(["alice", "bob", "carol"], 2)}),
        lambda: admin.delete("/groups/passing"),
        lambda: admin.put(
            f"/filters/rule-{chance.randint(1, 2)}",
            json={"action": "CONTINUE", "reason": chance.choice(["one", "other"])},
        ),
        lambda: admin.delete(f"/filters/rule-{chance.randint(1, 2)}"),
        lambda: admin.put(
            "/partitions/default/configuration",
            json={
                "order": {"most_overtaken": chance.randint(8, 9)},
                "operations": [{"operation": chance.choice(["move", "scan"])}],
            },
        ),
        lambda: admin.patch("/lab-controllers/lab.west.example.com", json={"enabled": chance.random() < 0.7}),
        lambda: admin.post("/maintenance-windows", json=_window(chance.choice(systems))),
    ]
    until, done = time.monotonic() + SECONDS_OF_LIFE, 0
    while time.monotonic() < until or done < DEEDS_OF_LIFE:
        answer = chance.choice(deeds)()
        assert answer.status_code < 500, answer.text
        done += 1
    admin.delete(f"/tokens/{token}")
    admin.delete("/users/passing")


def _window(fqdn: str) -> dict[str, Any]:
    """Return a maintenance window of a system, which begins after the test: its state follows the clock."""
    now = datetime.now(UTC)
    begin, end = ((now + timedelta(days=days)).isoformat() for days in (1, 2))
    return {"systems": [fqdn], "starts_at": begin, "ends_at": end, "reason": "disks"}


@pytest.fixture(scope="module")
def logged_names(busy: Running) -> LoggedNames:
    events = busy.events()
    names: dict[str, list[str]] = {}
    for event in events:
        kind, _, name = event["subject"].partition("/")
        of_kind = names.setdefault(kind, [])
        if name not in of_kind:
            of_kind.append(name)
    plural = {f"{kind}s": found for kind, found in names.items()}
    ids = {"job_id": "job", "recipe_set_id": "recipe-set", "recipe_id": "recipe", "token_id": "token"}
    ids["number"] = "maintenance-window"
    by_id = {field: names[kind] for field, kind in ids.items()}
    named = {"fqdn": names["system"], "pool": names["pool"], "lab_controller": names["lab-controller"]}
    named["position"] = [str(event["position"]) for event in events[::50]]
    return LoggedNames({**plural, **by_id, **named, "filters": ["rule-1", "rule-2"]})


@pytest.mark.soak
@pytest.mark.parametrize("number", range(12))
def test_read__as_of_many_positions__equals_a_log_cut_there(
    busy: Running, logged_names: LoggedNames, servers: ServerPool, number: int
) -> None:
    compare_at(busy, logged_names, servers, _drawn(busy, 12)[number])


def _drawn(busy: Running, count: int) -> list[int]:
    """Return ends of commits, spread over the log and reproducible, all after the token of the admin."""
    ends = commit_ends(busy.database)
    chance = random.Random(len(ends))
    size = len(ends) // count
    return [chance.choice(ends[number * size : (number + 1) * size]) for number in range(count)]


def compare_at(busy: Running, logged_names: LoggedNames, servers: ServerPool, position: int) -> None:
    with ExitStack() as stack:
        database = stack.enter_context(servers.databases("embedded").fresh())
        cut(busy.database, position, database)
        service = Running(database, busy.url.rpartition(":")[0] + f":{free_port()}", busy.token)
        stack.callback(service.stop)
        for name in ("serve", "projector"):
            service.start(name)
        whole, ended = stack.enter_context(busy.client()), stack.enter_context(service.client())
        wait_until(lambda: _reads(ended, position), "the cut log to be read")
        asked = compared = 0
        for path in logged_names.paths():
            then = whole.get(path, params={"as_of": position, **_asked(path)})
            now = ended.get(path, params={"as_of": position, **_asked(path)})
            open_ended = ended.get(path, params=_asked(path))
            assert _content(then) == _content(now), f"{path} as of {position}"
            if not path.endswith(UNTIL_NOW):
                assert _timeless(then) == _timeless(open_ended), f"{path} at {position}"
            asked += 1
            compared += then.status_code == 200
        assert asked > 150 and compared > 20


def _reads(client: httpx.Client, position: int) -> bool:
    try:
        return client.get("/queue").json().get("position") == position
    except httpx.TransportError:
        return False


def _asked(path: str) -> dict[str, str]:
    """Return the parameters in the path, and for a list the maximum limit."""
    is_list = path.count("/") == 1
    return dict(parse_qsl(urlsplit(path).query)) | ({"limit": "1000"} if is_list else {})


def _content(answer: httpx.Response) -> tuple[int, Any]:
    if answer.status_code != 200:
        return answer.status_code, None
    is_json = answer.headers["content-type"] == "application/json" and not _is_original(answer)
    return answer.status_code, answer.json() if is_json else answer.content


def _is_original(answer: httpx.Response) -> bool:
    """Return whether the answer is a submitted job, which is compared byte for byte."""
    return answer.url.path.endswith("/original")


def _timeless(answer: httpx.Response) -> tuple[int, Any]:
    """Return the answer without values that change with the clock, or that only present answers have."""
    status, content = _content(answer)
    return status, _without_clock(content)


def _without_clock(content: Any) -> Any:
    if isinstance(content, list):
        return [_without_clock(one) for one in content]
    if isinstance(content, dict) and "until" in content and ("groups" in content or "systems" in content):
        # Sums over time and time lines change all the time.
        return {}
    if isinstance(content, dict) and "waited_seconds" in content:
        # The time left depends on the wait so far.
        return {}
    if isinstance(content, dict):
        return {name: _without_clock(value) for name, value in content.items() if name not in CLOCK}
    return content
