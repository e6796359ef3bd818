"""Streams of jobs that end early: the client has gone, the jobs cannot be stored, or a limit is reached."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from api.rest.resources import job_stream
from api.rest.resources.item_submissions import ItemFailed, Outcome
from api.rest.resources.job_stream import MAX_LINES, JobStream
from domain.errors import LabledgerError, Refused, TooOften
from postgres.errors import DatabaseAway
from tests.rest.jobs.stream_lines import OPEN, numbered


class StreamOfThree:
    """A stream of three batches. `fails` returns the error for the jobs of a batch, by its first line."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.submitted: list[int] = []
        self.fails: Callable[[int], LabledgerError] = lambda first: Refused("in this test")
        monkeypatch.setattr(job_stream, "submit_items", self._submit)
        monkeypatch.setattr(job_stream, "is_valid_token", lambda parts, token_id: True)

    async def _submit(self, *given: Any, strict: bool) -> list[Outcome]:
        numbers = [line.number for line in given[-1]]
        self.submitted += numbers
        return [self.fails(numbers[0])] * len(numbers)

    def answers(
        self,
        on_buffered: Callable[[int], None] = lambda size: None,
        is_disconnected: Callable[[], bool] = lambda: False,
    ) -> list[Any]:
        """Return the answer for each line."""
        nobody: Any = SimpleNamespace(token_id="")
        parts: Any = SimpleNamespace(feed=SimpleNamespace(is_closing=False))
        request: Any = None
        stream = JobStream(parts, nobody, request, on_buffered, is_disconnected, strict=False)

        async def received() -> AsyncIterator[bytes]:
            yield OPEN * 3 * MAX_LINES

        async def answered() -> list[bytes]:
            return [answer async for answer in stream.answers(received())]

        return [json.loads(line) for answer in asyncio.run(answered()) for line in answer.splitlines()]


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch) -> StreamOfThree:
    return StreamOfThree(monkeypatch)


def test_stream__whose_client_has_gone__submits_no_further_batch(three: StreamOfThree) -> None:
    # It goes during the second batch.
    answers = three.answers(is_disconnected=lambda: len(three.submitted) > MAX_LINES)
    assert len(answers) == 2 * MAX_LINES
    assert three.submitted == list(range(1, 2 * MAX_LINES + 1))


@pytest.mark.parametrize(
    ("error", "status"), [(DatabaseAway("in this test"), 503), (ItemFailed("in this test"), 500)]
)
def test_stream__whose_jobs_cannot_be_stored__ends_with_the_answers_of_the_batch(
    three: StreamOfThree, error: LabledgerError, status: int
) -> None:
    three.fails = lambda first: error if first > 1 else Refused("in this test")
    answers = three.answers()
    assert numbered(answers) == [
        (number, 409 if number <= MAX_LINES else status) for number in range(1, 2 * MAX_LINES + 1)
    ]
    assert answers[-1].get("retry_after_seconds") == (2 if status == 503 else None)


def test_stream__beyond_the_limit_of_bodies__ends_with_the_first_line_that_was_not_submitted(
    three: StreamOfThree,
) -> None:
    def refuse(size: int) -> None:
        if three.submitted:
            raise TooOften("in this test", 3)

    answers = three.answers(on_buffered=refuse)
    assert numbered(answers[-2:]) == [(3 * MAX_LINES, 409), (3 * MAX_LINES + 1, 429)]
    assert answers[-1]["retry_after_seconds"] == 3
