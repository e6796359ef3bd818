"""One record per request, with its user, subject and outcome, without tokens and bodies."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import falcon
import falcon.asgi
import pytest
from falcon import testing

from api.metrics.requests import RequestCounters
from api.rest.middleware.access_log import LOGGER, AccessLog

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
