"""The commands that change something: what they ask for, and how they say what became of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from tests.cli.loopback import Answer, Server

Run = Callable[..., Result]

# arguments, method, path, body, answer, what is said when it changed something and when it did not
DEEDS: list[tuple[str, str, str, dict[str, Any] | None, str, str, str]] = [
    (
        *("cancel-set 3 --reason no", "POST", "/recipe-sets/3/cancel", {"reason": "no"}, "cancelled"),
        *("recipe set 3 cancelled", "recipe set 3 was finished already: nothing to cancel"),
    ),
    (
        *("set-priority 3 high", "PATCH", "/recipe-sets/3", {"priority": "High"}, "changed"),
        *("recipe set 3 is now High", "recipe set 3 was already High"),
    ),
    (
        *("return 12", "POST", "/recipes/12/return", {}, "returned"),
        *("recipe 12 returned its system", "recipe 12 had finished already"),
    ),
    (
        *("system set-condition a.b broken --reason smoke", "PATCH", "/systems/a.b"),
        *(
            {"condition": "Broken", "reason": "smoke"},
            "changed",
            "a.b is now Broken",
            "a.b was Broken already",
        ),
    ),
    (
        *("system drain a.b --reason disks", "PATCH", "/systems/a.b", {"draining": True, "reason": "disks"}),
        *("changed", "a.b is draining", "a.b was draining already"),
    ),
    (
        *("system undrain a.b", "PATCH", "/systems/a.b", {"draining": False}, "changed"),
        *("a.b takes recipes again", "a.b was not draining"),
    ),
    (
        *("system set a.b memory_mb=32 owner=bob vendor=null", "PATCH", "/systems/a.b"),
        *({"memory_mb": 32, "owner": "bob", "vendor": None}, "changed", "a.b changed", "a.b is so already"),
    ),
    (
        *("system return a.b", "DELETE", "/systems/a.b/reservation", None, "returned"),
        *("a.b returned", "a.b was not reserved"),
    ),
    (
        *("lab-controller disable l.b", "PATCH", "/lab-controllers/l.b", {"enabled": False}, "changed"),
        *("l.b is now disabled", "l.b was already disabled"),
    ),
    (
        *("lab-controller enable l.b", "PATCH", "/lab-controllers/l.b", {"enabled": True}, "changed"),
        *("l.b is now enabled", "l.b was already enabled"),
    ),
    (
        *("distro-tree remove 5", "DELETE", "/distro-trees/5", None, "removed"),
        *("distro tree 5 removed", "distro tree 5 was removed already"),
    ),
]


@pytest.mark.parametrize(
    ("arguments", "method", "path", "body", "field", "done", "known"), DEEDS, ids=[row[0] for row in DEEDS]
)
def test_deed__asks_just_that_and_says_what_became_of_it(
    server: Server,
    run: Run,
    arguments: str,
    method: str,
    path: str,
    body: dict[str, Any] | None,
    field: str,
    done: str,
    known: str,
) -> None:
    server.on(method, path, Answer({field: True}), Answer({field: False}))
    assert [run(*arguments.split()).stdout for _ in range(2)] == [f"{done}\n", f"{known}\n"]
    assert [asked.json() if asked.body else None for asked in server.asked] == [body, body]
    assert json.loads(run(*arguments.split(), "--json").stdout) == {field: False}


def test_reserve__for_somebody_until_a_time__asks_in_utc(server: Server, run: Run) -> None:
    server.on("PUT", "/systems/a.b/reservation", Answer({"user": "bob"}))
    options = ("--user", "bob", "--until", "2026-12-24T18:00", "--distro-tree", "1")
    assert run("system", "reserve", "a.b", *options).stdout == "a.b is reserved by bob\n"
    body = {"user": "bob", "until": "2026-12-24T18:00:00+00:00", "distro_tree": 1}
    assert server.asked[0].json() == body
    run("system", "reserve", "a.b")
    assert server.asked[1].json() == {}


@pytest.mark.parametrize(
    "arguments", ["system set a.b memory_mb", "system set-condition a.b Odd", "set-priority 3 Extreme"]
)
def test_deed__wrong_usage__status_2_and_nothing_asked(server: Server, run: Run, arguments: str) -> None:
    assert run(*arguments.split()).exit_code == 2
    assert not server.asked
