"""Logs of processes, and of requests."""

from __future__ import annotations

import json
import logging
import re
import select
import sys
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import falcon
import falcon.asgi
import pytest
from falcon import testing

from api.metrics.requests import RequestCounters
from api.rest.middleware.access_log import LOGGER, AccessLog
from runtime.processes.logs import formatter
from runtime.settings import Settings
from tests.harness.databases import TestDatabase
from tests.harness.programs import Program, program
from tests.harness.sessions import owner_session

OF_UNREGISTERED_TOPIC = b"""
INSERT INTO log.topics VALUES ('no.such');
INSERT INTO log.events VALUES ('job/1', 1, 'no.such', '{}', 1, 1, now())
"""
RFC_3339_UTC = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")


def said(
    log_format: str | None, message: str, *args: object, is_terminal: bool = False, **fields: object
) -> str:
    """Return a formatted record of the scheduler."""
    record = logging.LogRecord("api.part", logging.WARNING, __file__, 1, message, args, None)
    record.__dict__.update(fields)
    settings = Settings.read({}, log_format=log_format)
    return formatter(settings, "scheduler", is_terminal=is_terminal).format(record)


def test_json__any_record__has_time_level_process_logger_event_and_its_fields() -> None:
    document = json.loads(said("json", "lease %s", "taken", epoch=3, holder="host/1"))
    assert RFC_3339_UTC.match(document.pop("time"))
    assert list(document.items()) == [
        ("level", "warning"),
        ("process", "scheduler"),
        ("logger", "api.part"),
        ("event", "lease taken"),
        ("epoch", 3),
        ("holder", "host/1"),
    ]


def test_json__time__is_that_of_the_record() -> None:
    before = datetime.now(UTC)
    logged = datetime.fromisoformat(json.loads(said("json", "now"))["time"])
    assert before <= logged <= datetime.now(UTC)


def test_json__several_lines_and_things_that_json_does_not_know__are_one_line() -> None:
    line = said("json", "one\ntwo", where={1, 2}, of=object())
    assert "\n" not in line
    assert json.loads(line)["event"] == "one\ntwo"


def test_json__exception__is_a_field() -> None:
    try:
        raise LookupError("nothing there")
    except LookupError:
        document = json.loads(said("json", "failed", exc_info=sys.exc_info()))
    assert document["exception"].startswith("Traceback")
    assert document["exception"].endswith("LookupError: nothing there")
    assert "exc_info" not in document


def test_people__any_record__is_a_line_that_names_its_process() -> None:
    line = said("people", "lease %s", "taken", epoch=3)
    assert re.match(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[warning *\] scheduler: lease taken epoch=3$", line)


def test_people__exception__is_shown_without_the_values_around_it() -> None:
    token = "ll_" + "secret"
    try:
        raise LookupError(len(token))
    except LookupError:
        shown = said("people", "failed", exc_info=sys.exc_info())
    assert "LookupError: 9" in shown
    assert token not in shown


@pytest.mark.parametrize(("is_terminal", "is_json"), [(True, False), (False, True)])
def test_format__no_setting__is_for_people_on_a_terminal_only(is_terminal: bool, is_json: bool) -> None:
    assert said(None, "hello", is_terminal=is_terminal).startswith("{") == is_json


@pytest.mark.parametrize("command", ["scheduler", "projector", "notifier", "serve"])
def test_process__no_terminal__writes_nothing_but_json_to_standard_error(
    command: str, database: TestDatabase
) -> None:
    with program("cli", command, LABLEDGER_DATABASE_URL=database.service_url, LABLEDGER_PORT="0") as process:
        first = json.loads(first_line(process))
        process.terminate()
        out, err = process.communicate(timeout=20)
    documents = [first, *map(json.loads, err.splitlines())]
    assert out == ""
    assert {document["process"] for document in documents} == {command}


def test_process__ended_by_a_fault__says_so_in_its_log(database: TestDatabase) -> None:
    with owner_session(database.owner_url) as owner:
        owner.execute(OF_UNREGISTERED_TOPIC)
    with program("cli", "projector", LABLEDGER_DATABASE_URL=database.service_url) as process:
        _, err = process.communicate(timeout=20)
    last = json.loads(err.splitlines()[-1])
    assert process.returncode == 1
    assert (last["level"], last["event"]) == ("critical", "ended by an unexpected error")
    assert "Traceback" in last["exception"]


def first_line(process: Program) -> str:
    assert process.stderr is not None
    assert select.select([process.stderr], [], [], 20)[0], "it says nothing"
    return process.stderr.readline()


TOKEN = "ll_not_for_the_log"


class FixedPrincipal:
    """Middleware that sets the principal, as the gate does."""

    async def process_request(self, req: Any, resp: Any) -> None:
        req.context.request_id = "r-1"

    async def process_resource(self, req: Any, resp: Any, resource: Any, params: Any) -> None:
        req.context.principal = SimpleNamespace(user="alice")


class Jobs:
    async def on_get(self, req: Any, resp: Any, job_id: int) -> None:
        resp.status = 200

    async def on_post(self, req: Any, resp: Any, job_id: int) -> None:
        raise falcon.HTTPConflict

    async def on_delete(self, req: Any, resp: Any, job_id: int) -> None:
        raise ZeroDivisionError


@pytest.fixture
def client() -> testing.TestClient:
    app = falcon.asgi.App(middleware=[AccessLog(RequestCounters()), FixedPrincipal()])
    app.add_route("/jobs/{job_id:int(min=1)}", Jobs())
    return testing.TestClient(app)


def fields(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    names = ("method", "path", "status", "request_id", "user")
    return [
        {name: vars(record)[name] for name in names} for record in caplog.records if record.name == LOGGER
    ]


@pytest.mark.parametrize(
    ("method", "path", "status", "template", "user"),
    [
        ("GET", "/jobs/12", 200, "/jobs/{job_id}", "alice"),
        ("POST", "/jobs/12", 409, "/jobs/{job_id}", "alice"),
        ("DELETE", "/jobs/12", 500, "/jobs/{job_id}", "alice"),
        ("PUT", "/jobs/12", 405, "/jobs/{job_id}", "alice"),
        # a path without a resource needs no principal, and an invented path is not recorded
        ("GET", f"/{TOKEN}", 404, None, None),
    ],
)
def test_request__whatever_its_answer__is_one_record(
    client: testing.TestClient,
    caplog: pytest.LogCaptureFixture,
    method: str,
    path: str,
    status: int,
    template: str | None,
    user: str | None,
) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with caplog.at_level(logging.INFO):
        client.simulate_request(method, path, headers=headers, body=f'{{"password": "{TOKEN}"}}')
    asked = {"method": method, "path": template, "status": status, "request_id": "r-1", "user": user}
    assert fields(caplog) == [asked]
    (record,) = (record for record in caplog.records if record.name == LOGGER)
    assert vars(record)["seconds"] >= 0
    assert (record.levelno == logging.ERROR) == (status >= 500)
    assert all(TOKEN not in str(value) for value in vars(record).values())


def test_request__requests_are_not_to_be_logged__faults_are_all_the_same(
    client: testing.TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger(LOGGER)
    logger.setLevel(logging.WARNING)
    try:
        client.simulate_get("/jobs/12")
        client.simulate_delete("/jobs/12")
    finally:
        logger.setLevel(logging.NOTSET)
    assert [one["status"] for one in fields(caplog)] == [500]
