"""`labledger events`: pages, the live log, and terminals of every width."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click
import pytest
from click.testing import Result

from api.client import Client
from tests.cli.answers import event
from tests.cli.loopback import Answer, LoopbackServer, sent_events

Run = Callable[..., Result]


def test_events__recorded__are_read_to_the_end(server: LoopbackServer, run: Run) -> None:
    # A page may be empty: that part of the log has no events of these topics.
    pages = [([event(1, system="a.example.com")], 5), ([], 9), ([event(12, basis=1)], None)]
    server.on("GET", "/events", *(Answer({"events": page, "next": after}) for page, after in pages))
    first, second = run("events", "--types", "recipe.scheduled,recipe.queued").stdout.splitlines()
    assert first.split()[:2] == ["1", "2026-01-01"]
    assert first.endswith("recipe/12                           scheduler     system=a.example.com")
    assert second.endswith("scheduler")
    assert [asked.query["after"] for asked in server.asked] == [["0"], ["5"], ["9"]]
    assert server.asked[0].query["types"] == ["recipe.scheduled", "recipe.queued"]


def test_events__new__begin_at_the_end_of_the_log(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/events", Answer({"events": [], "position": 41, "next": None}))
    assert run("events", "--new").exit_code == 0
    assert [int(asked.query["after"][0]) for asked in server.asked] == [2**63 - 2, 41]


def test_events__on_a_narrow_terminal__two_lines_each(
    server: LoopbackServer, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    aborted = event(7, system="a.example.com", whiteboard="word " * 40)
    server.on("GET", "/events", Answer({"events": [{**aborted, "topic": "recipe.aborted"}], "next": None}))
    shown = run("events")
    head, more = click.unstyle(shown.stdout).splitlines()
    assert head.split() == ["7", "2026-01-01", "00:00:00", "recipe.aborted", "recipe/12"]
    assert more.split()[:2] == ["scheduler", "system=a.example.com"] and len(more) <= 80
    assert "\x1b[31m" in shown.stdout


def test_events__followed__one_document_a_line(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/events", sent_events(event(5), event(6)))
    lines = run("events", "--follow", "--after", "4", "--limit", "2", "--json").stdout.splitlines()
    assert [json.loads(line)["position"] for line in lines] == [5, 6]


@pytest.mark.parametrize(("flags", "called"), [(["--follow"], "events"), ([], "get")])
def test_events__interrupted__ends_without_a_message(
    run: Run, monkeypatch: pytest.MonkeyPatch, flags: list[str], called: str
) -> None:
    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Client, called, interrupted)
    result = run("events", *flags)
    assert (result.exit_code, result.output) == (130, "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--subject recipe/999999", "no events of recipe/999999"),
        ("--subject user/admin --types user.removed,user.changed --after 3",
         "no events with topic user.removed or user.changed of user/admin after position 3"),
    ],
)  # fmt: skip
def test_events__there_are_none__message_on_standard_error(real: Run, arguments: str, said: str) -> None:
    result = real("events", *arguments.split())
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"{said}\n")
    assert real("events", *arguments.split(), "--json").output == ""


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("recpie/12", "'recpie' is not a kind of subject; the kinds are command, distro-tree, group, job,"),
        ("Recipe/12", "'Recipe' is not a kind of subject"),
        ("recipe", "'recipe' is not a subject such as recipe/12"),
        ("recipe/", "'recipe/' is not a subject such as recipe/12"),
    ],
)
def test_events__of_an_invalid_subject__names_the_kinds(real: Run, subject: str, said: str) -> None:
    result = real("events", "--subject", subject)
    assert (result.exit_code, result.stdout) == (1, "")
    assert said in result.stderr
