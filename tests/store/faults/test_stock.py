"""Faults of the stock recorder and subscription, which the store does not have."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator
from itertools import chain

import pytest
from eventsourcing.persistence import IntegrityError

from api import database_setup
from runtime.settings import Settings
from store.recorder import Recorder, StoredAppend
from store.requests import Committed, Conflict
from tests.harness.databases import register_topics_of_tests
from tests.harness.programs import Program, program, read_line, write_line
from tests.harness.servers import FAST, cluster
from tests.store.faults.proxy import Proxy
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


PAUSE_SECONDS = 0.5
SILENCE_SECONDS = 4.0  # twenty times what the save takes
PATIENCE_SECONDS = 60.0


@pytest.fixture(scope="module")
def socket_url() -> Iterator[str]:
    """Yield the URL of a server for this test alone."""
    with cluster(FAST) as made:
        url = made.start().owner_url
        database_setup.migrate(Settings.read({}, database_url=url))
        register_topics_of_tests(url)
        yield url


def test_insert_events__big_batch_and_backend_paused__hangs_in_stock_alone(
    kind: str, socket_url: str
) -> None:
    with program("tests.store.faults.big_save", kind, socket_url) as saving:
        backend = int(read_line(saving))
        os.kill(backend, signal.SIGSTOP)
        try:
            write_line(saving, "go")
            time.sleep(PAUSE_SECONDS)
        finally:
            os.kill(backend, signal.SIGCONT)
        output = hear_within(saving, SILENCE_SECONDS if kind == "stock" else PATIENCE_SECONDS)

    assert output == (None if kind == "stock" else "saved")


def hear_within(process: Program, seconds: float) -> str | None:
    readable, _, _ = select.select([process.stdout], [], [], seconds)
    return read_line(process) if readable else None


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
