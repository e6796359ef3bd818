"""Renewal of a lease while a loop completes rounds or computes, and not while it waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.harness.waiting import wait_until
from workers import heartbeat
from workers.heartbeat import Heartbeat, Progress


class Loop:
    """A thread that repeats one action, and its progress."""

    def __init__(self, does: Callable[[Progress], None]) -> None:
        self._does = does
        self._made = threading.Event()
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        self._made.wait()

    def _run(self) -> None:
        self.progress = Progress()
        self._made.set()
        while not self.stop.is_set():
            self._does(self.progress)


@contextmanager
def loop(does: Callable[[Progress], None]) -> Iterator[Loop]:
    running = Loop(does)
    try:
        yield running
    finally:
        running.stop.set()
        running.thread.join()


def compute(_: Progress) -> None:
    sum(range(1_000))


def wait(_: Progress) -> None:
    # Rarely enough that waking up does not count as computing on a busy machine.
    time.sleep(0.1)


def come_round(progress: Progress) -> None:
    progress.complete_round()
    time.sleep(0.01)


@pytest.mark.parametrize("does", [compute, come_round])
def test_heartbeat__loop_gets_on__lease_renewed_again_and_again(does: Callable[[Progress], None]) -> None:
    renewed: list[None] = []
    with loop(does) as running, Heartbeat(running.progress, lambda: renewed.append(None), seconds=0.2):
        wait_until(lambda: len(renewed) > 3)


def test_heartbeat__loop_waits_for_something__lease_not_renewed() -> None:
    renewed: list[None] = []
    looked = threading.Event()

    class Looked(Progress):
        looks = 0

        def is_made(self) -> bool:
            self.looks += 1
            if self.looks > 5:
                looked.set()
            return super().is_made()

    with loop(wait) as running:
        # Made in the thread that it watches, as a scheduler does; here it is watched by another class.
        running.progress.__class__ = Looked
        with Heartbeat(running.progress, lambda: renewed.append(None), seconds=1.0):
            assert looked.wait(60)
    assert renewed == []


def test_heartbeat__renewing_goes_wrong_once__goes_on(caplog: pytest.LogCaptureFixture) -> None:
    renewed: list[None] = []
    wrong = iter([True])

    def renew() -> None:
        if next(wrong, False):
            raise ValueError("a fault")
        renewed.append(None)

    with loop(come_round) as running, Heartbeat(running.progress, renew, seconds=0.2):
        wait_until(lambda: renewed)
    assert "heartbeat: a check failed" in caplog.text


def test_progress__computes_for_longer_than_any_step__is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    cpu = [0.0]
    monkeypatch.setattr(heartbeat, "_cpu_clock", lambda: lambda: cpu[0])
    progress = Progress(clock=lambda: now[0])

    def later(seconds: float) -> bool:
        now[0] += seconds
        cpu[0] += seconds
        return progress.is_made()

    assert later(heartbeat.MAX_COMPUTING_SECONDS - 1)
    assert not later(2)
    progress.complete_round()
    assert later(2)
    assert later(2)
