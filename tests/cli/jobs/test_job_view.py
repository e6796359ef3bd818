"""The view of a job that `labledger watch` follows."""

from __future__ import annotations

from typing import Any

import pytest

from cli.jobs.job_view import JobView

FINISHED = {"recipe_id": 1, "state": "completed", "result": "Pass"}


@pytest.mark.parametrize(
    ("job", "is_finished"),
    [
        ({"open": True}, False),
        ({"open": True, "recipes": [FINISHED]}, False),
        ({"open": False}, True),
        ({"open": False, "recipes": [FINISHED]}, True),
        ({"open": False, "recipes": [FINISHED, {**FINISHED, "state": "running"}]}, False),
        # Earlier versions of the service have no open jobs.
        ({"recipes": [FINISHED]}, True),
    ],
)
def test_is_finished__open_job__not_before_it_is_closed(job: dict[str, Any], is_finished: bool) -> None:
    client: Any = None
    sets = [{"recipe_set_id": 3, "recipes": job.get("recipes", [])}]
    view = JobView(client, 1, job={**job, "recipe_sets": sets})
    assert view.is_finished() is is_finished


def test_title__stage_that_differs_from_the_state__is_said() -> None:
    client: Any = None
    job = {"state": "running", "stage": "failing", "result": "New", "recipe_sets": []}
    assert JobView(client, 7, job=job).title == "job 7: running, stage failing"
    assert JobView(client, 7, job={**job, "stage": "running"}).title == "job 7: running"
