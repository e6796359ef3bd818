"""The classes of all locks, in the order in which they may be nested: the outermost first.

While a lock is held, only locks of later classes may be taken. Code takes each lock from its class; a
statement that takes one in the database is declared as a place of its class. `tests/locks` compares the
declarations with the code, and every test run records the nestings that really occur: docs/lock-order.md.
"""

from __future__ import annotations

import asyncio
import fcntl
import threading
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from typing import IO, Any, TypeVar

C = TypeVar("C", bound=Collection[Any])


class LockKind(Enum):
    """The holder of a lock."""

    FILE = "process"
    TASK = "task"
    THREAD = "thread"
    SESSION = "session"
    TRANSACTION = "transaction"


@dataclass(frozen=True)
class LockSpec:
    """A row of the declaration.

    A lock of the database is recognised in pg_locks by its table and a mode other than that of a read
    (`read.*`: any further table of that schema), or by a condition on an advisory lock. Each of `places` is
    the function, the named query of a file, or the file that takes it, with the words that do so.
    """

    kind: LockKind
    guards: str
    tables: tuple[str, ...] = ()
    advisory: str = ""
    places: tuple[tuple[str, str], ...] = ()


class LockClass(Enum):
    """The locks of one purpose. Locks of one class are never nested."""

    SERVICE_FOLDER = LockSpec(LockKind.FILE, "The data folder of one `labledger up`.")
    SERVER_FOLDER = LockSpec(LockKind.FILE, "The start of the embedded server.")
    SERVING_ROWS = LockSpec(LockKind.FILE, "The rows of the numbers that serving processes share.")

    # A process holds these two while it does everything else.
    LEASE = LockSpec(
        LockKind.SESSION,
        "The right of one scheduler to decide.",
        advisory="objsubid = 2 AND classid = 19533",
        places=(("live.take_lease()", "pg_try_advisory_lock"),),
    )
    REBUILD = LockSpec(
        LockKind.SESSION,
        "One rebuild at a time.",
        advisory="objsubid = 2 AND classid = 19532 AND objid = 21058",
        places=(("projections/rebuild/rebuild.sql:one_at_a_time", "pg_try_advisory_lock"),),
    )

    MATCHING = LockSpec(LockKind.TASK, "One search for matching systems of each caller.")
    PARSING = LockSpec(LockKind.TASK, "One long body of each caller that is parsed.")
    LAB_ITEMS = LockSpec(LockKind.TASK, "The concurrent changes of one batch of a lab controller.")
    # A retry may need the directory up to the end of the log, so it is outside of the locks of the directory.
    RETRIES = LockSpec(LockKind.TASK, "The one change of each caller that is retried after a conflict.")
    CALLER_QUERY = LockSpec(LockKind.TASK, "One long query of the directory of each caller.")
    RUNNING_QUERY = LockSpec(LockKind.TASK, "The long query that is next, or runs.")
    DIRECTORY = LockSpec(
        LockKind.TASK, "The directory: one long query, or one page of the log that changes it."
    )
    WATCHER_READS = LockSpec(LockKind.TASK, "The watchers that read missed events from the log.")
    DOUBTFUL_PASSWORDS = LockSpec(LockKind.TASK, "Checks of passwords that are probably guesses.")
    PASSWORDS = LockSpec(LockKind.TASK, "Hashes of passwords that are being computed.")

    AGENT_REPORTS = LockSpec(LockKind.THREAD, "The output of the agents of `labledger lab simulate`.")
    REBUILD_STEPS = LockSpec(LockKind.THREAD, "The steps that were sent to the halves of a rebuild.")
    REBUILD_TASKS = LockSpec(LockKind.THREAD, "The remaining tasks of the sessions of a rebuild.")
    AGGREGATES = LockSpec(LockKind.THREAD, "The cache of the states of aggregates.")
    MEMORY_LOG = LockSpec(LockKind.THREAD, "The log in memory of tests: a statement is a transaction.")

    MIGRATION = LockSpec(
        LockKind.TRANSACTION,
        "The schema, which a process changes or needs unchanged.",
        advisory="objsubid = 1 AND classid = 0 AND objid = 1280068937",
        places=(
            ("store/migrate.py", "pg_advisory_xact_lock"),
            ("projections/rebuild/rebuild.sql:hold_migrations", "pg_advisory_xact_lock"),
        ),
    )
    # PostgreSQL locks the tables of a statement before it begins, so an append has these while it waits for
    # its turn. Their rows are locked only in its turn, so rows need no order.
    AUTHORS = LockSpec(
        LockKind.TRANSACTION,
        "The bytes of each author, the unfinished recipes of each owner, and power settings.",
        tables=("live.written", "live.unfinished", "secret.power_settings"),
        places=(
            ("store/log.sql:written_by_one", "DO UPDATE"),
            ("store/log.sql:written_by_many", "DO UPDATE"),
            ("store/log.sql:append_recipes", "DO UPDATE"),
            ("store/log.sql:append_power", "DO UPDATE"),
        ),
    )
    LOG_WRITER = LockSpec(
        LockKind.TRANSACTION,
        "The end of the log: one append at a time.",
        tables=("log.writer",),
        places=(
            ("log.append()", "LOCK TABLE log.writer"),
            ("log.append_unless_joined()", "LOCK TABLE log.writer"),
            ("log.append_hangs()", "LOCK TABLE log.writer"),
            ("store/migrations/2026-11-23-quotas.sql", "LOCK TABLE log.writer"),
        ),
    )
    LEASE_EPOCHS = LockSpec(
        LockKind.TRANSACTION,
        "The rows of `log.leases`, whose epochs fence appends.",
        tables=("log.leases",),
        places=(("log.append()", "FOR SHARE"), ("log.take_lease()", "DO UPDATE")),
    )
    LEASE_RENEWALS = LockSpec(
        LockKind.TRANSACTION,
        "The rows of `live.leases`: the holders of leases, and their deadlines.",
        tables=("live.leases",),
        places=(
            ("live.take_lease()", "DO UPDATE"),
            ("live.end_hung_holder()", "FOR UPDATE SKIP LOCKED"),
            ("store/log.sql:renew_lease", "UPDATE live.leases"),
        ),
    )
    COUNTER_WRITERS = LockSpec(
        LockKind.TRANSACTION,
        "The last batch of each process that counts.",
        tables=("live.counter_writers",),
        places=(
            ("store/log.sql:add_to_counters", "FOR UPDATE SKIP LOCKED"),
            ("store/log.sql:add_to_counters", "DO UPDATE"),
        ),
    )
    COUNTERS = LockSpec(
        LockKind.TRANSACTION,
        "The counters of all processes, in the order of their names.",
        tables=("live.counters",),
        places=(("store/log.sql:add_to_counters", "DO UPDATE"),),
    )
    SLOW_METRICS = LockSpec(
        LockKind.TRANSACTION,
        "The turn to compute metrics that take longer than a scrape may, and their last values.",
        tables=("live.slow_metrics",),
        places=(
            ("store/log.sql:take_turn_of_slow_metrics", "UPDATE live.slow_metrics"),
            ("store/log.sql:save_judged_position", "UPDATE live.slow_metrics"),
            ("store/log.sql:save_counts_of_reasons", "UPDATE live.slow_metrics"),
        ),
    )
    LDAP_SYNC = LockSpec(
        LockKind.TRANSACTION,
        "The lease to sync with LDAP, and the result of the last sync.",
        tables=("live.ldap_sync",),
        places=(
            ("store/ldap_sync.sql:acquire_ldap_sync", "UPDATE live.ldap_sync"),
            ("store/ldap_sync.sql:release_ldap_sync", "UPDATE live.ldap_sync"),
        ),
    )
    NOTIFIER = LockSpec(
        LockKind.TRANSACTION,
        "The position of the notifier, and which process has its lease.",
        tables=("live.notifier",),
        places=(
            ("store/notifications.sql:take_notifier", "UPDATE live.notifier"),
            ("store/notifications.sql:begin_notifier", "UPDATE live.notifier"),
            ("store/notifications.sql:release_notifier", "UPDATE live.notifier"),
            ("store/notifications.sql:write_notifications", "UPDATE live.notifier"),
        ),
    )
    NOTIFICATIONS = LockSpec(
        LockKind.TRANSACTION,
        "The messages of the notifier.",
        tables=("live.notifications",),
        places=(
            ("store/notifications.sql:begin_notifier", "UPDATE live.notifications"),
            ("store/notifications.sql:finish_notifications", "UPDATE live.notifications"),
            ("store/notifications.sql:pause_lane", "UPDATE live.notifications"),
            ("store/notifications.sql:give_up_old_notifications", "UPDATE live.notifications"),
        ),
    )
    CONTACTS = LockSpec(
        LockKind.TRANSACTION,
        "The last contact of each lab controller.",
        tables=("live.contacts",),
        places=(("store/log.sql:heard", "DO UPDATE"),),
    )
    REGISTRATIONS = LockSpec(
        LockKind.TRANSACTION,
        "The present registration of each lab controller: parts are noted one after another.",
        tables=(
            "live.registrations",
            "live.replaced_registrations",
            "live.registered_systems",
            "live.registered_running",
        ),
        places=(
            ("live.note_registration()", "DO UPDATE"),
            ("live.note_registration()", "UPDATE registrations"),
        ),
    )
    READS = LockSpec(
        LockKind.TRANSACTION,
        "The end of the record of reads: one record at a time.",
        advisory="objsubid = 1 AND objid = (hashtext('log.reads')::bigint & 4294967295)::oid",
        places=(("store/reads.sql:record", "pg_advisory_xact_lock"),),
    )
    READ_POSITION = LockSpec(
        LockKind.TRANSACTION,
        "The position of the read models: moved by one projector, or held by the swap of a rebuild.",
        tables=("read.progress",),
        places=(
            ("projections/folding.sql:begin", "UPDATE progress"),
            ("projections/folding.sql:move", "UPDATE progress"),
            ("projections/rebuild/rebuild.py", "LOCK TABLE read.progress"),
            ("projections/rebuild/rebuild.sql:stand_at", "UPDATE read_fresh.progress"),
            ("store/migrations/2026-12-03-open-counts.sql", "LOCK TABLE read.progress"),
            ("store/migrations/2026-12-27-usage-hours.sql", "LOCK TABLE read.progress"),
            ("store/migrations/2026-12-31-actors-of-events.sql", "LOCK TABLE read.progress"),
            ("store/migrations/2027-01-02-job-terms.sql", "LOCK TABLE read.progress"),
            ("store/migrations/2027-01-03-persons-of-systems.sql", "LOCK TABLE read.progress"),
            ("store/migrations/2027-01-03-unavailable-systems.sql", "LOCK TABLE read.progress"),
            ("store/migrations/2027-01-13-log-deletions.sql", "LOCK TABLE read.progress"),
            ("store/migrations/2027-01-14-counts-of-unavailable-systems.sql", "LOCK TABLE read.progress"),
        ),
    )
    READ_ROWS = LockSpec(
        LockKind.TRANSACTION,
        "The rows of the read models.",
        tables=("read.*",),
        places=(
            ("projections/intervals.py", "UPDATE {}"),
            ("projections/counts.py", "DO UPDATE"),
            ("projections/folding.sql:add_job_terms", "DO UPDATE"),
        ),
    )

    def mutex(self) -> threading.Lock:
        return threading.Lock()

    def condition(self) -> threading.Condition:
        return threading.Condition()

    def task_lock(self) -> asyncio.Lock:
        return asyncio.Lock()

    def task_semaphore(self, value: int) -> asyncio.Semaphore:
        return asyncio.Semaphore(value)

    def lock_file(self, file: IO[Any], *, wait: bool) -> None:
        """Lock a file until it is closed. Raises BlockingIOError if another process has it, unless `wait`."""
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))

    def shared(self, collection: C) -> C:
        """Return the new collection, declared as guarded by a lock of this class.

        No code iterates over it under the lock: other threads would wait the longer, the larger it is.
        """
        return collection
