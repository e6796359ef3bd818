"""`labledger policy`: requests and output."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from domain.access.policy import PERMISSIONS
from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]

VIEW = {"permission": "view", "everybody": True}
SUBMIT = {"permission": "submit", "group": "qa", "maximum_effective_priority": "Low"}
RESERVE = {"permission": "reserve", "user": "bob"}
POOL, SYSTEM = "/pools/big/access-policy", "/systems/a.b/access-policy"


def there(server: LoopbackServer, path: str, **more: Any) -> None:
    """Answer existing objects for all paths."""
    found = {"entries": [VIEW, SUBMIT, RESERVE], **more}
    server.on("GET", path, Answer(found, headers={"ETag": '"3"'}))
    server.on("PUT", path, Answer({"changed": True}))


def put(server: LoopbackServer, path: str) -> Any:
    (asked,) = server.asked_for("PUT", path)
    assert asked.headers["If-Match"] == '"3"'
    return asked.json()


def test_show__of_a_system__shows_the_entries_and_the_active_pool(server: LoopbackServer, run: Run) -> None:
    there(server, SYSTEM, active_pool="big")
    server.on("GET", "/systems/a.b", Answer({"pools": []}))
    shown = run("policy", "show", "--system", "a.b")
    assert shown.stdout.splitlines()[2:] == [
        "view        everybody",
        "submit      group qa   Low",
        "reserve     user bob",
    ]
    assert "policy of pool big applies" in shown.stderr
    assert json.loads(run("policy", "show", "--system", "a.b", "--json").stdout)["active_pool"] == "big"
    server.on("GET", POOL, Answer({"entries": []}))
    assert "grants no permissions" in run("policy", "show", "--pool", "big").stdout


def test_show__of_a_system_whose_pools_grant_submit__names_them(server: LoopbackServer, run: Run) -> None:
    there(server, SYSTEM, active_pool=None)
    there(server, POOL)
    server.on("GET", "/pools/silent/access-policy", Answer({"entries": [VIEW]}))
    server.on("GET", "/systems/a.b", Answer({"pools": ["silent", "big"]}))
    printed = run("policy", "show", "--system", "a.b").stderr
    assert "submit is granted by big together" not in printed and "submit is granted by pool big" in printed
    server.on("GET", "/systems/a.b", Answer({"pools": ["silent"]}))
    assert run("policy", "show", "--system", "a.b").stderr == ""


def test_help__of_grant_and_revoke__names_every_permission(run: Run) -> None:
    for command in ("grant", "revoke"):
        printed = run("policy", command, "--help").stdout
        assert [permission for permission in PERMISSIONS if permission not in printed] == []


# arguments, entries in the PUT
EDITS: list[tuple[str, list[dict[str, Any]]]] = [
    (
        "grant view reserve --user eve --group ops",
        [
            *(VIEW, SUBMIT, RESERVE),
            {"permission": "view", "user": "eve"},
            {"permission": "view", "group": "ops"},
            {"permission": "reserve", "user": "eve"},
            {"permission": "reserve", "group": "ops"},
        ],
    ),
    # Another maximum replaces the present one.
    (
        "grant submit --group qa --maximum high",
        [VIEW, RESERVE, {**SUBMIT, "maximum_effective_priority": "High"}],
    ),
    ("grant view --everybody", [SUBMIT, RESERVE, VIEW]),
    ("revoke submit --group qa", [VIEW, RESERVE]),
    ("revoke view reserve --everybody --user bob", [SUBMIT]),
    # A group differs from a user of the same name.
    ("revoke reserve --group bob", [VIEW, SUBMIT, RESERVE]),
]


@pytest.mark.parametrize(("arguments", "entries"), EDITS, ids=[row[0] for row in EDITS])
def test_edit__of_a_pool_or_a_system__puts_the_whole_as_it_is_then(
    server: LoopbackServer, run: Run, arguments: str, entries: list[dict[str, Any]]
) -> None:
    there(server, POOL)
    there(server, SYSTEM, active_pool="big")
    edited = run("policy", *arguments.split(), "--pool", "big")
    assert (edited.stdout, put(server, POOL)) == (
        "access policy of pool big changed\n",
        {"entries": entries},
    )
    run("policy", *arguments.split(), "--system", "a.b")
    assert put(server, SYSTEM) == {"entries": entries, "active_pool": "big"}


@pytest.mark.parametrize(("arguments", "pool"), [("use a.b small", "small"), ("use a.b", None)])
def test_use__a_pool_or_none__leaves_the_entries(
    server: LoopbackServer, run: Run, arguments: str, pool: str | None
) -> None:
    there(server, SYSTEM, active_pool="big")
    run("policy", *arguments.split())
    assert put(server, SYSTEM) == {"entries": [VIEW, SUBMIT, RESERVE], "active_pool": pool}


@pytest.mark.parametrize(
    ("given", "place", "path", "body"),
    [
        ({"entries": [VIEW]}, "--pool big", POOL, {"entries": [VIEW]}),
        ({"entries": [VIEW]}, "--system a.b", SYSTEM, {"entries": [VIEW], "active_pool": "big"}),
        (
            {"entries": [], "active_pool": None, "position": 7},
            "--system a.b",
            SYSTEM,
            {"entries": [], "active_pool": None},
        ),
    ],
)
def test_set__from_a_file__as_show_gives_it(
    server: LoopbackServer, run: Run, given: dict[str, Any], place: str, path: str, body: dict[str, Any]
) -> None:
    there(server, path, active_pool="big")
    run("policy", "set", "-", *place.split(), input=json.dumps(given))
    assert put(server, path) == body


@pytest.mark.parametrize("content", ["{", "[]", '{"entries": {}}'])
def test_set__file_wrong__nothing_is_asked(server: LoopbackServer, run: Run, content: str) -> None:
    assert run("policy", "set", "-", "--pool", "big", input=content).exit_code == 1
    assert server.asked == []


def test_loan__to_a_user_until_a_time__is_sent_in_utc(server: LoopbackServer, run: Run) -> None:
    server.on("PUT", "/systems/a.b/loan", Answer({"user": "bob"}))
    options = ("--user", "bob", "--until", "2126-12-24T18:00")
    assert run("system", "loan", "a.b", *options).stdout == "a.b is on loan to bob\n"
    assert server.asked[0].json() == {"user": "bob", "until": "2126-12-24T18:00:00+00:00"}
    run("system", "loan", "a.b")
    assert server.asked[1].json() == {}
