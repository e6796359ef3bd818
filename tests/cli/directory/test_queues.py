"""`labledger queues`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]

PATH = "/partitions/default/queues"


def queue(path: str, **more: Any) -> dict[str, Any]:
    plain = {"state": "active", "is_dynamic": False, "max": None, "guaranteed": None, "max_jobs": None}
    plain |= {"priority_offset": 0, "fence": False, "limits": [], "submit": {}, "admin": {}, "template": None}
    return {"path": path, **plain, "order": "fifo", "share": 0.5, "used": 1, "jobs": 1, "waiting": 7, **more}


PARTITION = {"position": 4, "name": "default", "state": "active"}


@pytest.fixture(autouse=True)
def partition(server: LoopbackServer) -> None:
    server.on("GET", "/partitions/default", Answer(PARTITION))


ROWS = [
    queue("root", max=60),
    queue("root.k", max=4, max_jobs=2, guaranteed=2),
    queue("root.k.net"),
    queue("root.kernel"),
    queue("root.people.ada", is_dynamic=True),
]


def lines(result: Result) -> list[list[str]]:
    return [line.split() for line in result.stdout.splitlines()[2:]]


def test_queues__for_people__is_a_table_of_usage(server: LoopbackServer, run: Run) -> None:
    server.on("GET", PATH, Answer({"position": 4, "queues": ROWS}))
    assert lines(run("queues")) == [
        ["root", "active", "1/60", "1", "7", "0.5", "fifo"],
        ["root.k", "active", "1/4", "1/2", "7", "2", "0.5", "fifo"],
        ["root.k.net", "active", "1", "1", "7", "0.5", "fifo"],
        ["root.kernel", "active", "1", "1", "7", "0.5", "fifo"],
        ["root.people.ada", "active,", "dynamic", "1", "1", "7", "0.5", "fifo"],
    ]


@pytest.mark.parametrize("name", ["root.k", "k"])
def test_queues__of_one__has_those_below_it(server: LoopbackServer, run: Run, name: str) -> None:
    server.on("GET", PATH, Answer({"position": 4, "queues": ROWS}))
    assert run("queues", name).stdout == (
        "queue root.k\n  state: active\n  order: fifo\n  submit: nobody\n  admin and submit: nobody\n\n"
        "queue       state   used  jobs  waiting  guaranteed  share  order\n"
        "─────────────────────────────────────────────────────────────────\n"
        "root.k      active  1/4   1/2         7           2    0.5  fifo\n"
        "root.k.net  active  1     1           7                0.5  fifo\n"
    )
    shown = json.loads(run("queues", name, "--json").stdout)
    assert [row["path"] for row in shown["queues"]] == ["root.k", "root.k.net"]


def test_queues__of_one__shows_its_properties_and_the_rights_of_those_above(
    server: LoopbackServer, run: Run
) -> None:
    limits = [{"user": "*", "max": 10}, {"group": "qa", "max": 20, "max_jobs": 5}]
    more = {"limits": limits, "template": {"max": 4, "order": "fair"}, "priority_offset": 2, "fence": True}
    rights = {"submit": {"users": ["ada"], "groups": ["qa"]}, "admin": {"users": ["eve"]}}
    rows = [queue("root", submit={"users": ["*"]}), queue("root.k", **more, **rights)]
    server.on("GET", PATH, Answer({"position": 4, "queues": rows}))
    assert run("queues", "k").stdout.splitlines()[:9] == [
        "queue root.k",
        "  state: active",
        "  order: fifo",
        "  priority offset: 2",
        "  fence: yes",
        "  limits: each user without a limit of its own max=10; group qa max=20 max_jobs=5",
        "  submit: ada, group qa (root.k); everybody (root)",
        "  admin and submit: eve (root.k)",
        "  template: max=4 order=fair",
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("storage", "queue root.storage: partition default has no such queue"),
        ("kernl", "queue root.kernl: partition default has no such queue; did you mean root.kernel?"),
    ],
)
def test_queues__of_an_unknown_one__is_an_error_with_a_near_name(
    server: LoopbackServer, run: Run, name: str, message: str
) -> None:
    server.on("GET", PATH, Answer({"position": 4, "queues": ROWS}))
    result = run("queues", name)
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"Error: {message}\n")


@pytest.mark.parametrize("options", [(), ("k",)])
@pytest.mark.parametrize(
    ("state", "printed"),
    [
        ("draining", "partition default is draining: no new jobs, what is there is granted"),
        ("stopped", "partition default is stopped: no new jobs, and nothing is granted"),
    ],
)
def test_queues__of_a_partition_that_takes_no_jobs__say_so_first(
    server: LoopbackServer, run: Run, state: str, printed: str, options: tuple[str, ...]
) -> None:
    server.on("GET", PATH, Answer({"position": 4, "as_of": "2026-01-01T00:00:00Z", "queues": ROWS}))
    server.on("GET", "/partitions/default", Answer({**PARTITION, "state": state}))
    shown = run("queues", *options, "--as-of", "4")
    assert shown.stdout.splitlines()[0] == printed
    assert server.asked_for("GET", "/partitions/default")[0].query["as_of"] == ["4"]
    assert json.loads(run("queues", *options, "--json").stdout)["queues"]
