"""GET /jobs/{id} by `Accept`: where the job stands, or the job as XML."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import falcon.asgi
import falcon.testing
import pytest

from api.rest.jobs import Jobs
from api.services import Services
from tests.intake.jobs import read_xml, sample

SPEC = read_xml(sample("guests.xml"))


class OneJob:
    """Read models that know one job, without recipes."""

    async def reach(self, *_: Any) -> None: ...

    async def as_of(self, _: Any) -> int:
        return 7

    async def row(self, query: str, params: dict[str, Any]) -> dict[str, Any]:
        return {"job_id": params["job_id"], "state": "running", "document": SPEC.document}

    async def rows(self, *_: Any) -> list[Any]:
        return []


def ask(accept: str | None) -> falcon.testing.Result:
    app = falcon.asgi.App()
    services = cast(Services, SimpleNamespace(reader=OneJob()))
    app.add_route("/jobs/{job_id:int}", Jobs(services), suffix="one")
    headers = {} if accept is None else {"Accept": accept}
    return falcon.testing.TestClient(app).simulate_get("/jobs/3", headers=headers)


@pytest.mark.parametrize("accept", ["application/xml", "text/xml", "application/json;q=0.5, text/xml"])
def test_job__asked_for_as_xml__is_the_job_that_was_submitted(accept: str) -> None:
    answer = ask(accept)
    assert answer.headers["content-type"] in accept
    assert (answer.headers["labledger-position"], answer.headers["vary"]) == ("7", "Accept")
    assert read_xml(answer.content) == SPEC


# Nothing said, anything welcome, JSON welcome too, or something nobody has.
@pytest.mark.parametrize(
    "accept", [None, "*/*", "application/*", "text/xml;q=0.1, application/json", "image/png"]
)
def test_job__asked_for_otherwise__is_json(accept: str | None) -> None:
    answer = ask(accept)
    assert answer.headers["content-type"] == "application/json"
    assert (answer.json["job_id"], answer.json["state"]) == (3, "running")
