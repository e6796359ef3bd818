"""Who asks the process that explains."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from api.explaining.explainer import Explainer, ExplanationFailed

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
