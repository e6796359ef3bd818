"""Fault 5: the commit is done, the answer is lost on its way."""

from __future__ import annotations

import pytest
from eventsourcing.persistence import IntegrityError

from tests.store.faults.proxy import Proxy
from tests.store.faults.stores import Store, stored


def test_insert_events__answer_lost_after_the_commit__taken_for_a_conflict_by_stock_alone(
    far_store: Store, way: Proxy
) -> None:
    recorder = far_store.recorder
    recorder.insert_events(stored("warm"))
    way.lose_answer_to(b"mine")

    if far_store.faulty:
        with pytest.raises(IntegrityError):
            recorder.insert_events(stored("mine"), command_id="mine")
    else:
        assert recorder.insert_events(stored("mine"), command_id="mine") == range(2, 3)

    assert way.lost.is_set()
    assert len(recorder.select_events("mine")) == 1, "its own event was written, once"
