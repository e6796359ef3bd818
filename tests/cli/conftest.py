"""Fixtures: the server of `loopback`, and the command line run against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.cli import main
from tests.cli.loopback import Server


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = Thread(target=made.httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield made
    made.httpd.shutdown()
    made.httpd.server_close()
    thread.join()


@pytest.fixture
def run(server: Server, tmp_path: Any) -> Callable[..., Result]:
    """Run the command line against the server."""

    def run(*arguments: str, **more: Any) -> Result:
        environment = {
            "LABLEDGER_URL": server.url,
            "LABLEDGER_TOKEN": "ll_test",
            "LABLEDGER_DATA": str(tmp_path),
        }
        return CliRunner(env=environment | more.pop("env", {})).invoke(main, arguments, **more)

    return run
