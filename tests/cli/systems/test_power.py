"""`labledger system power`: the secret is read from a file or standard input, never from an argument."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]
PATH = "/systems/a.b/power"
SHOWN = {"position": 7, "type": "ilo", "address": "bmc", "port": None, "user": "root", "has_secret": True}


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        # The secret stays.
        ([], {}),
        (["--no-secret"], {"secret": None}),
        (["--secret-file", "-"], {"secret": "of stdin"}),
        (["--secret-file", "FILE"], {"secret": "of a file"}),
    ],
)
def test_set__its_secret__is_in_the_body_alone(
    server: LoopbackServer, run: Run, tmp_path: Path, options: list[str], sent: dict[str, Any]
) -> None:
    file = tmp_path / "secret"
    file.write_text("of a file\n", encoding="utf-8")
    server.on("PUT", PATH, Answer({"position": 7, "fqdn": "a.b", "changed": True}))
    given = [str(file) if option == "FILE" else option for option in options]
    result = run("system", "power", "set", "a.b", "ilo", "bmc", "--user", "root", *given, input="of stdin\n")
    assert (result.exit_code, result.stdout) == (0, "a.b: power settings set\n")
    settings = {"type": "ilo", "address": "bmc", "port": None, "user": "root"}
    assert server.asked[0].json() == {**settings, **sent}
    assert "of a" not in result.output


def test_set__secret_without_a_terminal_or_twice__is_wrong_usage(server: LoopbackServer, run: Run) -> None:
    for options in (["--secret"], ["--secret", "--no-secret"], ["--secret=x"]):
        assert run("system", "power", "set", "a.b", "ilo", "bmc", *options).exit_code == 2
    assert server.asked == []


def test_power__shown_and_unset__says_what_there_is(server: LoopbackServer, run: Run) -> None:
    server.on("GET", PATH, Answer(SHOWN))
    server.on("DELETE", PATH, Answer({"position": 8, "fqdn": "a.b", "changed": False}))
    shown = run("system", "power", "show", "a.b").stdout.splitlines()
    assert shown == ["type: ilo", "address: bmc", "user: root", "has_secret: yes"]
    assert run("system", "power", "unset", "a.b").stdout == "a.b: had no power settings\n"
