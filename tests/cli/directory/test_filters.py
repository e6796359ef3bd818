"""`labledger filters` and `filter`: the rules of admission."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from api.rest.contract import values
from cli.directory import filters
from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]

ADA = {"field": "user", "op": "=", "value": "ada"}
HIGH = {"field": "priority", "op": ">=", "value": "High"}
FIVE = {
    "name": "array",
    "priority": 3,
    "watermark": 17,
    "predicate": {"and": [ADA, HIGH]},
    "action": "RATE_LIMIT",
    "limit": 5,
    "reason": "one array",
}
PAUSE = {**FIVE, "name": "night", "predicate": None, "action": "PAUSE", "limit": None, "reason": ""}

# Arguments after the name -> the body of the request.
PUTS: list[tuple[str, dict[str, Any]]] = [
    ("pause", {"action": "PAUSE"}),
    ("RATE_LIMIT --limit 5 --priority 0", {"action": "RATE_LIMIT", "limit": 5, "priority": 0}),
    ("REJECT --where user=ada --reason no", {"action": "REJECT", "predicate": ADA, "reason": "no"}),
    (
        "ACCEPT --where user=ada --where priority>=High",
        {"action": "ACCEPT", "predicate": {"and": [ADA, HIGH]}},
    ),
    ("CONTINUE --predicate -", {"action": "CONTINUE", "predicate": {"not": [ADA]}}),
]


@pytest.mark.parametrize(("arguments", "body"), PUTS)
def test_put__rule_of_options__is_sent(
    server: LoopbackServer, run: Run, arguments: str, body: dict[str, Any]
) -> None:
    dry = Answer({"added": True, "dry_run": True, "effects": {**EFFECTS, "recipe_sets": []}})
    server.on("PUT", "/filters/x", dry, Answer({"added": True}), dry, Answer({}))
    given = json.dumps({"not": [ADA]})
    assert run("filter", "put", "x", *arguments.split(), input=given).stdout == "job filter x added\n"
    assert run("filter", "put", "x", *arguments.split(), input=given).stdout == "job filter x unchanged\n"
    asked = server.asked_for("PUT", "/filters/x")
    assert [each.json() for each in asked] == [body] * 4
    assert [each.query for each in asked] == [{"dry_run": ["true"]}, {}] * 2


@pytest.mark.parametrize(
    "arguments",
    [
        *(
            "filter put x",
            "filter put x HOLD",
            "filter put x PAUSE --where user",
            "filter put x PAUSE --priority -1",
        ),
        *("filter put x RATE_LIMIT --limit 0", "filter put x PAUSE --where user=a --predicate -"),
        *("filter put x RATE_LIMIT", "filter put x PAUSE --limit 3", "filter test x RATE_LIMIT"),
        *("filter test x --where user=a", "filter test x --limit 3", "filter test x --priority 0"),
    ],
)
def test_filter__wrong_usage__status_2_and_nothing_sent(
    server: LoopbackServer, run: Run, arguments: str
) -> None:
    result = run(*arguments.split(), input="{}")
    assert (result.exit_code, result.stdout, server.asked) == (2, "", [])


@pytest.mark.parametrize("name", ["", "a/b", "-- -a", "a b", "é", "x\n"])
@pytest.mark.parametrize("command", ["put", "show", "delete", "test"])
def test_filter__name_of_another_form__is_wrong_usage(
    server: LoopbackServer, run: Run, command: str, name: str
) -> None:
    action = ["PAUSE"] if command == "put" else []
    result = run("filter", command, *(name.split(" ", 1) if name.startswith("--") else [name]), *action)
    assert (result.exit_code, result.stdout, server.asked) == (2, "", [])
    said = " ".join(result.stderr.split())
    assert "must be letters, digits and . _ @ + -, beginning with a letter or digit" in said


def test_name__pattern__is_that_of_the_api() -> None:
    assert filters.NAME_PATTERN == values.NAME_PATTERN


def test_put__predicate_that_is_not_json__is_refused(
    server: LoopbackServer, run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "predicate.json"
    file.write_text("user = ada")
    result = run("filter", "put", "x", "PAUSE", "--predicate", str(file))
    assert result.exit_code == 1 and "predicate.json: is not JSON" in result.stderr
    assert not server.asked


def test_filters__for_people__are_a_table_in_their_order(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/filters", Answer({"position": 4, "filters": [FIVE, PAUSE], "next": None}))
    _, _, five, pause = run("filters").stdout.splitlines()
    assert five.split("  ")[0] == "array"
    assert "RATE_LIMIT 5" in five and "user = ada and priority >= High" in five and five.endswith("one array")
    assert pause.split() == ["night", "3", "17", "PAUSE", "all"]


def test_filters__none__says_how_to_add_one(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/filters", Answer({"position": 4, "filters": [], "next": None}))
    assert run("filters").stdout.startswith("No job filters")


def test_show__a_filter__has_its_predicate_as_text(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/filters/array", Answer({"position": 4, **FIVE}))
    lines = run("filter", "show", "array").stdout.splitlines()
    assert lines == [
        *("name: array", "priority: 3", "watermark: 17", "predicate: user = ada and priority >= High"),
        *("action: RATE_LIMIT 5", "reason: one array"),
    ]
    assert json.loads(run("filter", "show", "array", "--json").stdout) == {"position": 4, **FIVE}


@pytest.mark.parametrize(("removed", "text"), [(True, "deleted"), (False, "was already deleted")])
def test_delete__a_filter__says_what_happened(
    server: LoopbackServer, run: Run, removed: bool, text: str
) -> None:
    server.on("DELETE", "/filters/array", Answer({"removed": removed}))
    assert run("filter", "delete", "array").stdout == f"job filter array {text}\n"


def test_delete__unknown_filter__advises_to_list_them(server: LoopbackServer, run: Run) -> None:
    problem = {"title": "Job filter x not found", "status": 404, "detail": "job filter x"}
    server.on("DELETE", "/filters/x", Answer(problem, status=404))
    result = run("filter", "delete", "x")
    assert result.exit_code == 1 and "Run `labledger filters` to list" in result.stderr


WAITS = {"effect": "wait", "reason": 'paused by the job filter "array"'}
COMMON = {
    "job_id": 7,
    "owner": "ada",
    "priority": "High",
    "placed": False,
    "matches": True,
    "applies": "array",
}
SETS = [
    {**COMMON, "recipe_set_id": 1, "before": None, "after": None, "placed": True},
    {**COMMON, "recipe_set_id": 2, "before": None, "after": WAITS},
    {**COMMON, "recipe_set_id": 3, "before": None, "after": {"effect": "cancel", "reason": "no"}},
    {**COMMON, "recipe_set_id": 4, "before": WAITS, "after": None, "matches": False, "applies": None},
    {**COMMON, "recipe_set_id": 5, "before": WAITS, "after": WAITS},
]
EFFECTS = {"matching": 4, "held_back": 2, "freed": 1, "recipe_sets": SETS}


def test_test__present_rule__is_sent_as_a_dry_run_and_its_effects_are_shown(
    server: LoopbackServer, run: Run
) -> None:
    server.on("GET", "/filters/array", Answer({"position": 4, **FIVE}))
    server.on("PUT", "/filters/array", Answer({**FIVE, "dry_run": True, "effects": EFFECTS}))
    result = run("filter", "test", "array")
    (asked,) = server.asked_for("PUT", "/filters/array")
    assert asked.query == {"dry_run": ["true"]}
    assert asked.json() == {
        name: FIVE[name] for name in ("action", "predicate", "priority", "limit", "reason")
    }
    effects = [row.split("  ") for row in result.stdout.splitlines()[2:-1]]
    found = [next(word.strip() for word in row if word.strip() in WORDS) for row in effects]
    assert found == ["unchanged: placed", "held back", "cancelled", "freed", "unchanged"]
    assert "4 unfinished recipe sets matched; 2 would newly be held back or end, 1 freed" in result.stdout


def test_test__several_sets_freed__says_that_each_is_looked_at_by_itself(
    server: LoopbackServer, run: Run
) -> None:
    server.on("GET", "/filters/array", Answer({"position": 4, **FIVE}))
    freed = {**EFFECTS, "freed": 2}
    server.on("PUT", "/filters/array", Answer({**FIVE, "dry_run": True, "effects": freed}))
    assert run("filter", "test", "array").stdout.endswith("2 freed, each if it were the only one\n")


def test_put__for_people__counts_the_sets_that_it_touches(server: LoopbackServer, run: Run) -> None:
    dry = Answer({"added": True, "dry_run": True, "effects": EFFECTS})
    server.on("PUT", "/filters/x", dry, Answer({"added": True, "effects": None}))
    result = run("filter", "put", "x", "REJECT")
    assert result.stdout == "job filter x added\n"
    assert result.stderr == "4 unfinished recipe sets matched; 2 held back or ended, 1 freed\n"


def test_put__for_machines__is_one_request(server: LoopbackServer, run: Run) -> None:
    server.on("PUT", "/filters/x", Answer({"added": True}))
    assert json.loads(run("filter", "put", "x", "REJECT", "--json").stdout) == {"added": True}
    assert [asked.query for asked in server.asked_for("PUT", "/filters/x")] == [{}]


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_put__dry_run__changes_nothing_and_shows_the_effects(
    server: LoopbackServer, run: Run, options: tuple[str, ...]
) -> None:
    answer = {"added": True, "dry_run": True, "effects": EFFECTS}
    server.on("PUT", "/filters/x", Answer(answer))
    result = run("filter", "put", "x", "REJECT", "--dry-run", *options)
    assert [asked.query for asked in server.asked_for("PUT", "/filters/x")] == [{"dry_run": ["true"]}]
    if options:
        assert json.loads(result.stdout) == answer and result.stderr == ""
    else:
        assert result.stdout.startswith("job filter x would be added\nset ")
        assert "4 unfinished recipe sets matched; 2 would newly be held back or end, 1 freed" in result.stdout


WORDS = ("unchanged: placed", "held back", "cancelled", "freed", "unchanged")


def test_test__another_rule__is_tested_without_reading_the_present_one(
    server: LoopbackServer, run: Run
) -> None:
    nothing = {"matching": 0, "held_back": 0, "freed": 0, "recipe_sets": []}
    server.on("PUT", "/filters/array", Answer({**FIVE, "dry_run": True, "effects": nothing}))
    result = run("filter", "test", "array", "PAUSE", "--where", "user = ada")
    counts = "0 unfinished recipe sets matched; 0 would newly be held back or end, 0 freed\n"
    assert (result.stdout, result.exit_code) == (counts, 0)
    assert [asked.json() for asked in server.asked if asked.method == "PUT"] == [
        {"action": "PAUSE", "predicate": ADA}
    ]
    assert not server.asked_for("GET", "/filters/array")
