"""A case that measured nothing, or less time than it took, reports no good figure."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from unittest.mock import MagicMock

import pytest

from bench.cases import change, explanation, multihost, query, submit
from bench.hold_times import HoldTimes
from bench.measurements import EventSpan
from bench.outcome import Sizes, no_progress
from bench.raw_http import RequestFailed

SIZES = Sizes(10, 10, 10, None, 50, 1, 1)


def doing_nothing(monkeypatch: pytest.MonkeyPatch, module: Any, *names: str) -> Any:
    """Return a cluster with nothing but the end of a log."""
    for name in names:
        monkeypatch.setattr(module, name, lambda *_: None)

    class Empty:
        class log:  # noqa: N801
            end = staticmethod(lambda: 0)

    return Empty


def test_query__a_reader_is_refused_after_a_while__is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(_cluster: Any, _paths: Any, taken: query.ResponseTimes, _over: Any) -> None:
        taken["queue"].append(0.001)
        raise RequestFailed("HTTP/1.1 503")

    cluster = doing_nothing(monkeypatch, query, "enable", "wait_for_projectors")
    monkeypatch.setattr(query, "_paths", lambda _: {"queue": "/queue"})
    monkeypatch.setattr(query, "_read_all", refused)
    with pytest.raises(RequestFailed):
        query.measure(cluster, SIZES, no_progress)


def test_multihost__no_set_got_a_system__is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = doing_nothing(monkeypatch, multihost, "enable", "queue", "settle", "generated_lab")
    monkeypatch.setattr(multihost, "_end_on_half", lambda *_: EventSpan(0, 0, 0.0))
    monkeypatch.setattr(multihost, "_hold_times", lambda *_: HoldTimes())
    monkeypatch.setattr(multihost, "LogFiller", lambda *_: EmptyFiller())
    with pytest.raises(ValueError, match="nothing to compare"):
        multihost.measure(cluster, SIZES, no_progress)


def test_explanation__nobody_waits__is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = doing_nothing(monkeypatch, explanation, "enable")
    monkeypatch.setattr(cluster.log, "rows", lambda *_: [], raising=False)
    with pytest.raises(ValueError, match="nothing to explain"):
        explanation.measure(cluster, SIZES, no_progress)


def test_change__changed_systems_not_granted__is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = doing_nothing(monkeypatch, change, "enable", "settle")
    monkeypatch.setattr(change, "take_turn", lambda _: ["job/1", "recipe-set/1", "recipe/1"])
    monkeypatch.setattr(change, "span_of", lambda *_: EventSpan(0, 0, 0.0))
    monkeypatch.setattr(change, "generated_lab", lambda _: {"systems": []})
    monkeypatch.setattr(cluster.log, "rows", lambda *_: [(0.1,)], raising=False)
    monkeypatch.setattr(cluster, "client", MagicMock, raising=False)
    with pytest.raises(ValueError, match="policy: no waiting recipe took any"):
        change.measure(cluster, SIZES, no_progress)


def test_submit__last_answers_come_late__count_for_the_time_they_took(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def late(*_: Any) -> list[float]:
        await asyncio.sleep(0.5)
        return [0.5] * 10

    cluster = doing_nothing(monkeypatch, submit, "generated_lab", "enable", "wait_for_projectors", "account")
    monkeypatch.setattr(submit, "account_figures", lambda *_: {})
    monkeypatch.setattr(submit, "settle", lambda _: None)
    monkeypatch.setattr(cluster, "url", "", raising=False)
    monkeypatch.setattr(submit, "LogFiller", lambda *_: EmptyFiller())
    monkeypatch.setattr(submit, "bodies", lambda *_: [b""])
    monkeypatch.setattr(submit, "request", lambda *_: b"")
    monkeypatch.setattr(cluster, "token", "", raising=False)
    monkeypatch.setattr(submit, "request_times", late)
    figures = submit.measure(cluster, replace(SIZES, seconds=0.1), no_progress)
    assert figures["jobs_per_second"] <= 20


class EmptyFiller:
    def catch_up(self) -> None:
        """Read nothing."""
