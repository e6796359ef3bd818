"""A case that has measured nothing, or less time than it took, has no figure that passes for a good one."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from unittest.mock import MagicMock

import pytest

from bench.cases import change, explanation, multihost, query, submit
from bench.hold_times import Holding
from bench.measurements import Span
from bench.outcome import Sizes
from bench.progress import nobody
from bench.raw_http import Refused

SIZES = Sizes(10, 10, 10, None, 50, 1, 1)


def doing_nothing(monkeypatch: pytest.MonkeyPatch, module: Any, *names: str) -> Any:
    """A stand of which nothing is wanted but the end of its log."""
    for name in names:
        monkeypatch.setattr(module, name, lambda *_: None)

    class Empty:
        class log:  # noqa: N801
            end = staticmethod(lambda: 0)

    return Empty


def test_query__a_reader_is_refused_after_a_while__is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(_stand: Any, _paths: Any, taken: query.Taken, _over: Any) -> None:
        taken["queue"].append(0.001)
        raise Refused("HTTP/1.1 503")

    stand = doing_nothing(monkeypatch, query, "enable", "wait_for_projectors")
    monkeypatch.setattr(query, "_paths", lambda _: {"queue": "/queue"})
    monkeypatch.setattr(query, "_read_all", refused)
    with pytest.raises(Refused):
        query.measure(stand, SIZES, nobody)


def test_multihost__no_set_got_a_system__is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    stand = doing_nothing(monkeypatch, multihost, "enable", "queue", "settle", "made_up")
    monkeypatch.setattr(multihost, "_ended_on_half", lambda *_: Span(0, 0, 0.0))
    monkeypatch.setattr(multihost, "_holding", lambda *_: Holding())
    monkeypatch.setattr(multihost, "Filling", lambda *_: Filling())
    with pytest.raises(ValueError, match="nothing to compare"):
        multihost.measure(stand, SIZES, nobody)


def test_explanation__nobody_waits__is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    stand = doing_nothing(monkeypatch, explanation, "enable")
    monkeypatch.setattr(stand.log, "rows", lambda *_: [], raising=False)
    with pytest.raises(ValueError, match="nothing to explain"):
        explanation.measure(stand, SIZES, nobody)


def test_change__nobody_took_what_changed__is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    stand = doing_nothing(monkeypatch, change, "enable", "settle")
    monkeypatch.setattr(change, "take_turn", lambda _: ["job/1", "recipe-set/1", "recipe/1"])
    monkeypatch.setattr(change, "span_of", lambda *_: Span(0, 0, 0.0))
    monkeypatch.setattr(change, "made_up", lambda _: {"systems": []})
    monkeypatch.setattr(stand.log, "rows", lambda *_: [(0.1,)], raising=False)
    monkeypatch.setattr(stand, "client", MagicMock, raising=False)
    with pytest.raises(ValueError, match="policy: nobody who waits took any"):
        change.measure(stand, SIZES, nobody)


def test_submit__last_answers_come_late__count_for_the_time_they_took(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def late(*_: Any) -> list[float]:
        await asyncio.sleep(0.5)
        return [0.5] * 10

    stand = doing_nothing(monkeypatch, submit, "made_up", "enable", "wait_for_projectors")
    monkeypatch.setattr(stand, "url", "", raising=False)
    monkeypatch.setattr(submit, "Filling", lambda *_: Filling())
    monkeypatch.setattr(submit, "bodies", lambda *_: [b""])
    monkeypatch.setattr(submit, "request", lambda *_: b"")
    monkeypatch.setattr(stand, "token", "", raising=False)
    monkeypatch.setattr(submit, "asked_for", late)
    figures = submit.measure(stand, replace(SIZES, seconds=0.1), nobody)
    assert figures["jobs_per_second"] <= 20


class Filling:
    def catch_up(self) -> None:
        """There is nothing."""
