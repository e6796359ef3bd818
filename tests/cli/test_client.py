"""The client, and its failures."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from api.client import Client, RetryPolicy, ServerProblem, Unreachable
from api.client.listener import NotTheServer
from api.client.retry_policy import PERSISTENT
from api.client.stream import messages
from domain.errors import Fault
from tests.cli.answers import QUEUE
from tests.cli.loopback import HANG_UP, Answer, LoopbackServer, ReceivedRequest, sent_events


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def client(server: LoopbackServer, pauses: list[float]) -> Iterator[Client]:
    with Client(server.url, "ll_secret", sleep=pauses.append) as client:
        yield client


def test_path__name_of_any_letters__is_one_part_of_it() -> None:
    assert Client.path("pools", "a b%2F", "systems", "é?") == "/pools/a%20b%252F/systems/%C3%A9%3F"


def test_post__connection_lost__same_key_and_body_again(server: LoopbackServer, client: Client) -> None:
    server.on("POST", "/jobs", Answer(status=HANG_UP), Answer(status=HANG_UP), Answer({"job_id": 1}, 201))

    assert client.post("/jobs", {"whiteboard": "x"}) == {"job_id": 1}

    assert len(server.asked) == 3
    assert len({asked.headers["Idempotency-Key"] for asked in server.asked}) == 1
    assert len({asked.body for asked in server.asked}) == 1


def test_call__process_of_another_user_holds_the_port__is_sent_nothing(server: LoopbackServer) -> None:
    server.on("GET", "/queue", Answer({}))
    with Client(server.url, "ll_secret", server_uid=os.geteuid() + 1) as robbed:
        with pytest.raises(NotTheServer, match="nothing was sent"):
            robbed.get("/queue")
        with pytest.raises(NotTheServer), robbed.with_token(None) as nobody:
            nobody.post("/login", {"user": "bob", "password": "secret"})
        with pytest.raises(NotTheServer):
            next(robbed.events())
    assert server.asked == []


def test_call__port_taken_while_the_server_was_away__is_sent_nothing_again(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.on("GET", "/queue", Answer(status=HANG_UP), Answer({}))

    def taken(_: float) -> None:
        monkeypatch.setattr("api.client.listener._listeners", lambda port: {os.geteuid() + 1})

    first = Client(server.url, "ll_secret", sleep=taken, server_uid=os.geteuid())
    with first as client, pytest.raises(NotTheServer):
        client.get("/queue")
    assert len(server.asked) == 1


def test_call__own_process_listens__is_asked(server: LoopbackServer) -> None:
    server.on("GET", "/queue", Answer({"recipes": []}))
    with Client(server.url, "ll_secret", server_uid=os.geteuid()) as client:
        assert client.get("/queue") == {"recipes": []}


def test_post__two_calls__two_keys(server: LoopbackServer, client: Client) -> None:
    server.on("POST", "/jobs", Answer({}))
    client.post("/jobs")
    client.post("/jobs")
    assert len({asked.headers["Idempotency-Key"] for asked in server.asked}) == 2


def test_call__server_busy__waits_as_long_as_it_asks(
    server: LoopbackServer, client: Client, pauses: list[float]
) -> None:
    busy = Answer({"title": "away"}, 503, {"Retry-After": "7"})
    server.on("GET", "/queue", busy, busy, Answer({"recipes": []}))
    assert client.get("/queue") == {"recipes": []}
    assert pauses == [7.0, 7.0]


def test_call__server_stays_busy__gives_up_with_its_problem(
    server: LoopbackServer, client: Client, pauses: list[float]
) -> None:
    server.on("GET", "/queue", Answer({"title": "The database is away"}, 503, {"Retry-After": "10"}))
    with pytest.raises(ServerProblem, match="The database is away"):
        client.get("/queue")
    assert sum(pauses) <= RetryPolicy().seconds


def test_call__retry_after_exceeds_the_policy__gives_up_at_once(
    server: LoopbackServer, client: Client, pauses: list[float]
) -> None:
    server.on("GET", "/queue", Answer({}, 503, {"Retry-After": "3600"}))
    with pytest.raises(ServerProblem):
        client.get("/queue")
    assert pauses == []


def item(status: int, retry_after_seconds: int | None = None) -> dict[str, object]:
    seconds = {} if retry_after_seconds is None else {"retry_after_seconds": retry_after_seconds}
    return {"status": status, "title": f"refused with {status}", **seconds}


def items(*answers: dict[str, object]) -> Answer:
    return Answer({"jobs": answers})


def test_items__some_are_refused_for_a_time__repeats_with_the_same_key_after_the_shortest_time(
    server: LoopbackServer, client: Client, pauses: list[float]
) -> None:
    waiting = items(item(201), item(429, 4), item(503, 2), item(422))
    server.on("POST", "/jobs", waiting, items(item(201), item(201), item(201), item(422)))
    reports: list[str] = []
    with client.another(on_wait=reports.append) as reporting:
        answers = reporting.post_items("/jobs", "jobs", ["a"] * 4)
    assert [each["status"] for each in answers] == [201, 201, 201, 422]
    assert (pauses, reports) == ([2.0], ["refused with 503; retrying"])
    assert len({asked.headers["Idempotency-Key"] for asked in server.asked}) == 1


def test_items__refused_for_longer_than_the_policy__does_not_repeat(
    server: LoopbackServer, client: Client, pauses: list[float]
) -> None:
    server.on("POST", "/jobs", items(item(201), item(429, 40_000)))
    assert [each["status"] for each in client.post_items("/jobs", "jobs", ["a"] * 2)] == [201, 429]
    assert pauses == []


@pytest.mark.parametrize("failure", [Answer(status=HANG_UP), Answer({"detail": "the database is away"}, 503)])
def test_items__service_lost_while_repeating__keeps_the_answers_of_the_others(
    server: LoopbackServer, client: Client, failure: Answer
) -> None:
    server.on("POST", "/jobs", items(item(201), item(503, 2)), failure)
    assert client.post_items("/jobs", "jobs", ["a", "b"]) == [item(201), item(503, 2)]
    assert len(server.asked) > 2


def test_items__first_request_fails__raises(server: LoopbackServer, client: Client) -> None:
    server.on("POST", "/jobs", Answer(status=HANG_UP))
    with pytest.raises(Unreachable):
        client.post_items("/jobs", "jobs", ["a"])


def test_call__no_server__bounded_attempts(pauses: list[float]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with Client(url, sleep=pauses.append) as client, pytest.raises(Unreachable):
            client.get("/queue")
    assert len(pauses) == RetryPolicy().attempts - 1
    assert pauses == sorted(pauses)


def test_problem__with_faults__carries_them(server: LoopbackServer, client: Client) -> None:
    errors = [{"where": "job/recipeSet[1]", "message": "is empty"}]
    server.on("POST", "/jobs", Answer({"title": "wrong", "detail": "d", "errors": errors}, 422))
    with pytest.raises(ServerProblem) as caught:
        client.post("/jobs")
    assert caught.value.status == 422
    assert caught.value.faults == (Fault("job/recipeSet[1]", "is empty"),)
    assert len(server.asked) == 1


@pytest.mark.parametrize("body", [b"<html>bad gateway</html>", b"", b"[1]"])
def test_problem__not_a_problem_document__has_the_status_line(
    server: LoopbackServer, client: Client, body: bytes
) -> None:
    server.on("GET", "/queue", Answer(body, 502))
    with pytest.raises(ServerProblem, match="502 Bad Gateway"):
        client.get("/queue")


def test_position__of_a_write__is_kept_and_can_be_requested(server: LoopbackServer, client: Client) -> None:
    server.on("PUT", "/users/a", Answer({}, headers={"Labledger-Position": "41"}))
    server.on("GET", "/users", Answer({"users": []}, headers={"Labledger-Position": "99"}))
    client.put("/users/a", {})
    client.get("/users", min_position=client.position)
    assert client.position == 41
    assert server.asked[-1].query == {"min_position": ["41"]}


def test_token__given__goes_with_every_call(server: LoopbackServer, client: Client) -> None:
    server.on("GET", "/queue", Answer({}))
    client.get("/queue")
    assert server.asked[0].headers["Authorization"] == "Bearer ll_secret"


def _paged(asked: ReceivedRequest) -> Answer:
    """Answer seven rows, at most three per page."""
    start = int(asked.query.get("cursor", ["0"])[0])
    end = min(start + min(int(asked.query["limit"][0]), 3), 7)
    return Answer(
        {
            "position": 1,
            "rows": list(range(start, end)),
            "next": f"/rows?limit=3&cursor={end}" if end < 7 else None,
        }
    )


@pytest.mark.parametrize(
    ("limit", "rows"),
    [
        (None, 7),  # No limit.
        (2, 2),  # Less than a page.
        (5, 5),  # The server limits the last page.
        (50, 7),  # More than there are.
    ],
)
def test_pages__of_a_list__are_joined_up_to_the_limit(
    server: LoopbackServer, client: Client, limit: int | None, rows: int
) -> None:
    server.on("GET", "/rows", _paged)
    assert client.pages("/rows", "rows", limit=limit)["rows"] == list(range(rows))


def _event(position: int) -> dict[str, object]:
    return {"position": position, "topic": "recipe.queued", "subject": "recipe/1"}


def test_events__stream_breaks__goes_on_behind_the_last_seen(
    server: LoopbackServer, client: Client, pauses: list[float]
) -> None:
    server.on(
        "GET",
        "/events",
        sent_events(_event(5), _event(6)),
        Answer(status=HANG_UP),
        Answer({}, 503),
        sent_events(_event(9)),
    )
    found = [event.document()["position"] for event in islice(client.events(after=4, types=["a", "b"]), 3)]

    assert found == [5, 6, 9]
    first, *later = server.asked
    assert (first.query, first.headers.get("Last-Event-ID")) == ({"after": ["4"], "types": ["a", "b"]}, None)
    assert {asked.headers["Last-Event-ID"] for asked in later} == {"6"}
    assert all("after" not in asked.query for asked in later)
    assert len(pauses) == 3


def test_events__server_stays_away__ends_with_the_reason(
    server: LoopbackServer, client: Client, pauses: list[float]
) -> None:
    server.on("GET", "/events", Answer(status=HANG_UP))
    with pytest.raises(Unreachable):
        next(client.events())
    assert 0 < sum(pauses) <= RetryPolicy().seconds


def test_events__server_goes_away_for_a_while__is_waited_for_longer_than_for_an_answer(
    server: LoopbackServer, client: Client, pauses: list[float]
) -> None:
    server.on("GET", "/events", sent_events(_event(5)), Answer(status=HANG_UP))
    with pytest.raises(Unreachable):
        list(client.events())
    assert RetryPolicy().seconds < sum(pauses) <= PERSISTENT.seconds


def test_wait__longer_than_a_moment__is_reported_once(server: LoopbackServer) -> None:
    said: list[str] = []
    server.on("GET", "/queue", Answer({"title": "Service Unavailable", "detail": "no database"}, 503))
    patient = Client(server.url, sleep=lambda _: None, on_wait=said.append)
    with patient as client, pytest.raises(ServerProblem) as caught:
        client.get("/queue")
    assert said == ["Service Unavailable: no database; retrying"]
    assert caught.value.tries > 5 and caught.value.waited_seconds > 20


def test_edit__it_moves_every_time__gives_up(server: LoopbackServer, client: Client) -> None:
    server.on("GET", "/groups/a", Answer({"name": "a"}, headers={"ETag": '"1"'}))
    server.on("PUT", "/groups/a", Answer({"title": "stale"}, 412))
    with pytest.raises(ServerProblem, match="stale"):
        client.edit("/groups/a", lambda found: found)
    assert 1 < len(server.asked_for("PUT", "/groups/a")) < 10


def test_events__refused__is_a_problem_at_once(server: LoopbackServer, client: Client) -> None:
    server.on("GET", "/events", Answer({"title": "Permission denied"}, 403))
    with pytest.raises(ServerProblem, match="Permission denied"):
        next(client.events())


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["data: a", "data: b", ""], [("", "message", "a\nb")]),  # Two lines of one message.
        (["id: 3", "event: x", "data:y", ""], [("3", "x", "y")]),  # No space after the colon.
        ([": ping", ""], []),  # A comment.
        (["data: cut off"], []),  # An incomplete message.
        (["id: 3", "data: a", "", "data: b", ""], [("3", "message", "a"), ("3", "message", "b")]),
    ],
)
def test_messages__of_lines__are_read_as_the_standard_says(
    lines: list[str], found: list[tuple[str, str, str]]
) -> None:
    assert [(event.id, event.kind, event.data) for event in messages(lines)] == found


@given(failed=st.integers(1, 10_000), waited=st.floats(0, 1e6), header=st.none() | st.from_regex(r"\d{1,6}"))
def test_retry_policy__any_sequence__is_never_exceeded(
    failed: int, waited: float, header: str | None
) -> None:
    policy = RetryPolicy()
    for pause in (policy.after_failure(failed, waited), policy.after_refusal(header, failed, waited)):
        assert pause is None or 0 <= pause <= policy.seconds - waited


Run = Callable[..., Result]


def test_refused__several_faults__each_on_its_own_line(server: LoopbackServer, run: Run) -> None:
    errors = [{"where": "job/a", "message": "is wrong"}, {"where": "job/b", "message": "too"}]
    server.on("GET", "/queue", Answer({"title": "Invalid input", "errors": errors}, 422))
    result = run("queue")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == ["Error: Invalid input", "  job/a: is wrong", "  job/b: too"]


def test_refused__with_json__is_a_document_on_standard_error(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/queue", Answer({"title": "No", "detail": "really"}, 409))
    result = run("queue", "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    problem = {"title": "No", "detail": "really", "errors": [], "status": 409}
    assert json.loads(result.stderr) == {**problem, "advice": "This request changed nothing."}


def test_unreachable__any_command__advises_the_next_step(server: LoopbackServer, run: Run) -> None:
    server.httpd.socket.close()
    result = run("queue")
    assert result.exit_code == 1
    assert "script/up --demo" in result.stderr and "LABLEDGER_URL" in result.stderr
    assert "Tried 5 times" in result.stderr


def test_token__wrong__advice_names_the_options(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/queue", Answer({"title": "Who are you?"}, 401))
    assert "--token" in run("queue").stderr


@pytest.mark.parametrize(
    ("status", "detail", "said"),
    [
        (401, "unknown token", "--token or LABLEDGER_TOKEN"),
        (403, "PUT /users/{name} is for admin", "labledger whoami"),
        (404, "job 99", "`labledger jobs` to list"),
        (404, "recipe set 99", "`labledger jobs` to list"),
        (404, "distro tree 99", "`labledger distro-trees` to list"),
        (404, "there is no resource at this path", ""),
        (409, "system/a is busy", "This request changed nothing"),
        (412, "it is at version 4", "Read it again"),
        (429, "30 requests a second are allowed", "Tried 1 time. A limit is reached"),
        (429, "the quota is 9 bytes a day; the next day begins at 00:00", "at the time in the message"),
        (500, "request 1f failed", "an error of the server"),
        (503, "the database cannot be reached", "labledger overview"),
        (504, "not there yet", "Is a projector running?"),
    ],
)
def test_refused__by_status__advises_the_next_step(
    server: LoopbackServer, run: Run, status: int, detail: str, said: str
) -> None:
    # A long Retry-After is reported at once.
    answer = Answer({"title": "No", "detail": detail}, status, {"Retry-After": "3600"})
    server.on("GET", "/queue", answer)
    result = run("queue")
    first, *advice = result.stderr.splitlines()
    assert (result.exit_code, first) == (1, f"Error: No: {detail}")
    assert said in " ".join(advice) and len(advice) <= 1


def test_no_token__one_is_needed__advice_names_the_options(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/queue", Answer({"title": "Unauthorized"}, 401))
    said = run("queue", env={"LABLEDGER_TOKEN": None}).stderr
    assert "labledger login" in said and "LABLEDGER_TOKEN" in said
    assert "Authorization" not in server.asked[0].headers


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["sistems"], "`main systems`"),
        (["jobz"], "`main jobs`"),
        (["system", "drian"], "`main system drain`"),
        (["replay", "rebiuld"], "`main replay rebuild`"),
        (["system", "a.example.com"], "`main system show a.example.com`"),
        (["queue", "--limt", "3"], "--limit"),
        (["help"], "`main --help`"),
        (["help", "jobs"], "`main --help`"),
        (["version"], "`main --version`"),
        (["system", "help"], "`main system --help`"),
    ],
)
def test_typo__similar_command__is_suggested(run: Run, arguments: list[str], meant: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert meant in result.stderr


@pytest.mark.parametrize("below", ["", "data"])
def test_up__data_folder_that_is_a_file__says_so(run: Run, tmp_path: Path, below: str) -> None:
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    result = run("up", "--data", str(file / below))
    assert result.exit_code == 1
    assert f"{file} is a file" in result.stderr and "unexpected" not in result.stderr
    assert file.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"other": 1}'])
def test_answer__not_of_a_labledger__is_an_error_without_traceback(
    server: LoopbackServer, run: Run, body: bytes
) -> None:
    server.on("GET", "/queue", Answer(body))
    result = run("queue")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["nosuch"],
        ["watch"],  # Not a job id.
        ["watch", "seven"],
        ["submit", "/no/such/file.xml"],
        ["queue", "--limit", "0"],
        ["queue", "--as-of", "lately"],
        ["queue", "--url", "gopher://x"],  # An invalid setting.
        ["lab", "simulate", "--speed", "0"],
    ],
)
def test_usage__wrong__exit_status_2(run: Run, arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


@pytest.mark.parametrize(("value", "raised"), [("yes", True), ("no", False), ("perhaps", False), ("", False)])
def test_unexpected_error__traceback__only_on_request(
    run: Run, monkeypatch: pytest.MonkeyPatch, value: str, raised: bool
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("who would have thought")

    monkeypatch.setattr("cli.remote.connect", broken)
    result = run("queue", env={"LABLEDGER_TRACEBACK": value})
    assert result.exit_code == 1
    assert isinstance(result.exception, RuntimeError) == raised
    assert ("unexpected RuntimeError: who would have thought" in result.stderr) != raised


def test_connection_file__no_flags__is_used(server: LoopbackServer, run: Run, tmp_path: Path) -> None:
    content = json.dumps({"url": server.url, "token": "ll_kept"})
    (tmp_path / "connection.json").write_text(content, encoding="utf-8")
    server.on("GET", "/queue", Answer(QUEUE))
    assert run("queue", env={"LABLEDGER_URL": None, "LABLEDGER_TOKEN": None}).exit_code == 0
    assert server.asked[0].headers["Authorization"] == "Bearer ll_kept"


def test_data__without_connection_file__no_other_server_is_used(run: Run) -> None:
    result = run("queue", "--data", "/nonexistent", env={"LABLEDGER_URL": None})
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: /nonexistent/connection.json cannot be read")
