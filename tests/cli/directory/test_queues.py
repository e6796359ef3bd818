"""`labledger queues`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]

PATH = "/partitions/default/queues"


def queue(path: str, **more: Any) -> dict[str, Any]:
    plain = {"state": "active", "is_dynamic": False, "max": None, "guaranteed": None, "max_jobs": None}
    return {"path": path, **plain, "order": "fifo", "share": 0.5, "used": 1, "jobs": 1, "waiting": 7, **more}


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


def test_queues__of_one__has_those_below_it(server: LoopbackServer, run: Run) -> None:
    server.on("GET", PATH, Answer({"position": 4, "queues": ROWS}))
    assert [line[0] for line in lines(run("queues", "root.k"))] == ["root.k", "root.k.net"]


def test_queues__of_an_unknown_one__is_an_error(server: LoopbackServer, run: Run) -> None:
    server.on("GET", PATH, Answer({"position": 4, "queues": ROWS}))
    result = run("queues", "root.x")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: queue root.x: partition default has no such queue\n"
