"""`labledger logs`: the log files are on a real HTTP server, which here is that of the service as well."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]
CONTENT = b"BUG: unable to handle page fault\n" * 1_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def serve(server: LoopbackServer, **log: Any) -> None:
    """Serve one log at /logs/dmesg, and a recipe whose task 4 names it."""
    server.on("GET", "/logs/dmesg", Answer(CONTENT))
    described = {
        "name": "dmesg",
        "url": f"{server.url}/logs/dmesg",
        "size_bytes": len(CONTENT),
        "sha256": SHA256,
    }
    result = {
        "position": 12,
        "result": "Fail",
        "path": "/boot",
        "logs": [{**described, **log}],
        "log_urls": [],
    }
    tasks = [{"task_id": 4, "results": [result]}, {"task_id": 5, "results": []}]
    server.on("GET", "/recipes/2/results", Answer({"position": 20, "tasks": tasks}))


def fetched(server: LoopbackServer) -> int:
    return sum(asked.path == "/logs/dmesg" for asked in server.asked)


def test_logs__of_a_recipe__are_listed_with_size_hash_and_address(run: Run, server: LoopbackServer) -> None:
    serve(server)
    (log,) = json.loads(run("logs", "R:2", "--json").stdout)["logs"]
    assert (log["task_id"], log["name"], log["size_bytes"]) == (4, "dmesg", len(CONTENT))
    assert f"{server.url}/logs/dmesg" in run("logs", "2", "T:4").stdout
    assert run("logs", "2", "5").stdout == "no logs\n"
    missing = run("logs", "2", "6")
    assert (missing.exit_code, "which has tasks: 4, 5" in missing.stderr) == (2, True)


def test_fetch__again__keeps_what_is_there_and_fetches_what_was_cut(
    run: Run, server: LoopbackServer, tmp_path: Path
) -> None:
    serve(server)
    assert run("logs", "2", "--fetch", str(tmp_path / "logs")).exit_code == 0
    target = tmp_path / "logs" / "task-4" / "result-12" / "dmesg"
    assert target.read_bytes() == CONTENT and [*target.parent.iterdir()] == [target]
    assert "authorization" not in {name.lower() for name in server.asked[-1].headers}
    run("logs", "2", "--fetch", str(tmp_path / "logs"))
    assert fetched(server) == 1
    target.write_bytes(CONTENT[:100])
    run("logs", "2", "--fetch", str(tmp_path / "logs"))
    assert fetched(server) == 2 and target.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ({"sha256": "b" * 64}, f"its SHA-256 is {SHA256}, but {'b' * 64} was reported"),
        ({"size_bytes": 3}, f"it has {len(CONTENT)} bytes, but 3 were reported"),
        ({"url": "ftp://logs.example.com/dmesg"}, "only addresses of http and https are fetched"),
        ({"url": "http://127.0.0.1:1/dmesg"}, "refused"),
    ],
)
def test_fetch__of_something_else_than_was_reported__is_an_error_and_leaves_no_file(
    run: Run, server: LoopbackServer, tmp_path: Path, log: dict[str, Any], said: str
) -> None:
    serve(server, **log)
    found = run("logs", "2", "--fetch", str(tmp_path / "logs"))
    assert found.exit_code == 1 and said in found.stderr
    assert [path for path in (tmp_path / "logs").rglob("*") if path.is_file()] == []


def test_fetch__answer_is_an_error__is_said(run: Run, server: LoopbackServer, tmp_path: Path) -> None:
    serve(server, url=f"{server.url}/logs/gone")
    found = run("logs", "2", "--fetch", str(tmp_path), "--json")
    assert found.exit_code == 1 and json.loads(found.stdout)["logs"] == []
    assert "404" in json.loads(found.stderr)["detail"]


def test_fetch__logs_of_one_result_with_one_name__are_all_fetched(
    run: Run, server: LoopbackServer, tmp_path: Path
) -> None:
    serve(server)
    urls = [f"{server.url}/{folder}/console.log" for folder in "abc"]
    for url in urls:
        server.on("GET", url.removeprefix(server.url), Answer(url.encode()))
    result = {"position": 12, "result": "Fail", "path": "/boot", "logs": [], "log_urls": urls}
    server.on("GET", "/recipes/2/results", Answer({"tasks": [{"task_id": 4, "results": [result]}]}))
    for _ in range(2):
        found = json.loads(run("logs", "2", "--fetch", str(tmp_path), "--json").stdout)["logs"]
        assert [Path(log["file"]).read_text() for log in found] == urls
    names = [Path(log["file"]).name for log in found]
    assert names == ["console.log", "2-console.log", "3-console.log"]


@pytest.mark.parametrize("name", ["../../../etc/passwd", "/etc/passwd", "..", "a/../../b", "..\\..\\c"])
def test_fetch__name_that_leads_elsewhere__stays_in_the_folder(
    run: Run, server: LoopbackServer, tmp_path: Path, name: str
) -> None:
    serve(server, name=name)
    folder = tmp_path / "logs"
    run("logs", "2", "--fetch", str(folder))
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert file.is_relative_to(folder / "task-4" / "result-12")


def test_fetch__to_a_dash__prints_what_was_checked(run: Run, server: LoopbackServer) -> None:
    serve(server)
    assert run("logs", "2", "--fetch", "-").stdout == CONTENT.decode()
    serve(server, size_bytes=3)
    found = run("logs", "2", "--fetch", "-")
    assert (found.exit_code, found.stdout) == (1, "") and "but 3 were reported" in found.stderr
    assert run("logs", "2", "--fetch", "-", "--json").exit_code == 2
