"""Schedulers of two partitions on one log, beside each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from domain.directory.events import (
    LabControllerHeard,
    LabControllerPartitionChanged,
    LabControllerSilent,
)
from domain.events import Recorded
from domain.partition_numbers import DEFAULT_PARTITION, EVERYBODY, PartitionIdentity, read_by
from domain.recipe.events import RecipeScheduled
from domain.scheduling.world.partition import Partition
from domain.system.events import SystemIdle
from domain.system_admin.registration import register
from postgres.errors import DatabaseAway
from replay.verify.recomputation import Recomputation
from store.contacts import Contacts
from store.event_log import EventLog
from store.lease import scheduler_lease
from store.tailer import Tailer
from tests.domain.scheduling.contents import contents
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.harness.sessions import owner_session
from tests.workers.lab import SYSTEM, add_lab, equip, put, submit_jobs
from workers import scheduler as scheduling
from workers.consistency import ConsistencyLoop
from workers.scheduler import Scheduler, lease_for

OTHER = PartitionIdentity(2, "other")
BOTH = (DEFAULT_PARTITION, OTHER)
SYSTEMS = 5


@contextmanager
def scheduler_of(
    database: TestDatabase, log: EventLog, identity: PartitionIdentity, contacts: Contacts | None = None
) -> Iterator[Scheduler]:
    url = database.service_url
    tailer = Tailer(url, partition=identity.number)
    lease = lease_for(url, "test", partition=identity)
    loop = None if contacts is None else ConsistencyLoop(contacts, every_seconds=0.0)
    yield (made := Scheduler(log, tailer, lease, lambda: datetime.now(UTC), Partition(identity), loop))
    made.run(lambda: True)


@pytest.fixture
def two_labs(log: EventLog) -> EventLog:
    """Return a log with the lab `lab` of the default partition, and `west`, which was moved to the other."""
    equip(log, SYSTEMS)
    systems = add_lab(log, "west", SYSTEMS)
    # A lab leaves only when no system is about to be granted.
    put(log, [(f"system/{fqdn}", SystemIdle()) for fqdn in systems], after=2)
    moved = LabControllerPartitionChanged(OTHER.number, systems)
    put(log, [("lab-controller/west", moved)], after=1, partition=EVERYBODY)
    return log


def test_schedulers__commit_in_turn__each_confirms_its_commits_and_reads_nothing_of_the_other(
    database: TestDatabase, two_labs: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduling, "DECISIONS_PER_COMMIT", 1)
    for identity in BOTH:
        submit_jobs(two_labs, SYSTEMS + 2, partition=identity.number)
    with (
        scheduler_of(database, two_labs, DEFAULT_PARTITION) as first,
        scheduler_of(database, two_labs, OTHER) as second,
    ):
        for _ in range(4 * SYSTEMS):
            first.step(timeout_seconds=0.0)
            second.step(timeout_seconds=0.0)

        for scheduler in (first, second):
            assert scheduler.counters.commits >= SYSTEMS
            assert (scheduler.counters.reread, scheduler.counters.foreign) == (0, 0)
            fresh = fold(two_labs, scheduler.partition.identity)
            assert contents(scheduler.partition)["sets"] == contents(fresh)["sets"]
            assert scheduler.partition.systems == fresh.systems
    assert grants(two_labs) == {("lab", DEFAULT_PARTITION.number): SYSTEMS, ("west", OTHER.number): SYSTEMS}
    bases = {row.stamp.basis.partition for row in whole_log(two_labs) if row.stamp.basis}
    assert bases == {identity.number for identity in BOTH}


def test_scheduler__database_is_away_while_a_lab_arrives__has_the_lab_and_what_follows(
    database: TestDatabase, two_labs: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scheduler without the lab would decide for as long as it lives as if it were not there."""
    submit_jobs(two_labs, SYSTEMS, partition=OTHER.number)
    read, outage = two_labs.history, iter(range(2))

    def history(subjects: Sequence[str], before: int) -> list[Recorded]:
        if next(outage, None) is not None:
            raise DatabaseAway("planted: the connection was lost")
        return read(subjects, before)

    monkeypatch.setattr(two_labs, "history", history)
    with scheduler_of(database, two_labs, OTHER) as scheduler:
        for _ in range(3):
            scheduler.step(timeout_seconds=0.0)
    assert next(outage, None) is None
    assert grants(two_labs) == {("west", OTHER.number): SYSTEMS}


