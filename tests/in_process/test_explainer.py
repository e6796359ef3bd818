"""The client of the explaining process."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import pytest

from runtime.processes.child import Child, ChildFailed
from workers.explaining.explainer import Explainer, StillReading

NOWHERE = "postgresql://127.0.0.1:1/nothing"


def test_close__process_hangs__question_fails_and_no_process_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    running = Explainer._running

    def counted(explainer: Explainer) -> Child:
        child = running(explainer)
        started.append(child.pid)
        return child

    async def closed_meanwhile() -> None:
        explainer = Explainer(NOWHERE)
        asking = asyncio.create_task(explainer.ask("recipe", recipe_id=1))
        while not started:
            await asyncio.sleep(0.01)
        os.kill(started[0], signal.SIGSTOP)
        await explainer.close()
        with pytest.raises(ChildFailed):
            await asking

    monkeypatch.setattr(Explainer, "_running", counted)
    asyncio.run(closed_meanwhile())

    assert len(started) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)


def test_ask__no_answer_in_time__fails_and_next_question_is_not_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[int] = []
    exchange = Explainer._exchange

    def stopped(explainer: Explainer, child: Child, question: dict[str, Any]) -> dict[str, Any]:
        begun.append(question["recipe_id"])
        os.kill(child.pid, signal.SIGSTOP)
        return exchange(explainer, child, question)

    async def asked_twice() -> None:
        explainer = Explainer(NOWHERE, timeout_seconds=0.3)
        for recipe_id in (1, 2):
            with pytest.raises(StillReading, match=r"no answer within 0\.3 s"):
                await explainer.ask("recipe", recipe_id=recipe_id)
        await explainer.close()

    monkeypatch.setattr(Explainer, "_exchange", stopped)
    asyncio.run(asked_twice())

    assert begun == [1]


def test_ask__unexpected_error_in_the_process__asked_once_more_and_error_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: set[int] = set()
    exchange = Explainer._exchange

    def counted(explainer: Explainer, child: Child, question: dict[str, Any]) -> dict[str, Any]:
        started.add(child.pid)
        return exchange(explainer, child, question)

    async def ask() -> None:
        explainer = Explainer(NOWHERE)
        # The process has no answer for this, and fails with a KeyError.
        with pytest.raises(ChildFailed, match=r"^the explaining process ended without an answer$"):
            await explainer.ask("no such question")
        await explainer.close()

    monkeypatch.setattr(Explainer, "_exchange", counted)
    asyncio.run(ask())

    assert len(started) == 2
