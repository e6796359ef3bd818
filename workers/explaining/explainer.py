"""Asks the process that explains; it is started when somebody asks, and again where it has ended."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import orjson

from domain.errors import LabledgerError, Unknown
from postgres.errors import DatabaseAway, DatabaseFull
from runtime.settings import variable

REFUSALS: Final = {error.__name__: error for error in (DatabaseAway, DatabaseFull, Unknown)}
# It may have ended just now because nobody had asked for long.
ATTEMPTS = 2
# Nobody waits longer for one answer; our own clients give up after half as much again.
PATIENCE_SECONDS = 20.0


class ExplanationFailed(LabledgerError):
    """The explaining process has ended."""


class StillReading(ExplanationFailed):
    """The explaining process is still reading the log; try again."""


class Explainer:
    """One question after the other; who waits for an answer holds up nothing else of the API.

    A question that has been begun is answered to its end, so that whoever asks again need not wait as long;
    one whose asker has gone is not begun.
    """

    def __init__(self, url: str, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._url = url
        self._patience_seconds = patience_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._asking = ThreadPoolExecutor(1, "explaining")
        self._closed = False

    async def ask(self, about: str, **question: Any) -> dict[str, Any]:
        """`about` names one of `answers.ANSWERS`. Raises what that does, and ExplanationFailed."""
        line = orjson.dumps({"about": about, **question}) + b"\n"
        asked = asyncio.wrap_future(self._asking.submit(self._ask, line))
        try:
            said = await asyncio.wait_for(asked, self._patience_seconds)
        except TimeoutError:
            raise StillReading(
                f"no answer within {self._patience_seconds:g} s: the first one, and those about the past, may"
                " take longer, and it goes on with it"
            ) from None
        if "refused" in said:
            name, message = said["refused"]
            raise REFUSALS.get(name, ExplanationFailed)(message)
        answer: dict[str, Any] = said["answer"]
        return answer

    def _ask(self, line: bytes) -> dict[str, Any]:
        for _ in range(ATTEMPTS):
            if self._closed:
                break
            if answer := self._exchanged(self._running(), line):
                said: dict[str, Any] = orjson.loads(answer)
                return said
        raise ExplanationFailed("it ended without an answer")

    def _exchanged(self, process: subprocess.Popen[bytes], line: bytes) -> bytes:
        """Empty where it has ended."""
        assert process.stdin is not None and process.stdout is not None, "it was started with pipes"
        try:
            process.stdin.write(line)
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:
            answer = b""
        if not answer:
            self._end()
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "workers.explaining.part"],
                env={**os.environ, variable("database_url"): self._url},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # Ctrl-C reaches only who asks.
                start_new_session=True,
            )
        return self._process

    def _end(self) -> None:
        """It has nothing to lose."""
        process, self._process = self._process, None
        if process is not None:
            with process:
                process.kill()

    async def close(self) -> None:
        """An answer that somebody still waits for does not come any more."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()
        await asyncio.to_thread(self._asking.shutdown)
        self._end()
