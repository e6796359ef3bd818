"""Fault 6: of several requests that are saved at once, one is in conflict."""

from __future__ import annotations

from itertools import chain

import pytest
from eventsourcing.persistence import IntegrityError

from store.recorder import Recorder, StoredAppend
from store.requests import Committed, Conflict
from tests.store.faults.stores import Events, Store, rows_of, stored


def test_group__one_request_in_conflict__all_lost_in_stock_alone(store: Store) -> None:
    recorder = store.recorder
    recorder.insert_events(stored("taken"))
    group = [stored("first"), stored("taken"), stored("last", "of all")]

    if isinstance(recorder, Recorder):
        outcomes = recorder.insert([request(str(number), events) for number, events in enumerate(group)])
        assert [type(outcome) for outcome in outcomes] == [Committed, Conflict, Committed]
    else:
        # The stock recorder has no requests; for several callers it can only save all events together.
        with pytest.raises(IntegrityError):
            recorder.insert_events(list(chain.from_iterable(group)))

    written = [name for name in ("first", "taken", "last", "of all") if recorder.select_events(name)]
    assert written == (["taken"] if store.faulty else ["first", "taken", "last", "of all"])


def request(command_id: str, events: Events) -> StoredAppend:
    return StoredAppend(command_id, rows_of(events), {str(event.originator_id): 0 for event in events})
