"""Fault 3: an event between a subscription's first read and its LISTEN is delivered with the next event."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager

import pytest

from store import tailer
from store.tailer import TailerCounters
from tests.harness.databases import TestDatabase
from tests.store.faults.following import following, next_of
from tests.store.faults.proxy import Proxy
from tests.store.faults.stores import Store, ours, stock, stored

SILENCE_SECONDS = 2.5


def test_subscribe__event_committed_before_listen__late_by_a_whole_event_in_stock_alone(
    far_store: Store, way: Proxy, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    counters = TailerCounters()
    monkeypatch.setattr(tailer, "TailerCounters", lambda: counters)
    way.hold(b"LISTEN")
    with following(far_store.recorder) as heard, near(far_store, database) as writer:
        assert way.held.wait(60)
        time.sleep(0.5)  # Meanwhile the stock subscription reads for the first time, on another connection.
        writer.recorder.insert_events(stored("between"))
        way.release()

        if far_store.faulty:
            assert next_of(heard, SILENCE_SECONDS) is None
        else:
            assert next_of(heard, 10) == "between"
            assert counters.backstop_finds == 0, "one read was enough"
        writer.recorder.insert_events(stored("after"))
        late = [next_of(heard, 10), next_of(heard, 10)] if far_store.faulty else [next_of(heard, 10)]
    assert late == (["between", "after"] if far_store.faulty else ["after"])


def near(store: Store, database: TestDatabase) -> AbstractContextManager[Store]:
    return stock(database) if store.name == "stock" else ours(database)