def submit_one(log: EventLog) -> None:
    submit_jobs(log, 1)


def register_one(log: EventLog) -> None:
    put(log, register({**SYSTEM, "fqdn": "new.lab"}))


@pytest.mark.parametrize(
    ("write", "reread"),
    [
        # Nothing that was decided could depend on a new set.
        (submit_one, 0),
        # The triggers of the decisions may depend on a new system.
        (register_one, 1),
    ],
)
def test_scheduler__events_of_its_partition_between_basis_and_commit__reads_its_commit_unless_sets_are_new(
    write: Callable[[EventLog], None],
    reread: int,
    database: TestDatabase,
    two_labs: EventLog,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    submit_jobs(two_labs, 1)
    with scheduler_of(database, two_labs, DEFAULT_PARTITION) as scheduler:
        decide = scheduling.decide

        def decide_while_others_write(*asked):  # type: ignore[no-untyped-def]
            decisions = decide(*asked)
            if decisions and len(whole_log(two_labs)) == before:
                write(two_labs)
            return decisions

        before = len(whole_log(two_labs))
        monkeypatch.setattr(scheduling, "decide", decide_while_others_write)
        for _ in range(6):
            scheduler.step(timeout_seconds=0.0)
        assert scheduler.counters.reread == reread
        fresh = fold(two_labs, DEFAULT_PARTITION)
        assert contents(scheduler.partition)["sets"] == contents(fresh)["sets"]
        assert scheduler.partition.systems == fresh.systems
        assert scheduler.partition.triggers.waiting() == fresh.triggers.waiting() == []
        assert scheduler.partition.position == two_labs.end()
    recomputation = Recomputation()
    assert list(recomputation.take_all(whole_log(two_labs))) == []
    assert recomputation.counts.commits > 0


def test_contacts__labs_of_both_partitions_are_silent_and_heard_again__each_is_decided_by_its_scheduler(
    database: TestDatabase, two_labs: EventLog
) -> None:
    contacts = Contacts(two_labs)

    def hear(ago: str) -> None:
        for lab in ("lab", "west"):
            contacts.store(lab)
        with owner_session(database.owner_url) as owner:
            owner.execute("UPDATE live.contacts SET last_heard_at = now() - %s::interval", (ago,))

    with (
        scheduler_of(database, two_labs, DEFAULT_PARTITION, contacts) as first,
        scheduler_of(database, two_labs, OTHER, contacts) as second,
    ):
        for ago in ("400 s", "0 s"):
            hear(ago)
            for scheduler in (first, second, first, second):
                scheduler.step(timeout_seconds=0.0)
    changes = [
        (row.subject, type(row.event), row.partition)
        for row in whole_log(two_labs)
        if isinstance(row.event, LabControllerSilent | LabControllerHeard)
    ]
    assert changes == [
        (f"lab-controller/{lab}", change, identity.number)
        for change in (LabControllerSilent, LabControllerHeard)
        for lab, identity in (("lab", DEFAULT_PARTITION), ("west", OTHER))
    ]


def test_leases__of_partitions__have_names_of_their_own() -> None:
    again = PartitionIdentity(3, OTHER.name)
    names = [scheduler_lease(identity) for identity in (*BOTH, again)]
    assert names == ["scheduler/default", "scheduler/other/2", "scheduler/other/3"]


def fold(log: EventLog, identity: PartitionIdentity) -> Partition:
    """Return the partition of a scheduler that has just started."""
    partition = Partition(identity)
    for recorded in whole_log(log):
        if recorded.partition in read_by(identity.number):
            partition.apply(recorded, log.history)
    return partition


def grants(log: EventLog) -> Counter[tuple[str, int]]:
    """Return the number of grants by lab and partition."""
    return Counter(
        (row.event.lab_controller, row.partition)
        for row in whole_log(log)
        if isinstance(row.event, RecipeScheduled)
    )
