"""Commands about the log: events, recorded reads, failures of replay."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click
import psycopg.errors
import pytest
from click.testing import CliRunner, Result

from api.client import Client
from cli import main
from projections.rebuild.rebuild import Rebuild
from runtime.embedded.ports import any_free
from tests.cli.answers import event
from tests.cli.loopback import Answer, LoopbackServer, sent_events
from tests.harness.databases import TestDatabase

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


def test_events__wide__with_the_token_and_address_of_the_request(server: LoopbackServer, run: Run) -> None:
    shown = {**event(1, system="a.example.com"), "token_id": "a1b2", "address": "192.0.2.1"}
    server.on("GET", "/events", Answer({"events": [shown], "next": None}))
    assert "a1b2" not in run("events").stdout
    text = run("events", "--wide").stdout
    assert text.endswith("scheduler     system=a.example.com token_id=a1b2 address=192.0.2.1\n")


def test_events__of_an_actor__requested_by_name_also_live(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/events", Answer({"events": [event(1)], "next": None}))
    assert len(run("events", "--actor", "scheduler").stdout.splitlines()) == 1
    server.on("GET", "/events", sent_events(event(2)))
    assert run("events", "--follow", "--actor", "ada", "--limit", "1").exit_code == 0
    assert [asked.query["actor"] for asked in server.asked[:2]] == [["scheduler"], ["ada"]]


def test_events__of_a_time_span__in_each_request_but_not_live(server: LoopbackServer, run: Run) -> None:
    server.on(
        "GET",
        "/events",
        Answer({"events": [event(1)], "next": 5}),
        Answer({"events": [], "next": None}),
    )
    span = ("--since", "2026-01-01T00:00:00Z", "--until", "2026-01-02T00:00:00Z")
    assert len(run("events", *span).stdout.splitlines()) == 1
    asked = [(request.query["since"], request.query["until"]) for request in server.asked]
    assert asked == [(["2026-01-01T00:00:00+00:00"], ["2026-01-02T00:00:00+00:00"])] * 2
    assert run("events", "--follow", *span).exit_code == 2
    assert len(server.asked) == 2


def test_events__of_a_job_filter__show_its_name_and_action(server: LoopbackServer, run: Run) -> None:
    document = {"priority": 0, "action": "RATE_LIMIT", "limit": 2, "reason": "", "watermark": 7}
    put = {**event(1, name="two", document=document), "topic": "partition.job-filter-put"}
    removed = {**event(2, name="two"), "topic": "partition.job-filter-removed"}
    server.on("GET", "/events", Answer({"events": [put, removed], "next": None}))
    first, second = run("events").stdout.splitlines()
    assert first.endswith("  name=two action=RATE_LIMIT limit=2") and second.endswith("  name=two")


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
        ("--actor nobody --partition default", "no events by nobody of the partition default"),
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


READ = {
    "read_id": 7,
    "recorded_at": "2026-01-01T00:00:00Z",
    "user": "carol",
    "role": "auditor",
    "token_id": "0123456789ab",
    "method": "GET",
    "path": "/events",
    "query": "subject=recipe%2F1",
    "request_id": "one",
}


def test_reads__several__a_line_each_and_the_option_for_more(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/reads", Answer({"position": 9, "reads": [READ], "next": 7}))
    result = run("reads", "--user", "carol", "--after", "6", "--limit", "1")
    words = result.stdout.splitlines()[-1].split()
    assert words[1:-1] == ["2026-01-01", "00:00:00", "carol", "0123456789ab", "GET"]
    assert words[-1] == "/events?subject=recipe/1"
    assert "--after 7" in result.stderr
    assert server.asked[0].query == {"user": ["carol"], "after": ["6"], "limit": ["1"]}


def test_last__of_events_and_reads__asks_for_the_newest_and_shows_them_in_order(
    server: LoopbackServer, run: Run
) -> None:
    pages = [([event(12), event(7)], 7), ([event(5)], None)]
    server.on("GET", "/events", *(Answer({"events": page, "next": before}) for page, before in pages))
    lines = run("events", "--last", "4", "--actor", "bob", "--json").stdout.splitlines()
    assert [json.loads(line)["position"] for line in lines] == [5, 7, 12]
    assert [asked.query.get("before") for asked in server.asked] == [None, ["7"]]
    assert [asked.query["limit"] for asked in server.asked] == [["4"], ["2"]]
    assert all(asked.query["newest_first"] == ["true"] for asked in server.asked)
    reads = [{**READ, "read_id": number} for number in (9, 8)]
    server.on("GET", "/reads", Answer({"position": 9, "reads": reads, "next": 8}))
    result = run("reads", "--last", "2")
    assert [line.split()[0] for line in result.stdout.splitlines()[-2:]] == ["8", "9"]
    assert result.stderr == "" and server.asked[-1].query["newest_first"] == ["true"]
    for wrong in (("events", "--last", "2", "--follow"), ("reads", "--last", "2", "--limit", "3")):
        assert run(*wrong).exit_code == 2


def test_reads__streams__show_where_they_started(server: LoopbackServer, run: Run) -> None:
    streams = [{**READ, "is_stream": True, "last_event_id": after} for after in ("41", None)]
    server.on("GET", "/reads", Answer({"position": 9, "reads": streams, "next": None}))
    resumed, begun = run("reads", "--wide").stdout.splitlines()[-2:]
    assert resumed.endswith("/events?subject=recipe/1 as a stream after 41")
    assert begun.endswith("/events?subject=recipe/1 as a stream")


def test_reads__none__says_so(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/reads", Answer({"position": 9, "reads": [], "next": None}))
    result = run("reads")
    assert (result.stdout, result.stderr) == ("No auditor has read anything.\n", "")


def test_reads__of_a_user_without_reads__names_the_user(real: Run) -> None:
    result = real("reads", "--user", "alice")
    assert (result.exit_code, result.stdout) == (0, "alice has read nothing as an auditor.\n")
    assert real("reads", "--user", "alice", "--after", "3").stdout.endswith("auditor after read 3.\n")


def test_reads__of_an_unknown_user__is_refused(real: Run) -> None:
    result = real("reads", "--user", "nobody")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "nobody" in result.stderr and "`labledger users` to list" in result.stderr


def replay(database_url: str, *words: str) -> Result:
    return CliRunner(env={"LABLEDGER_DATABASE_URL": database_url}).invoke(main, ["replay", *words])


@pytest.mark.parametrize("words", [("verify",), ("rebuild",), ("rebuild", "--check")])
def test_replay__no_server__names_the_address(words: tuple[str, ...]) -> None:
    port = any_free()
    result = replay(f"postgresql://somebody@127.0.0.1:{port}/labledger", *words)
    assert result.exit_code == 1
    assert "127.0.0.1" in result.output and str(port) in result.output
    assert "LABLEDGER_DATABASE_URL" in result.output


@pytest.mark.parametrize("words", [("rebuild",), ("rebuild", "--check")])
def test_rebuild__disk_is_full__message_names_the_cause(
    words: tuple[str, ...], database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(_: Rebuild) -> int:
        raise psycopg.errors.DiskFull("could not extend file: No space left on device")

    monkeypatch.setattr(Rebuild, "log_end", no_room)
    result = replay(database.owner_url, *words)
    assert result.exit_code == 1
    assert "No space left on device" in result.output
    assert "LABLEDGER_DATABASE_URL" not in result.output
