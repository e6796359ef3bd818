"""Tests of the addresses beside the log: stored with the append, shown and deleted by their age."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from api.address_deletion import delete_addresses
from store.addresses import addresses_of, delete_old_addresses
from store.event_log import EventLog
from store.requests import AppendRequest
from tests.harness.appends import append_to, whole_log
from tests.harness.sessions import Owner


def _from(address: str, request: AppendRequest) -> AppendRequest:
    return replace(request, address=address)


def test_address__of_each_kind_of_append__is_that_of_its_commit(log: EventLog) -> None:
    one = _from("192.0.2.1", append_to("a", "b"))
    log.append([one])
    log.append([_from("192.0.2.2", append_to("c")), append_to("d")])
    log.append([_from("192.0.2.3", append_to("e")), _from("192.0.2.9", append_to("a", command_id="stale"))])
    log.append([replace(_from("2001:db8::7", append_to("f")), joins_seen=log.end())])
    log.append([replace(append_to("g"), joins_seen=log.end())])
    # A repetition from elsewhere writes nothing.
    log.append([replace(one, address="192.0.2.8")])
    events = whole_log(log)
    assert addresses_of(log, events, 1) == {2: "192.0.2.1", 3: "192.0.2.2", 5: "192.0.2.3", 6: "2001:db8::7"}
    assert addresses_of(log, events[2:4], 1) == {3: "192.0.2.2"}
    assert addresses_of(log, [], 1) == {}


def test_addresses__older_than_their_days__not_shown_and_deleted(
    log: EventLog, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.addresses.DELETED_AT_ONCE", 2)
    log.append([_from("192.0.2.1", append_to(subject)) for subject in "abcd"])
    # The log itself is as old as before.
    owner.execute("UPDATE live.addresses SET recorded_at = now() - interval '31 days' WHERE command_id < 'd'")
    assert set(addresses_of(log, whole_log(log), 30)) == {4}
    assert set(addresses_of(log, whole_log(log), 32)) == {1, 2, 3, 4}
    assert [delete_old_addresses(log, 30) for _ in range(3)] == [2, 1, 0]
    assert addresses_of(log, whole_log(log), 32) == {4: "192.0.2.1"}
    # Addresses that a setting has kept are deleted once it is off.
    assert addresses_of(log, whole_log(log), 0) == {}
    assert delete_old_addresses(log, 0) == 1


def test_deletion__more_than_one_batch__deletes_all_old_ones(
    log: EventLog, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("store.addresses", "api.address_deletion"):
        monkeypatch.setattr(f"{module}.DELETED_AT_ONCE", 2)
    log.append([_from("192.0.2.1", append_to(subject)) for subject in "abcde"])
    owner.execute("UPDATE live.addresses SET recorded_at = now() - interval '31 days'")
    log.append([_from("192.0.2.2", append_to("f"))])
    asyncio.run(delete_addresses(log, 30))
    assert addresses_of(log, whole_log(log), 40) == {6: "192.0.2.2"}
