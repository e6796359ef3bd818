"""Who asks the process that explains."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess

import pytest

from workers.explaining.explainer import Explainer, ExplanationFailed, StillReading

NOWHERE = "postgresql://127.0.0.1:1/nothing"


def test_close__process_hangs_over_a_question__fails_it_and_starts_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[int] = []
    running = Explainer._running

    def counted(explainer: Explainer) -> object:
        process = running(explainer)
        started.append(process.pid)
        return process

    async def closed_meanwhile() -> None:
        explainer = Explainer(NOWHERE)
        asking = asyncio.create_task(explainer.ask("recipe", recipe_id=1))
        while not started:
            await asyncio.sleep(0.01)
        os.kill(started[0], signal.SIGSTOP)
        await explainer.close()
        with pytest.raises(ExplanationFailed):
            await asking

    monkeypatch.setattr(Explainer, "_running", counted)
    asyncio.run(closed_meanwhile())

    assert len(started) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)


def test_ask__no_answer_for_long__is_told_so_and_the_next_question_is_not_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[bytes] = []
    asked = Explainer._exchanged

    def told(explainer: Explainer, process: subprocess.Popen[bytes], line: bytes) -> bytes:
        begun.append(line)
        os.kill(process.pid, signal.SIGSTOP)
        return asked(explainer, process, line)

    async def asked_twice() -> None:
        explainer = Explainer(NOWHERE, patience_seconds=0.3)
        for recipe_id in (1, 2):
            with pytest.raises(StillReading, match=r"no answer within 0\.3 s"):
                await explainer.ask("recipe", recipe_id=recipe_id)
        await explainer.close()

    monkeypatch.setattr(Explainer, "_exchanged", told)
    asyncio.run(asked_twice())

    assert [b'"recipe_id":1' in line for line in begun] == [True]
