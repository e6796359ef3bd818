"""A stream of jobs, one a line: submitted in batches, and answered line by line.

While a batch is being submitted nothing more is read, so no client sends faster than its jobs are stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from typing import Any, Final

import orjson

from api.concurrency_limits import Overloaded
from api.intake.limits import MAX_BODY_BYTES
from api.rest.context import Principal
from api.rest.ports import JobResourceParts
from api.rest.problems import problem
from api.rest.resources.item_submissions import ItemFailed, JobItem, item_answer, submit_items
from api.use_cases.ports import RequestContext
from api.use_cases.tokens import is_valid_token
from domain.errors import Fault, LabledgerError, TooLarge, Unreadable
from postgres.errors import DatabaseAway

# Maximum number of lines in a batch, which are those that have arrived.
MAX_LINES: Final = 50
# After these errors, later lines would be refused, too.
ENDING: Final = (DatabaseAway, Overloaded, ItemFailed)
# Seconds between two checks whether the stream has to end, while no bytes arrive.
POLL_SECONDS: Final = 1.0


class StreamEnded(Exception):
    """The service ends the stream, for the reason in the problem `answer`."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        super().__init__(answer)
        self.answer = answer


class LineRefused(Exception):
    """A line ends the stream, for the reason of `error`."""

    def __init__(self, number: int, error: LabledgerError) -> None:
        super().__init__(number, error)
        self.number = number
        self.error = error


async def line_batches(
    chunks: AsyncIterable[bytes], on_buffered: Callable[[int], None]
) -> AsyncIterator[list[JobItem]]:
    """Yield the lines of a stream in batches, numbered from 1, without empty ones.

    A chunk is not requested before all complete lines of the one before it were yielded. `on_buffered` is
    called with the number of bytes in memory. Raises LineRefused for a line of more than MAX_BODY_BYTES, and
    for a last line without an end, because a connection that breaks off looks like the end of the stream.
    """
    number, line = 0, bytearray()
    async for chunk in chunks:
        on_buffered(len(line) + len(chunk))
        batch: list[JobItem] = []
        begin = 0
        while (end := chunk.find(b"\n", begin)) >= 0 and len(line) + end - begin <= MAX_BODY_BYTES:
            number += 1
            line += chunk[begin:end]
            if line.strip():
                batch.append(JobItem(number, bytes(line)))
            line.clear()
            begin = end + 1
            if len(batch) == MAX_LINES:
                yield batch
                batch = []
        if batch:
            yield batch
        line += chunk[begin:]
        if len(line) > MAX_BODY_BYTES:
            faults = [Fault("line", f"must not have more than {MAX_BODY_BYTES} bytes")]
            raise LineRefused(number + 1, TooLarge(faults))
        on_buffered(len(line))
    if line.strip():
        faults = [Fault("line", "has no end; write a newline after each line")]
        raise LineRefused(number + 1, Unreadable(faults))


class JobStream:
    """The submission of the jobs in a stream, for one request.

    `on_buffered` is called with the number of bytes in memory; `is_disconnected` returns whether the client
    has gone.
    """

    def __init__(
        self,
        parts: JobResourceParts,
        principal: Principal,
        request: RequestContext,
        on_buffered: Callable[[int], None],
        is_disconnected: Callable[[], bool],
        *,
        strict: bool,
    ) -> None:
        self._parts = parts
        self._principal = principal
        self._request = request
        self._on_buffered = on_buffered
        self._is_disconnected = is_disconnected
        self._strict = strict

    async def answers(self, chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        """Submit the job of each line, and yield its answer as a line: `{"line", "status", …}`.

        The stream ends early, with the answer for the first line that was not submitted, at a refused line,
        when the token becomes invalid, when the service stops, and while the database is away.
        """
        first = 1
        try:
            async for lines in line_batches(self._while_open(chunks), self._on_buffered):
                self._require_open()
                outcomes = await submit_items(
                    self._parts, self._principal, self._request, lines, strict=self._strict
                )
                answered = zip(lines, outcomes, strict=True)
                yield b"".join(_answer_line(line.number, item_answer(outcome)) for line, outcome in answered)
                if self._is_disconnected() or any(isinstance(outcome, ENDING) for outcome in outcomes):
                    return
                first = lines[-1].number + 1
        except LineRefused as refused:
            yield _answer_line(refused.number, item_answer(refused.error))
        except StreamEnded as ended:
            yield _answer_line(first, ended.answer)
        except LabledgerError as error:
            yield _answer_line(first, item_answer(error))

    async def _while_open(self, chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        """Yield the chunks as they arrive. Raises StreamEnded, also while none arrives."""
        remaining = aiter(chunks)
        while True:
            # A task, because the wait for a chunk must not be cancelled when it lasts long.
            receiving = asyncio.ensure_future(_next_of(remaining))
            try:
                while not (await asyncio.wait([receiving], timeout=POLL_SECONDS))[0]:
                    self._require_open()
                chunk = receiving.result()
            finally:
                receiving.cancel()
            if chunk is None:
                return
            yield chunk

    def _require_open(self) -> None:
        """Raise StreamEnded if the token has become invalid, or the service stops."""
        if not is_valid_token(self._parts, self._principal.token_id):
            raise StreamEnded(problem(401, "the token is no longer valid"))
        if self._parts.feed.is_closing:
            raise StreamEnded(problem(503, "this process stops; repeat the request with its Idempotency-Key"))


async def _next_of(chunks: AsyncIterator[bytes]) -> bytes | None:
    return await anext(chunks, None)


async def after_first_answer(answers: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Return the answers once the first of them is there.

    A client that waits for `100 Continue` sends its body only before the answer begins.
    """
    first = await anext(answers, b"")

    async def all_answers() -> AsyncIterator[bytes]:
        if first:
            yield first
        async for answer in answers:
            yield answer

    return all_answers()


def _answer_line(number: int, answer: Mapping[str, Any]) -> bytes:
    return orjson.dumps({"line": number, **answer}, option=orjson.OPT_APPEND_NEWLINE)
